/* What the Execute function of a custom operator sees of its call. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_EAGER_OP_EXECUTION_CONTEXT_H_
#define JUMAR_EXE_GRAPH_RUNTIME_EAGER_OP_EXECUTION_CONTEXT_H_

#include "extended_kernel_context.h"

namespace ge {
namespace jumar {
struct EagerRun;
}  // namespace jumar
}  // namespace ge

namespace gert {

typedef void *rtStream;

class EagerOpExecutionContext : public ExtendedKernelContext {
 public:
  EagerOpExecutionContext(CallParameters &call, ge::jumar::EagerRun &run) : ExtendedKernelContext(call), run_(run) {}
  /* Returns the stream that the graph runs on: the inputs are complete for what is queued there. */
  rtStream GetStream() const;
  /* By the number of the tensor. Absent optional inputs are not counted. */
  const Tensor *GetInputTensor(size_t index) const { return TensorIn(Find(call_.inputs, index)); }
  /* By the number of the parameter in the definition. Null where the input is absent. */
  const Tensor *GetRequiredInputTensor(size_t ir_index) const { return TensorIn(Input(ir_index)); }
  const Tensor *GetOptionalInputTensor(size_t ir_index) const { return TensorIn(Input(ir_index)); }
  const Tensor *GetDynamicInputTensor(size_t ir_index, size_t relative_index) const {
    return TensorIn(Input(ir_index, relative_index));
  }
  /* Allocates device memory for an output. The graph frees it. Returns null where the output does not exist, the shape has no size
   * in bytes, or there is no memory. */
  Tensor *MallocOutputTensor(size_t index, const StorageShape &shape, const StorageFormat &format, ge::DataType dtype);
  /* The same, with the size in bytes. */
  Tensor *MallocOutputTensor(size_t index, const StorageShape &shape, const StorageFormat &format, ge::DataType dtype,
                             size_t tensor_size);
  /* Lets an output share the memory of an input, whose shape and type it takes. */
  Tensor *MakeOutputRefInput(size_t output_index, size_t input_index) const;
  /* Allocates device memory that the graph frees when what was queued by Execute has ended. */
  void *MallocWorkSpace(size_t size);
  /* Before it has memory, an output has the shape and the type that were inferred. */
  const Tensor *GetOutputTensor(size_t index) const { return TensorIn(Find(call_.outputs, index)); }

 private:
  ge::jumar::EagerRun &run_;
};

}  // namespace gert

#endif
