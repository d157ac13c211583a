// Lists of tensors in global memory: what a kernel gets for a parameter whose number of tensors is known when it runs.
#ifndef JUMAR_ASCENDC_TENSOR_LIST_H
#define JUMAR_ASCENDC_TENSOR_LIST_H

#include "tensor.h"

namespace AscendC {

// A tensor of a list. The program provides the memory for its shape.
template <typename TypeT> class TensorDesc {
public:
    void SetShapeAddr(uint64_t* shape) { shape_ = shape; }
    uint64_t GetDim() const { return dim_; }
    uint64_t GetIndex() const { return index_; }
    uint64_t GetShape(uint32_t at, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        if (at >= dim_) jumar::ascendc::fail(site, "GetShape(%u): the tensor has %llu dimensions", at, static_cast<unsigned long long>(dim_));
        return shape_[at];
    }
    __gm__ TypeT* GetDataPtr() const { return data_; }
    GlobalTensor<TypeT> GetDataObj() const
    {
        GlobalTensor<TypeT> tensor;
        tensor.SetGlobalBuffer(data_);
        return tensor;
    }

    // For the list.
    void set(uint64_t dim, uint64_t index, const uint64_t* shape, TypeT* data)
    {
        dim_ = dim;
        index_ = index;
        data_ = data;
        if (shape_)
            for (uint64_t at = 0; at < dim; at++) shape_[at] = shape[at];
    }

private:
    uint64_t* shape_ = nullptr;
    uint64_t dim_ = 0, index_ = 0;
    __gm__ TypeT* data_ = nullptr;
};

// The list begins with the offset of the addresses in bytes. A word for each tensor follows, with the number of dimensions in the lower half and
// the index in the upper half, and its dimensions; then the addresses.
class ListTensorDesc {
public:
    ListTensorDesc() = default;
    ListTensorDesc(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff) { Init(data, length, shapeSize); }

    void Init(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t = 0xffffffff)
    {
        words_ = static_cast<const uint64_t*>(data);
        size_ = 0;
        if (!words_) return;
        const uint64_t addresses = words_[0] / 8;
        for (uint64_t at = 1; at < addresses && at < length; at += 1 + (words_[at] & 0xffffffff)) size_++;
    }
    uint32_t GetSize() const { return size_; }
    template <class TypeT> __gm__ TypeT* GetDataPtr(uint32_t index, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        need(index, "GetDataPtr", site);
        return reinterpret_cast<TypeT*>(words_[words_[0] / 8 + index]);
    }
    template <class TypeT> void GetDesc(TensorDesc<TypeT>& desc, uint32_t index, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        need(index, "GetDesc", site);
        uint64_t at = 1;
        for (uint32_t before = 0; before < index; before++) at += 1 + (words_[at] & 0xffffffff);
        desc.set(words_[at] & 0xffffffff, words_[at] >> 32, words_ + at + 1, GetDataPtr<TypeT>(index, site));
    }

private:
    void need(uint32_t index, const char* call, jumar::ascendc::Site site) const
    {
        if (index >= size_) jumar::ascendc::fail(site, "%s(%u): the list has %u tensors", call, index, size_);
    }
    const uint64_t* words_ = nullptr;
    uint32_t size_ = 0;
};

} // namespace AscendC

#endif
