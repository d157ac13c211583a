// What the host functions of a custom operator see of a call: its tensors, attributes and the chip. Tiling functions return their results here.
#ifndef JUMAR_EXE_GRAPH_RUNTIME_TILING_CONTEXT_H
#define JUMAR_EXE_GRAPH_RUNTIME_TILING_CONTEXT_H

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "exe_graph/runtime/tensor.h"
#include "graph/ge_error_codes.h"
#include "tiling/platform/platform_ascendc.h"

namespace gert {

class CompileTimeTensorDesc {
public:
    CompileTimeTensorDesc() = default;
    CompileTimeTensorDesc(ge::DataType type, const StorageFormat& format) : type_(type), format_(format) {}
    ge::DataType GetDataType() const { return type_; }
    const StorageFormat& GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }

private:
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

// A list that is the value of an attribute.
class ContinuousVector {
public:
    size_t GetSize() const { return size_; }
    size_t GetCapacity() const { return size_; }
    const void* GetData() const { return data_; }

protected:
    const void* data_ = nullptr;
    size_t size_ = 0;
};
template <typename TypeT> class TypedContinuousVector : public ContinuousVector {
public:
    TypedContinuousVector() = default;
    TypedContinuousVector(const TypeT* data, size_t size)
    {
        data_ = data;
        size_ = size;
    }
    const TypeT* GetData() const { return static_cast<const TypeT*>(data_); }
};

// The value of an attribute. Lists of booleans have a byte for each.
struct AttributeValue {
    int64_t integer = 0;
    float real = 0;
    bool boolean = false;
    std::string text;
    std::vector<int64_t> integers;
    std::vector<float> reals;
    std::vector<uint8_t> booleans;
    TypedContinuousVector<int64_t> integer_list;
    TypedContinuousVector<float> real_list;
    TypedContinuousVector<bool> boolean_list;

    // Lets the lists point at the values, which do not move from here on.
    void make_lists()
    {
        integer_list = {integers.data(), integers.size()};
        real_list = {reals.data(), reals.size()};
        boolean_list = {reinterpret_cast<const bool*>(booleans.data()), booleans.size()};
    }
};

class RuntimeAttrs {
public:
    size_t GetAttrNum() const { return values_.size(); }
    template <typename TypeT> const TypeT* GetAttrPointer(size_t index) const
    {
        if (index >= values_.size()) return nullptr;
        const AttributeValue& value = values_[index];
        if constexpr (std::is_same_v<TypeT, bool>) return &value.boolean;
        else if constexpr (std::is_same_v<TypeT, float>) return &value.real;
        else if constexpr (std::is_same_v<TypeT, char>) return value.text.c_str();
        else if constexpr (std::is_same_v<TypeT, TypedContinuousVector<float>>) return &value.real_list;
        else if constexpr (std::is_same_v<TypeT, TypedContinuousVector<bool>>) return &value.boolean_list;
        else if constexpr (std::is_same_v<TypeT, TypedContinuousVector<int64_t>>) return &value.integer_list;
        else if constexpr (std::is_same_v<TypeT, ContinuousVector>) return list(value);
        else {
            static_assert(std::is_integral_v<TypeT> && sizeof(TypeT) == 8, "an attribute is read as bool, int64_t, float, char or a list of them");
            return reinterpret_cast<const TypeT*>(&value.integer);
        }
    }
    const int64_t* GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
    const float* GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
    const bool* GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
    const char* GetStr(size_t index) const { return GetAttrPointer<char>(index); }
    const TypedContinuousVector<int64_t>* GetListInt(size_t index) const { return GetAttrPointer<TypedContinuousVector<int64_t>>(index); }
    const TypedContinuousVector<float>* GetListFloat(size_t index) const { return GetAttrPointer<TypedContinuousVector<float>>(index); }

    std::vector<AttributeValue>& values() { return values_; }

private:
    static const ContinuousVector* list(const AttributeValue& value)
    {
        if (value.real_list.GetSize()) return &value.real_list;
        if (value.boolean_list.GetSize()) return &value.boolean_list;
        return &value.integer_list;
    }
    std::vector<AttributeValue> values_;
};

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

// A tensor of a call. An optional one may be absent.
struct TensorOfCall {
    Tensor tensor;
    CompileTimeTensorDesc desc;
    bool is_present = false;
};

// The tensors of a parameter among all inputs or outputs of a call: one, or as many as the list of a DYNAMIC parameter has.
class AnchorInstanceInfo {
public:
    AnchorInstanceInfo(size_t start, size_t count) : start_(start), count_(count) {}
    size_t GetInstanceStart() const { return start_; }
    size_t GetInstanceNum() const { return count_; }
    void add() { count_++; }

private:
    size_t start_, count_;
};

// The parameters of a call.
struct CallParameters {
    std::string name, type;
    std::vector<TensorOfCall> inputs, outputs;
    // By the parameters of the definition.
    std::vector<AnchorInstanceInfo> inputs_of, outputs_of;
    RuntimeAttrs attributes;
};

class ExtendedKernelContext {
public:
    explicit ExtendedKernelContext(CallParameters& call) : call_(call) {}
    const char* GetNodeName() const { return call_.name.c_str(); }
    const char* GetNodeType() const { return call_.type.c_str(); }
    const RuntimeAttrs* GetAttrs() const { return &call_.attributes; }
    size_t GetComputeNodeInputNum() const { return call_.inputs.size(); }
    size_t GetComputeNodeOutputNum() const { return call_.outputs.size(); }
    // By the number of the tensor.
    const CompileTimeTensorDesc* GetInputDesc(size_t index) const { return desc(tensor(call_.inputs, index)); }
    const CompileTimeTensorDesc* GetOutputDesc(size_t index) const { return desc(tensor(call_.outputs, index)); }
    // By the number of the parameter in the definition.
    const CompileTimeTensorDesc* GetOptionalInputDesc(size_t parameter) const { return desc(input(parameter)); }
    const CompileTimeTensorDesc* GetRequiredInputDesc(size_t parameter) const { return desc(input(parameter)); }
    const CompileTimeTensorDesc* GetDynamicInputDesc(size_t parameter, size_t at) const { return desc(input(parameter, at)); }
    const CompileTimeTensorDesc* GetDynamicOutputDesc(size_t parameter, size_t at) const { return desc(output(parameter, at)); }
    const AnchorInstanceInfo* GetIrInputInstanceInfo(size_t parameter) const { return info(call_.inputs_of, parameter); }
    const AnchorInstanceInfo* GetIrOutputInstanceInfo(size_t parameter) const { return info(call_.outputs_of, parameter); }

protected:
    static TensorOfCall* tensor(std::vector<TensorOfCall>& all, size_t index) { return index < all.size() && all[index].is_present ? &all[index] : nullptr; }
    static const CompileTimeTensorDesc* desc(const TensorOfCall* found) { return found ? &found->desc : nullptr; }
    static const AnchorInstanceInfo* info(const std::vector<AnchorInstanceInfo>& all, size_t parameter)
    {
        return parameter < all.size() ? &all[parameter] : nullptr;
    }
    static TensorOfCall* member(std::vector<TensorOfCall>& all, const AnchorInstanceInfo* of, size_t at)
    {
        return of && at < of->GetInstanceNum() ? tensor(all, of->GetInstanceStart() + at) : nullptr;
    }
    TensorOfCall* input(size_t parameter, size_t at = 0) const { return member(call_.inputs, GetIrInputInstanceInfo(parameter), at); }
    TensorOfCall* output(size_t parameter, size_t at = 0) const { return member(call_.outputs, GetIrOutputInstanceInfo(parameter), at); }
    CallParameters& call_;
};

class TilingContext : public ExtendedKernelContext {
public:
    TilingContext(CallParameters& call, const fe::PlatFormInfos& platform, size_t capacity)
        : ExtendedKernelContext(call), platform_(platform), tiling_(capacity)
    {
    }

    const StorageShape* GetInputShape(size_t index) const { return shape(tensor(call_.inputs, index)); }
    const StorageShape* GetOutputShape(size_t index) const { return shape(tensor(call_.outputs, index)); }
    const StorageShape* GetOptionalInputShape(size_t parameter) const { return shape(input(parameter)); }
    const StorageShape* GetRequiredInputShape(size_t parameter) const { return shape(input(parameter)); }
    const StorageShape* GetDynamicInputShape(size_t parameter, size_t at) const { return shape(input(parameter, at)); }
    const StorageShape* GetDynamicOutputShape(size_t parameter, size_t at) const { return shape(output(parameter, at)); }
    const Tensor* GetInputTensor(size_t index) const { return tensor_of(tensor(call_.inputs, index)); }
    const Tensor* GetOptionalInputTensor(size_t parameter) const { return tensor_of(input(parameter)); }
    const Tensor* GetRequiredInputTensor(size_t parameter) const { return tensor_of(input(parameter)); }
    const Tensor* GetDynamicInputTensor(size_t parameter, size_t at) const { return tensor_of(input(parameter, at)); }

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
    static const Tensor* tensor_of(const TensorOfCall* found) { return found ? &found->tensor : nullptr; }

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

class InferShapeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Shape* GetInputShape(size_t index) const { return shape(tensor(call_.inputs, index)); }
    const Shape* GetOptionalInputShape(size_t parameter) const { return shape(input(parameter)); }
    const Shape* GetRequiredInputShape(size_t parameter) const { return shape(input(parameter)); }
    const Shape* GetDynamicInputShape(size_t parameter, size_t at) const { return shape(input(parameter, at)); }
    const Tensor* GetInputTensor(size_t index) const
    {
        const TensorOfCall* found = tensor(call_.inputs, index);
        return found ? &found->tensor : nullptr;
    }
    Shape* GetOutputShape(size_t index)
    {
        TensorOfCall* found = tensor(call_.outputs, index);
        return found ? &found->tensor.MutableOriginShape() : nullptr;
    }

private:
    static const Shape* shape(const TensorOfCall* found) { return found ? &found->tensor.GetOriginShape() : nullptr; }
};

class InferDataTypeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    ge::DataType GetInputDataType(size_t index) const { return type(GetInputDesc(index)); }
    ge::DataType GetOptionalInputDataType(size_t parameter) const { return type(GetOptionalInputDesc(parameter)); }
    ge::DataType GetDynamicInputDataType(size_t parameter, size_t at) const { return type(GetDynamicInputDesc(parameter, at)); }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType type)
    {
        TensorOfCall* found = tensor(call_.outputs, index);
        if (!found) return ge::GRAPH_FAILED;
        found->desc = CompileTimeTensorDesc(type, found->desc.GetFormat());
        return ge::GRAPH_SUCCESS;
    }

private:
    static ge::DataType type(const CompileTimeTensorDesc* found) { return found ? found->GetDataType() : ge::DT_UNDEFINED; }
};

} // namespace gert

#endif
