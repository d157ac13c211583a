/* What a function that infers shapes sees of a call, and where it leaves the shapes of the outputs. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H_
#define JUMAR_EXE_GRAPH_RUNTIME_INFER_SHAPE_CONTEXT_H_

#include "extended_kernel_context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const Shape *GetInputShape(size_t index) const { return ShapeIn(Find(call_.inputs, index)); }
  const Shape *GetOptionalInputShape(size_t ir_index) const { return ShapeIn(Input(ir_index)); }
  const Shape *GetRequiredInputShape(size_t ir_index) const { return ShapeIn(Input(ir_index)); }
  const Shape *GetDynamicInputShape(size_t ir_index, size_t relative_index) const {
    return ShapeIn(Input(ir_index, relative_index));
  }
  /* The tensor has contents, in host memory, if the operator's shapes depend on the input's values and these are known. */
  const Tensor *GetInputTensor(size_t index) const { return TensorIn(Find(call_.inputs, index)); }
  const Tensor *GetOptionalInputTensor(size_t ir_index) const { return TensorIn(Input(ir_index)); }
  const Tensor *GetRequiredInputTensor(size_t ir_index) const { return TensorIn(Input(ir_index)); }
  const Tensor *GetDynamicInputTensor(size_t ir_index, size_t relative_index) const {
    return TensorIn(Input(ir_index, relative_index));
  }
  Shape *GetOutputShape(size_t index) {
    TensorOfCall *const found = Find(call_.outputs, index);
    return found == nullptr ? nullptr : &found->tensor.MutableOriginShape();
  }

 private:
  static const Shape *ShapeIn(const TensorOfCall *found) {
    return found == nullptr ? nullptr : &found->tensor.GetOriginShape();
  }
};

}  // namespace gert

#endif
