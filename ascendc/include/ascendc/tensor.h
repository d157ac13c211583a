// Tensors in local and in global memory.
#ifndef JUMAR_ASCENDC_TENSOR_H
#define JUMAR_ASCENDC_TENSOR_H

#include "global_order.h"

namespace jumar {
namespace ascendc {

// An operation that is written with an operator and runs when it is assigned.
template <typename Operation, typename TypeT, typename Right> struct Expression {
    const TypeT& left;
    const Right& right;
};
struct AddTag {};
struct SubTag {};
struct MulTag {};
struct DivTag {};
struct AndTag {};
struct OrTag {};
template <AscendC::CMPMODE> struct CompareTag {};

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT> class LocalTensor {
public:
    using PrimType = TypeT;

    LocalTensor() = default;
    LocalTensor(jumar::ascendc::Buffer* buffer, uint64_t byte_offset, uint64_t elements)
        : data_(reinterpret_cast<TypeT*>(buffer->begin + byte_offset)), size_(static_cast<uint32_t>(elements)), position_(buffer->position), buffer_(buffer),
          generation_(buffer->generation)
    {
    }
    // A tensor at a fixed address of a local memory, without a TPipe.
    LocalTensor(TPosition position, uint32_t address, uint32_t elements, jumar::ascendc::Site site = jumar::ascendc::Site::here())
    {
        using namespace jumar::ascendc;
        Core& self = core();
        // Such a tensor may share its memory with the buffers of queues.
        self.complete_all();
        self.may_defer = false;
        Memory memory = memory_of(position);
        uint64_t bytes = bytes_of<TypeT>(elements);
        if (address + bytes > memory_info(memory).bytes)
            fail(site, "a LocalTensor of %llu bytes at %u does not fit into the %llu bytes of %s", static_cast<unsigned long long>(bytes), address,
                 static_cast<unsigned long long>(memory_info(memory).bytes), memory_info(memory).name);
        self.buffers.emplace_back();
        Buffer& buffer = self.buffers.back();
        buffer.begin = self.memories[memory].base(memory) + address;
        buffer.bytes = static_cast<uint32_t>(bytes);
        buffer.position = position;
        buffer.is_fixed = true;
        *this = LocalTensor(&buffer, 0, elements);
    }

    LocalTensor operator[](uint32_t offset) const
    {
        LocalTensor part = *this;
        part.data_ = reinterpret_cast<TypeT*>(reinterpret_cast<uint8_t*>(data_) + jumar::ascendc::bytes_of<TypeT>(offset));
        part.size_ = offset < size_ ? size_ - offset : 0;
        return part;
    }

    TypeT GetValue(uint32_t index, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        check(index, "GetValue", site);
        if constexpr (jumar::ascendc::is_int4<TypeT>) {
            uint8_t pair = data_[index / 2].pair;
            return TypeT(index % 2 ? pair >> 4 : pair);
        } else {
            return data_[index];
        }
    }
    template <typename TypeV> void SetValue(uint32_t index, TypeV value, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        check(index, "SetValue", site);
        data_[index] = static_cast<TypeT>(value);
    }
    TypeT& operator()(uint32_t index) const
    {
        check(index, "operator()", jumar::ascendc::Site{"kernel", 0});
        jumar::ascendc::escape(buffer_);
        jumar::ascendc::forget_padding(buffer_);
        return data_[index];
    }

    template <typename TypeU> LocalTensor<TypeU> ReinterpretCast() const
    {
        LocalTensor<TypeU> other;
        other.data_ = reinterpret_cast<TypeU*>(data_);
        other.size_ = static_cast<uint32_t>(jumar::ascendc::elements_in<TypeU>(jumar::ascendc::bytes_of<TypeT>(size_)));
        other.position_ = position_;
        other.buffer_ = buffer_;
        other.generation_ = generation_;
        other.tag_ = tag_;
        return other;
    }

    TypeT* GetPhyAddr() const
    {
        jumar::ascendc::escape(buffer_);
        jumar::ascendc::forget_padding(buffer_);
        return data_;
    }
    TypeT* GetPhyAddr(uint32_t offset) const { return GetPhyAddr() + offset; }
    // For the library, which completes the buffer where it needs its values.
    TypeT* raw() const
    {
#ifdef JUMAR_ASCENDC_AUDIT
        if (buffer_ && buffer_->source) std::abort();
#endif
        return data_;
    }
    // Where the tensor lies, whatever is there.
    const void* address() const { return data_; }
    uint32_t GetSize() const { return size_; }
    uint32_t GetLength() const { return static_cast<uint32_t>(jumar::ascendc::bytes_of<TypeT>(size_)); }
    void SetSize(uint32_t size) { size_ = size; }
    int32_t GetPosition() const { return static_cast<int32_t>(position_); }
    void SetUserTag(int32_t tag) { tag_ = tag; }
    int32_t GetUserTag() const { return tag_; }
    void SetShapeInfo(const ShapeInfo& shape) { shape_ = shape; }
    ShapeInfo GetShapeInfo() const { return shape_; }
    template <typename TypeU> void SetAddrWithOffset(LocalTensor<TypeU>& other, uint32_t offset)
    {
        *this = other.template ReinterpretCast<TypeT>()[offset];
    }

    template <typename Operation, typename Right> void operator=(const jumar::ascendc::Expression<Operation, LocalTensor, Right>& expression);
    template <CMPMODE mode, typename TypeU, typename Right>
    void operator=(const jumar::ascendc::Expression<jumar::ascendc::CompareTag<mode>, LocalTensor<TypeU>, Right>& expression);

    // For the library: the buffer, and whether the tensor is that of an earlier use of the buffer.
    jumar::ascendc::Buffer* buffer() const { return buffer_; }
    uint32_t generation() const { return generation_; }

private:
    template <typename TypeU> friend class LocalTensor;

    void check([[maybe_unused]] uint32_t index, [[maybe_unused]] const char* call, [[maybe_unused]] jumar::ascendc::Site site) const
    {
        // The scalar unit waits for the tensor's pipe here, so what follows may change global memory.
        jumar::ascendc::complete(buffer_);
        jumar::ascendc::complete_all();
#if JUMAR_ASCENDC_CHECK
        using namespace jumar::ascendc;
        const uint8_t* at = reinterpret_cast<const uint8_t*>(data_) + bytes_of<TypeT>(index);
        if (!buffer_) fail(site, "%s of a LocalTensor that has no memory", call);
        if (buffer_->generation != generation_) fail(site, "%s of a LocalTensor after FreeTensor", call);
        if (at < buffer_->begin || at + sizeof(TypeT) > buffer_->begin + buffer_->bytes)
            fail(site, "%s(%u) of a LocalTensor at byte %lld leaves its buffer of %u bytes in %s", call, index,
                 static_cast<long long>(reinterpret_cast<const uint8_t*>(data_) - buffer_->begin), buffer_->bytes, position_name(position_));
#endif
#if JUMAR_ASCENDC_CHECK >= 2
        pipe_order(core())->scalar_access(core(), *buffer_, at, sizeof(TypeT), call[0] != 'G');
#endif
    }

    TypeT* data_ = nullptr;
    uint32_t size_ = 0;
    TPosition position_ = TPosition::VECCALC;
    jumar::ascendc::Buffer* buffer_ = nullptr;
    uint32_t generation_ = 0;
    int32_t tag_ = 0;
    ShapeInfo shape_;
};

template <typename TypeT> class GlobalTensor {
public:
    using PrimType = TypeT;

    void SetGlobalBuffer(TypeT* buffer, uint64_t elements)
    {
        data_ = buffer;
        size_ = elements;
        is_bounded_ = true;
        find_end();
    }
    void SetGlobalBuffer(TypeT* buffer)
    {
        data_ = buffer;
        size_ = 0;
        is_bounded_ = false;
        find_end();
    }
    TypeT* GetPhyAddr() const { return data_; }
    TypeT* GetPhyAddr(uint64_t offset) const { return data_ + offset; }
    TypeT* raw() const { return data_; }

    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor part = *this;
        part.data_ = reinterpret_cast<TypeT*>(reinterpret_cast<uint8_t*>(data_) + jumar::ascendc::bytes_of<TypeT>(offset));
        part.size_ = offset < size_ ? size_ - offset : 0;
        return part;
    }
    TypeT GetValue(uint64_t offset, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        check(offset, 1, "GetValue", site);
        jumar::ascendc::complete_all();
        return data_[offset];
    }
    TypeT& operator()(uint64_t offset) const
    {
        check(offset, 1, "operator()", jumar::ascendc::Site{"kernel", 0});
        jumar::ascendc::complete_all();
        return data_[offset];
    }
    void SetValue(uint64_t offset, jumar::ascendc::AsIs<TypeT> value, jumar::ascendc::Site site = jumar::ascendc::Site::here()) const
    {
        check(offset, 1, "SetValue", site);
        jumar::ascendc::complete_all();
        jumar::ascendc::record_global_store(data_ + offset, sizeof(TypeT), site);
        data_[offset] = value;
    }
    uint64_t GetSize() const { return size_; }
    template <typename TypeU> GlobalTensor<TypeU> ReinterpretCast() const
    {
        GlobalTensor<TypeU> other;
        TypeU* data = reinterpret_cast<TypeU*>(data_);
        if (is_bounded_) other.SetGlobalBuffer(data, jumar::ascendc::elements_in<TypeU>(jumar::ascendc::bytes_of<TypeT>(size_)));
        else other.SetGlobalBuffer(data);
        other.end_ = end_;
        return other;
    }
    void SetShapeInfo(const ShapeInfo& shape) { shape_ = shape; }
    ShapeInfo GetShapeInfo() const { return shape_; }
    template <CacheRwMode mode = CacheRwMode::RW> void SetL2CacheHint(CacheMode) {}

    // For the library: fails if elements from an offset on leave the size that SetGlobalBuffer was given, or the allocation that held
    // its address.
    void check([[maybe_unused]] uint64_t offset, [[maybe_unused]] uint64_t elements, [[maybe_unused]] const char* call,
               [[maybe_unused]] jumar::ascendc::Site site) const
    {
#if JUMAR_ASCENDC_CHECK
        using namespace jumar::ascendc;
        if (!data_) fail(site, "%s of a GlobalTensor whose address is null", call);
        if (is_bounded_ && offset + elements > size_)
            fail(site, "%s of elements %llu to %llu leaves a GlobalTensor that has %llu elements there", call, static_cast<unsigned long long>(offset),
                 static_cast<unsigned long long>(offset + elements - 1), static_cast<unsigned long long>(size_));
        const uint64_t begin = reinterpret_cast<uintptr_t>(data_);
        if (end_ && elements && begin + bytes_of<TypeT>(offset + elements) > end_)
            fail(site, "%s of elements %llu to %llu leaves the memory that was allocated, which has %llu elements there", call,
                 static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + elements - 1),
                 static_cast<unsigned long long>(begin < end_ ? elements_in<TypeT>(end_ - begin) : 0));
        if (in_kernel()) core().last_call = site;
#endif
    }

private:
    template <typename TypeU> friend class GlobalTensor;

    void find_end()
    {
        const jumar_memory_extent* memory = jumar::ascendc::memory_at(data_);
        end_ = memory ? memory->end : 0;
    }

    TypeT* data_ = nullptr;
    uint64_t size_ = 0;
    bool is_bounded_ = false;
    // Where the allocation ends that the buffer's address is in. 0: unknown.
    uint64_t end_ = 0;
    ShapeInfo shape_;
};

// Operators build expressions: dst = a + b runs Add over the elements of dst.
#define JUMAR_ASCENDC_OPERATOR(symbol, Tag)                                                                                                          \
    template <typename TypeT>                                                                                                                        \
    jumar::ascendc::Expression<jumar::ascendc::Tag, LocalTensor<TypeT>, LocalTensor<TypeT>> operator symbol(const LocalTensor<TypeT>& left,         \
                                                                                                    const LocalTensor<TypeT>& right)                \
    {                                                                                                                                                \
        return {left, right};                                                                                                                        \
    }
JUMAR_ASCENDC_OPERATOR(+, AddTag)
JUMAR_ASCENDC_OPERATOR(-, SubTag)
JUMAR_ASCENDC_OPERATOR(*, MulTag)
JUMAR_ASCENDC_OPERATOR(/, DivTag)
JUMAR_ASCENDC_OPERATOR(&, AndTag)
JUMAR_ASCENDC_OPERATOR(|, OrTag)
JUMAR_ASCENDC_OPERATOR(<, CompareTag<CMPMODE::LT>)
JUMAR_ASCENDC_OPERATOR(>, CompareTag<CMPMODE::GT>)
JUMAR_ASCENDC_OPERATOR(==, CompareTag<CMPMODE::EQ>)
JUMAR_ASCENDC_OPERATOR(<=, CompareTag<CMPMODE::LE>)
JUMAR_ASCENDC_OPERATOR(>=, CompareTag<CMPMODE::GE>)
JUMAR_ASCENDC_OPERATOR(!=, CompareTag<CMPMODE::NE>)
#undef JUMAR_ASCENDC_OPERATOR

} // namespace AscendC

namespace jumar {
namespace ascendc {

// Records what a call does to bytes of a tensor, if the order of pipes is checked.
template <typename TypeT>
inline void record_access([[maybe_unused]] const AscendC::LocalTensor<TypeT>& tensor, [[maybe_unused]] uint64_t offset, [[maybe_unused]] uint64_t bytes,
                          [[maybe_unused]] bool writes, [[maybe_unused]] const char* operand, [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK >= 2
    Core& self = core();
    pipe_order(self)->access(self, *tensor.buffer(), static_cast<const uint8_t*>(tensor.address()) + offset, bytes, writes, operand, call);
#endif
}

// Bytes of a tensor in UB that DataCopyPad has copied without a value for them.
template <typename TypeT>
inline void mark_padding([[maybe_unused]] const AscendC::LocalTensor<TypeT>& tensor, [[maybe_unused]] uint64_t begin, [[maybe_unused]] uint64_t end,
                         [[maybe_unused]] Site site)
{
#if JUMAR_ASCENDC_CHECK >= 2
    if (begin == end || memory_of(tensor.buffer()->position) != MEMORY_UB) return;
    Core& self = core();
    const uint64_t start = static_cast<uint64_t>(static_cast<const uint8_t*>(tensor.address()) - self.memories[MEMORY_UB].base(MEMORY_UB));
    pipe_order(self)->padding().mark(start + begin, start + end, site);
#endif
}

// The elements of an elementwise function's result that depend on padding. They are found before the call, since the result may lie over an
// operand, and marked after it.
class PaddingFlow {
public:
#if JUMAR_ASCENDC_CHECK >= 2
    static bool is_needed() { return !pipe_order(core())->padding().is_empty(); }
    template <typename TypeT> void from(const AscendC::LocalTensor<TypeT>& tensor, uint64_t index, uint64_t result)
    {
        if (is_int4<TypeT> || !tensor.buffer() || memory_of(tensor.buffer()->position) != MEMORY_UB) return;
        const PaddingMap& padding = pipe_order(core())->padding();
        const uint8_t* at = static_cast<const uint8_t*>(tensor.address()) + index * sizeof(TypeT);
        const uint64_t begin = static_cast<uint64_t>(at - core().memories[MEMORY_UB].base(MEMORY_UB)), found = padding.find(begin, begin + sizeof(TypeT));
        if (found < begin + sizeof(TypeT)) results_.push_back({result, padding.site(found)});
    }
    template <typename TypeT> void into(const AscendC::LocalTensor<TypeT>& tensor) const
    {
        if (is_int4<TypeT>) return;
        for (const Result& one : results_) mark_padding(tensor, one.index * sizeof(TypeT), (one.index + 1) * sizeof(TypeT), one.site);
    }

private:
    struct Result {
        uint64_t index;
        Site site;
    };
    std::vector<Result> results_;
#else
    static constexpr bool is_needed() { return false; }
    template <typename TypeT> void from(const AscendC::LocalTensor<TypeT>&, uint64_t, uint64_t) {}
    template <typename TypeT> void into(const AscendC::LocalTensor<TypeT>&) const {}
#endif
};

// Fails if bytes from the start of a tensor on leave its buffer, if the tensor was freed, or if it is not aligned.
template <typename TypeT>
inline void check_range([[maybe_unused]] const AscendC::LocalTensor<TypeT>& tensor, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] const char* operand,
                         [[maybe_unused]] const Call& call, [[maybe_unused]] uint32_t alignment = 32)
{
#if JUMAR_ASCENDC_CHECK
    const Buffer* buffer = tensor.buffer();
    if (!buffer) fail(call.site, "%s: %s has no memory", call.name, operand);
    if (buffer->generation != tensor.generation()) fail(call.site, "%s: %s is used after FreeTensor", call.name, operand);
    const uint8_t* begin = static_cast<const uint8_t*>(tensor.address());
    long long offset = begin - buffer->begin;
    uint64_t limit = buffer->bytes;
    if (call.reaches_memory_end && buffer->is_fixed) {
        const Memory memory = memory_of(buffer->position);
        limit = memory_info(memory).bytes - static_cast<uint64_t>(buffer->begin - core().memories[memory].base(memory));
    }
    if (offset < 0 || static_cast<uint64_t>(offset) + bytes > limit)
        fail(call.site, "%s: %s reaches bytes %lld to %lld of its buffer in %s, which has %u bytes", call.name, operand, offset,
             offset + static_cast<long long>(bytes) - 1, position_name(buffer->position), static_cast<uint32_t>(limit));
    core().last_call = call.site;
    if (reinterpret_cast<uintptr_t>(begin) % alignment != 0)
        fail(call.site, "%s: %s begins at byte %lld of its buffer in %s, and has to be aligned to %u bytes", call.name, operand, offset,
             position_name(buffer->position), alignment);
    // Copies record each of their blocks themselves.
    if (call.pipe != PIPE_MTE2 && call.pipe != PIPE_MTE3) record_access(tensor, 0, bytes, std::strcmp(operand, "dst") == 0, operand, call);
#endif
}
// Fails if bytes of global memory leave the allocation that holds their start.
inline void check_global([[maybe_unused]] const void* address, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] const char* operand,
                         [[maybe_unused]] const Call& call)
{
    const jumar_memory_extent* memory = memory_at(address);
    const uint64_t at = reinterpret_cast<uintptr_t>(address);
    if (memory && at + bytes > memory->end)
        fail(call.site, "%s: %s has %llu bytes and leaves the memory that was allocated, which has %llu bytes there", call.name, operand,
             static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(memory->end - at));
}
// The same for an operand in local memory, whose values are there afterwards.
template <typename TypeT>
inline void check_access(const AscendC::LocalTensor<TypeT>& tensor, uint64_t bytes, const char* operand, const Call& call, uint32_t alignment = 32)
{
    check_range(tensor, bytes, operand, call, alignment);
    complete(tensor.buffer());
}
// The same for an operand that is read from its start on. Returns where its values are: in local memory, or where a deferred copy comes from.
template <typename TypeT>
inline const TypeT* check_source(const AscendC::LocalTensor<TypeT>& tensor, uint64_t bytes, const char* operand, const Call& call)
{
    check_range(tensor, bytes, operand, call);
    Buffer* const buffer = tensor.buffer();
    if (buffer && buffer->source) {
        const int64_t offset = static_cast<const uint8_t*>(tensor.address()) - buffer->begin;
        if (offset >= 0 && static_cast<uint64_t>(offset) + bytes <= buffer->source_bytes) return reinterpret_cast<const TypeT*>(buffer->source + offset);
        complete(buffer);
    }
    return tensor.raw();
}

} // namespace ascendc
} // namespace jumar

#endif
