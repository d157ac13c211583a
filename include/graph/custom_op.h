/* Custom operators: classes of the program whose functions run nodes of a graph. */
#ifndef JUMAR_GRAPH_CUSTOM_OP_H_
#define JUMAR_GRAPH_CUSTOM_OP_H_

#include <functional>
#include <memory>

#include "../exe_graph/runtime/eager_op_execution_context.h"
#include "../exe_graph/runtime/infer_datatype_context.h"
#include "../exe_graph/runtime/infer_shape_context.h"
#include "../ge/ge_api_error_codes.h"
#include "ascend_string.h"
#include "ge_error_codes.h"

namespace ge {

class BaseCustomOp {
 public:
  virtual ~BaseCustomOp() = default;
};

/* Runs a node. The function is called on the thread that runs the graph. It may call any function of the runtime, and queues its
 * work on the stream of the context. Each call has its own object. */
class EagerExecuteOp : virtual public BaseCustomOp {
 public:
  ~EagerExecuteOp() override = default;
  virtual graphStatus Execute(gert::EagerOpExecutionContext *ctx) = 0;
};

/* Finds the shapes and types of a node's outputs while a graph is built. */
class ShapeInferOp : virtual public BaseCustomOp {
 public:
  ~ShapeInferOp() override = default;
  virtual graphStatus InferShape(gert::InferShapeContext *ctx) = 0;
  virtual graphStatus InferDataType(gert::InferDataTypeContext *ctx) = 0;
};

typedef std::function<std::unique_ptr<BaseCustomOp>()> BaseOpCreator;
typedef BaseCustomOp *(*CustomOpCreateFunc)();

/* Registers the class of an operator type for as long as the object lives. The last registration of a type counts. */
class CustomOpCreatorRegister {
 public:
  CustomOpCreatorRegister(const AscendString &operator_type, const BaseOpCreator &op_creator);
  CustomOpCreatorRegister(const AscendString &operator_type, const CustomOpCreateFunc op_creator);
  ~CustomOpCreatorRegister() = default;

 private:
  std::shared_ptr<const BaseOpCreator> creator_;
};

}  // namespace ge

#define JUMAR_CUSTOM_OP_JOINED_(a, b) a##b
#define JUMAR_CUSTOM_OP_(number, T)                                                                 \
  static ge::BaseCustomOp *JUMAR_CUSTOM_OP_JOINED_(jumar_create_custom_op_, number)() { return new T(); } \
  static const ge::CustomOpCreatorRegister JUMAR_CUSTOM_OP_JOINED_(jumar_custom_op_, number)(       \
      #T, JUMAR_CUSTOM_OP_JOINED_(jumar_create_custom_op_, number))
#define JUMAR_CUSTOM_OP_NUMBERED_(number, T) JUMAR_CUSTOM_OP_(number, T)
/* Registers a class as the operator of its name. */
#define REG_AUTO_MAPPING_OP(custom_op_class) JUMAR_CUSTOM_OP_NUMBERED_(__COUNTER__, custom_op_class)

#endif
