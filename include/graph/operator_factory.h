/* Operators by the names of their types. */
#ifndef INC_EXTERNAL_GRAPH_OPERATOR_FACTORY_H_
#define INC_EXTERNAL_GRAPH_OPERATOR_FACTORY_H_

#include <functional>
#include <string>
#include <vector>

#include "operator.h"

namespace ge {

typedef std::function<Operator(const std::string &)> OpCreator;
typedef std::function<Operator(const AscendString &)> OpCreatorV2;

class OperatorFactory {
 public:
  /* Creates an operator with the inputs and outputs of its prototype, or an empty one if the type is unknown. */
  static Operator CreateOperator(const char_t *const name, const char_t *const type);
  static Operator CreateOperator(const std::string &name, const std::string &type);
  static bool IsExistOp(const char_t *const type);
  static bool IsExistOp(const std::string &type);
};

/* Registers a function that creates operators of a type. The library's own types need none. */
class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char_t *const type, const OpCreatorV2 &creator);
  OperatorCreatorRegister(const std::string &type, const OpCreator &creator);
  ~OperatorCreatorRegister() = default;
};

typedef std::function<graphStatus(Operator &)> InferShapeFunc;

/* Registers a function that infers the descriptions of the outputs of operators of a type that the library does not have.
 * Operator::InferShapeAndType calls it. */
class InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const char_t *const type, const InferShapeFunc &function);
  InferShapeFuncRegister(const std::string &type, const InferShapeFunc &function);
  ~InferShapeFuncRegister() = default;
};

}  // namespace ge

#endif
