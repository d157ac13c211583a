// What the host functions of a custom operator see of a call: its tensors, attributes and the chip. Tiling functions return their results here.
#ifndef JUMAR_EXE_GRAPH_RUNTIME_TILING_CONTEXT_H
#define JUMAR_EXE_GRAPH_RUNTIME_TILING_CONTEXT_H

#include <cstring>
#include <vector>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/ge_error_codes.h"
#include "tiling/platform/platform_ascendc.h"

namespace gert {

// The bytes that the kernel receives as its tiling data.
class TilingData {
public:
    explicit TilingData(size_t capacity) : bytes_(capacity) {}
    void* GetData() { return bytes_.data(); }
    const void* GetData() const { return bytes_.data(); }
    size_t GetCapacity() const { return bytes_.size(); }
    size_t GetDataSize() const { return size_; }
    void SetDataSize(size_t size) { size_ = size < bytes_.size() ? size : bytes_.size(); }
    template <typename TypeT> ge::graphStatus Append(const TypeT& value)
    {
        if (size_ + sizeof value > bytes_.size()) return ge::GRAPH_FAILED;
        std::memcpy(bytes_.data() + size_, &value, sizeof value);
        size_ += sizeof value;
        return ge::GRAPH_SUCCESS;
    }

private:
    std::vector<uint8_t> bytes_;
    size_t size_ = 0;
};

class TilingContext : public ExtendedKernelContext {
public:
    TilingContext(CallParameters& call, const fe::PlatFormInfos& platform, size_t capacity)
        : ExtendedKernelContext(call), platform_(platform), tiling_(capacity)
    {
    }

    const StorageShape* GetInputShape(size_t index) const { return shape(Find(call_.inputs, index)); }
    const StorageShape* GetOutputShape(size_t index) const { return shape(Find(call_.outputs, index)); }
    const StorageShape* GetOptionalInputShape(size_t parameter) const { return shape(Input(parameter)); }
    const StorageShape* GetRequiredInputShape(size_t parameter) const { return shape(Input(parameter)); }
    const StorageShape* GetDynamicInputShape(size_t parameter, size_t at) const { return shape(Input(parameter, at)); }
    const StorageShape* GetDynamicOutputShape(size_t parameter, size_t at) const { return shape(Output(parameter, at)); }
    const Tensor* GetInputTensor(size_t index) const { return TensorIn(Find(call_.inputs, index)); }
    const Tensor* GetOptionalInputTensor(size_t parameter) const { return TensorIn(Input(parameter)); }
    const Tensor* GetRequiredInputTensor(size_t parameter) const { return TensorIn(Input(parameter)); }
    const Tensor* GetDynamicInputTensor(size_t parameter, size_t at) const { return TensorIn(Input(parameter, at)); }

    ge::graphStatus SetBlockDim(uint32_t blocks)
    {
        blocks_ = blocks;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const { return blocks_; }
    ge::graphStatus SetTilingKey(uint64_t key)
    {
        key_ = key;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const { return key_; }
    // The blocks of a launch whose kernel waits between blocks run together, whatever the mode is.
    ge::graphStatus SetScheduleMode(uint32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
    int32_t GetDeterministic() const { return 1; }

    TilingData* GetRawTilingData() { return &tiling_; }
    const TilingData* GetRawTilingData() const { return &tiling_; }
    // Returns the tiling data as a structure; null if it does not fit.
    template <typename TypeT> TypeT* GetTilingData()
    {
        if (sizeof(TypeT) > tiling_.GetCapacity()) return nullptr;
        tiling_.SetDataSize(sizeof(TypeT));
        return new (tiling_.GetData()) TypeT();
    }
    size_t* GetWorkspaceSizes(size_t count)
    {
        workspaces_.resize(count);
        return workspaces_.data();
    }
    size_t GetWorkspaceNum() const { return workspaces_.size(); }
    const fe::PlatFormInfos* GetPlatformInfo() const { return &platform_; }
    fe::PlatFormInfos* GetPlatformInfo() { return &platform_; }
    // Custom operators have no information of a compilation.
    template <typename TypeT> const TypeT* GetCompileInfo() const { return nullptr; }

    const std::vector<size_t>& workspaces() const { return workspaces_; }

private:
    static const StorageShape* shape(const TensorOfCall* found) { return found ? &found->tensor.GetShape() : nullptr; }

    fe::PlatFormInfos platform_;
    TilingData tiling_;
    std::vector<size_t> workspaces_;
    uint32_t blocks_ = 1;
    uint64_t key_ = 0;
};

class TilingParseContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
};

} // namespace gert

#endif
