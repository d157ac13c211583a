/* Operators by the names of their types. */
#ifndef JUMAR_GRAPH_OPERATOR_FACTORY_H_
#define JUMAR_GRAPH_OPERATOR_FACTORY_H_

#include <functional>
#include <string>

#include "operator.h"

namespace ge {

typedef std::function<Operator(const std::string &)> OpCreator;
typedef std::function<Operator(const AscendString &)> OpCreatorV2;

class OperatorFactory {
 public:
  /* Makes an operator with the inputs and outputs of its prototype; an empty one where there is no such type. */
  static Operator CreateOperator(const char_t *const name, const char_t *const type) {
    const uint64_t id = jumar::Number(jumar::CallId::kOpCreate, jumar::Message().Text(name).Text(type));
    return id == 0 ? Operator() : Operator::JumarOf(id);
  }
  static Operator CreateOperator(const std::string &name, const std::string &type) {
    return CreateOperator(name.c_str(), type.c_str());
  }
  static bool IsExistOp(const char_t *const type) {
    return jumar::Number(jumar::CallId::kOpExists, jumar::Message().Text(type)) != 0;
  }
  static bool IsExistOp(const std::string &type) { return IsExistOp(type.c_str()); }
};

/* The library knows its operators without it. */
class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char_t *const, const OpCreatorV2 &) {}
  OperatorCreatorRegister(const std::string &, const OpCreator &) {}
  ~OperatorCreatorRegister() = default;
};

}  // namespace ge

#endif
