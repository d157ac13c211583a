/* What a function that infers data types sees of a call, and where it leaves the types of the outputs. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H_
#define JUMAR_EXE_GRAPH_RUNTIME_INFER_DATATYPE_CONTEXT_H_

#include "extended_kernel_context.h"

namespace gert {

class InferDataTypeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  /* DT_UNDEFINED where there is no such input. */
  ge::DataType GetInputDataType(size_t index) const { return TypeOf(GetInputDesc(index)); }
  ge::DataType GetOptionalInputDataType(size_t ir_index) const { return TypeOf(GetOptionalInputDesc(ir_index)); }
  ge::DataType GetRequiredInputDataType(size_t ir_index) const { return TypeOf(GetRequiredInputDesc(ir_index)); }
  ge::DataType GetDynamicInputDataType(size_t ir_index, size_t relative_index) const {
    return TypeOf(GetDynamicInputDesc(ir_index, relative_index));
  }
  ge::DataType GetOutputDataType(size_t index) const { return TypeOf(GetOutputDesc(index)); }
  ge::graphStatus SetOutputDataType(size_t index, ge::DataType type) {
    TensorOfCall *const found = Find(call_.outputs, index);
    if (found == nullptr) {
      return ge::GRAPH_FAILED;
    }
    found->desc = CompileTimeTensorDesc(type, found->desc.GetFormat());
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType TypeOf(const CompileTimeTensorDesc *found) {
    return found == nullptr ? ge::DT_UNDEFINED : found->GetDataType();
  }
};

}  // namespace gert

#endif
