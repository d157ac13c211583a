/* What functions of an operator see of a call: its tensors and attributes. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H_
#define JUMAR_EXE_GRAPH_RUNTIME_EXTENDED_KERNEL_CONTEXT_H_

#include <vector>

#include "runtime_attrs.h"
#include "tensor.h"

namespace gert {

class CompileTimeTensorDesc {
 public:
  CompileTimeTensorDesc() = default;
  CompileTimeTensorDesc(ge::DataType type, const StorageFormat &format) : type_(type), format_(format) {}
  ge::DataType GetDataType() const { return type_; }
  const StorageFormat &GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }

 private:
  ge::DataType type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
};

/* A tensor of a call. An optional one may be absent. */
struct TensorOfCall {
  Tensor tensor;
  CompileTimeTensorDesc desc;
  bool is_present = false;
};

/* The tensors of a parameter among all inputs or outputs of a call: one, or as many as the list of a dynamic one has. */
class AnchorInstanceInfo {
 public:
  AnchorInstanceInfo(size_t start, size_t count) : start_(start), count_(count) {}
  size_t GetInstanceStart() const { return start_; }
  size_t GetInstanceNum() const { return count_; }
  void add() { ++count_; }

 private:
  size_t start_;
  size_t count_;
};

/* The parameters of a call. */
struct CallParameters {
  AttributeText name;
  AttributeText type;
  std::vector<TensorOfCall> inputs;
  std::vector<TensorOfCall> outputs;
  /* By the parameters of the definition. */
  std::vector<AnchorInstanceInfo> inputs_of;
  std::vector<AnchorInstanceInfo> outputs_of;
  RuntimeAttrs attributes;
};

class ExtendedKernelContext {
 public:
  explicit ExtendedKernelContext(CallParameters &call) : call_(call) {}
  const char *GetNodeName() const { return call_.name.c_str(); }
  const char *GetNodeType() const { return call_.type.c_str(); }
  const RuntimeAttrs *GetAttrs() const { return &call_.attributes; }
  size_t GetComputeNodeInputNum() const { return call_.inputs.size(); }
  size_t GetComputeNodeOutputNum() const { return call_.outputs.size(); }
  /* By the number of the tensor. */
  const CompileTimeTensorDesc *GetInputDesc(size_t index) const { return DescOf(Find(call_.inputs, index)); }
  const CompileTimeTensorDesc *GetOutputDesc(size_t index) const { return DescOf(Find(call_.outputs, index)); }
  /* By the number of the parameter in the definition. */
  const CompileTimeTensorDesc *GetOptionalInputDesc(size_t ir_index) const { return DescOf(Input(ir_index)); }
  const CompileTimeTensorDesc *GetRequiredInputDesc(size_t ir_index) const { return DescOf(Input(ir_index)); }
  const CompileTimeTensorDesc *GetDynamicInputDesc(size_t ir_index, size_t relative_index) const {
    return DescOf(Input(ir_index, relative_index));
  }
  const CompileTimeTensorDesc *GetDynamicOutputDesc(size_t ir_index, size_t relative_index) const {
    return DescOf(Output(ir_index, relative_index));
  }
  const AnchorInstanceInfo *GetIrInputInstanceInfo(size_t ir_index) const { return InfoOf(call_.inputs_of, ir_index); }
  const AnchorInstanceInfo *GetIrOutputInstanceInfo(size_t ir_index) const {
    return InfoOf(call_.outputs_of, ir_index);
  }

 protected:
  static TensorOfCall *Find(std::vector<TensorOfCall> &all, size_t index) {
    return index < all.size() && all[index].is_present ? &all[index] : nullptr;
  }
  static const Tensor *TensorIn(const TensorOfCall *found) { return found == nullptr ? nullptr : &found->tensor; }
  TensorOfCall *Input(size_t ir_index, size_t relative_index = 0) const {
    return Member(call_.inputs, GetIrInputInstanceInfo(ir_index), relative_index);
  }
  TensorOfCall *Output(size_t ir_index, size_t relative_index = 0) const {
    return Member(call_.outputs, GetIrOutputInstanceInfo(ir_index), relative_index);
  }

  CallParameters &call_;

 private:
  static const CompileTimeTensorDesc *DescOf(const TensorOfCall *found) {
    return found == nullptr ? nullptr : &found->desc;
  }
  static const AnchorInstanceInfo *InfoOf(const std::vector<AnchorInstanceInfo> &all, size_t ir_index) {
    return ir_index < all.size() ? &all[ir_index] : nullptr;
  }
  static TensorOfCall *Member(std::vector<TensorOfCall> &all, const AnchorInstanceInfo *info, size_t relative_index) {
    return info != nullptr && relative_index < info->GetInstanceNum()
               ? Find(all, info->GetInstanceStart() + relative_index)
               : nullptr;
  }
};

}  // namespace gert

#endif
