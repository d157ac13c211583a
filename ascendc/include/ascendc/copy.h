// Copies between global and local memory.
#ifndef JUMAR_ASCENDC_COPY_H
#define JUMAR_ASCENDC_COPY_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tensor.h"

namespace jumar {
namespace ascendc {

// Copies with the C library's function. GCC replaces a copy of known length by REP MOVS, which is not faster for a tile of 8 KiB.
inline void copy_bytes(void* to, const void* from, uint64_t bytes)
{
    asm("" : "+r"(bytes));
    std::memcpy(to, from, bytes);
}

// Copies to global memory. Long runs are written past the caches, which would be full of data that are not read soon.
inline void copy_out(uint8_t* to, const uint8_t* from, uint64_t bytes)
{
#if defined(__SSE2__)
    constexpr uint64_t LONG_RUN = 1 << 20;
    Core& self = core();
    self.written = to == self.written_end ? self.written + bytes : bytes;
    self.written_end = to + bytes;
    if (self.written >= LONG_RUN && bytes >= 1024 && reinterpret_cast<uintptr_t>(to) % sizeof(__m128i) == 0) {
        for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
            __m128i parts[4];
            std::memcpy(parts, from, sizeof parts);
            for (int part = 0; part < 4; part++) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + part, parts[part]);
        }
        // Later stores, such as flags for other threads, do not pass these.
        _mm_sfence();
    }
#endif
    copy_bytes(to, from, bytes);
}

// Changes an element of global memory that other blocks may change at the same time.
template <typename TypeT> inline void atomic_update(TypeT* at, TypeT value, AtomicOperation operation)
{
    using Bits = std::conditional_t<sizeof(TypeT) == 1, uint8_t, std::conditional_t<sizeof(TypeT) == 2, uint16_t, std::conditional_t<sizeof(TypeT) == 4, uint32_t, uint64_t>>>;
    Bits* bits = reinterpret_cast<Bits*>(at);
    Bits old_bits = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
        TypeT old;
        std::memcpy(&old, &old_bits, sizeof old);
        TypeT changed = value;
        switch (operation) {
        case AtomicOperation::ADD:
            if constexpr (is_bfloat16<TypeT>) changed = TypeT(static_cast<float>(old) + static_cast<float>(value));
            else changed = static_cast<TypeT>(old + value);
            break;
        case AtomicOperation::MAX: changed = old < value ? value : old; break;
        case AtomicOperation::MIN: changed = value < old ? value : old; break;
        default: break;
        }
        Bits new_bits;
        std::memcpy(&new_bits, &changed, sizeof changed);
        if (__atomic_compare_exchange_n(bits, &old_bits, new_bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

// Writes bytes to global memory: plainly, or with the atomic operation that is set.
template <typename TypeT> inline void store_global(uint8_t* to, const uint8_t* from, uint64_t bytes, const Call& call)
{
    // The bytes may be the source of a deferred copy, or a flag for another core that changes one.
    complete_all();
    AtomicOperation operation = core().registers.atomic;
    if (operation == AtomicOperation::NONE) record_global_write(to, from, bytes, call);
    if constexpr (std::is_arithmetic_v<TypeT> || is_half<TypeT> || is_bfloat16<TypeT>) {
        if (operation != AtomicOperation::NONE) {
            for (uint64_t at = 0; at + sizeof(TypeT) <= bytes; at += sizeof(TypeT)) {
                TypeT value;
                std::memcpy(&value, from + at, sizeof value);
                atomic_update(reinterpret_cast<TypeT*>(to + at), value, operation);
            }
            return;
        }
    }
    copy_out(to, from, bytes);
}

template <typename TypeT> inline uint8_t* bytes_at(const AscendC::LocalTensor<TypeT>& tensor)
{
    return reinterpret_cast<uint8_t*>(tensor.raw());
}
template <typename TypeT> inline uint8_t* bytes_at(const AscendC::GlobalTensor<TypeT>& tensor)
{
    return reinterpret_cast<uint8_t*>(tensor.raw());
}

// Bytes from the first block's start to the last block's end.
inline uint64_t span_of(uint64_t blocks, uint64_t length, int64_t step)
{
    return blocks == 0 || length == 0 ? 0 : static_cast<uint64_t>(static_cast<int64_t>(blocks - 1) * step) + length;
}

template <typename TypeT> inline uint64_t elements_covering(uint64_t bytes)
{
    return elements_in<TypeT>(bytes + (is_int4<TypeT> ? 0 : sizeof(TypeT) - 1));
}

// The pipe of a copy to a local memory from another one.
constexpr pipe_t local_copy_pipe(Memory target)
{
    return target == MEMORY_L1 ? PIPE_MTE3 : target == MEMORY_BIAS ? PIPE_MTE1 : target == MEMORY_FIXPIPE ? PIPE_FIX : PIPE_V;
}

inline void check_block_multiple([[maybe_unused]] uint64_t bytes, [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK
    if (bytes % 32 != 0)
        fail(call.site, "%s: %llu bytes are not a multiple of 32, and the last %llu would not be copied; DataCopyPad copies any number of bytes",
             call.name, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(bytes % 32));
#endif
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

// Global to local, local to global, and local to local: a number of elements.
template <typename TypeT>
void DataCopy(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE2};
    uint64_t bytes = bytes_of<TypeT>(count);
    check_block_multiple(bytes, call);
    bytes = bytes / 32 * 32;
    if (bytes == 0) return;
    check_access(dst, bytes, "dst", call);
    src.check(0, elements_in<TypeT>(bytes), "DataCopy", site);
    record_access(dst, 0, bytes, true, "dst", call);
    record_global_read(bytes_at(src), bytes, call);
    if (!defer_copy(dst.buffer(), bytes_at(dst), bytes_at(src), bytes)) copy_bytes(bytes_at(dst), bytes_at(src), bytes);
}
template <typename TypeT>
void DataCopy(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE3};
    uint64_t bytes = bytes_of<TypeT>(count);
    check_block_multiple(bytes, call);
    bytes = bytes / 32 * 32;
    if (bytes == 0) return;
    check_access(src, bytes, "src", call);
    dst.check(0, elements_in<TypeT>(bytes), "DataCopy", site);
    record_access(src, 0, bytes, false, "src", call);
    store_global<TypeT>(bytes_at(dst), bytes_at(src), bytes, call);
}
template <typename TypeT>
void DataCopy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, local_copy_pipe(dst.buffer() ? memory_of(dst.buffer()->position) : MEMORY_UB)};
    uint64_t bytes = bytes_of<TypeT>(count);
    check_block_multiple(bytes, call);
    bytes = bytes / 32 * 32;
    if (bytes == 0) return;
    check_access(dst, bytes, "dst", call);
    check_access(src, bytes, "src", call);
    if (call.pipe == PIPE_MTE3) {
        record_access(src, 0, bytes, false, "src", call);
        record_access(dst, 0, bytes, true, "dst", call);
    }
    std::memmove(bytes_at(dst), bytes_at(src), bytes);
}

// The same in blocks: lengths and gaps in units of 32 bytes.
template <typename TypeT>
void DataCopy(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const DataCopyParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE2};
    const uint64_t length = params.blockLen * 32ull, to = length + params.dstGap * 32ull, from = length + params.srcGap * 32ull;
    if (params.blockCount == 0 || length == 0) return;
    check_access(dst, span_of(params.blockCount, length, static_cast<int64_t>(to)), "dst", call);
    src.check(0, elements_covering<TypeT>(span_of(params.blockCount, length, static_cast<int64_t>(from))), "DataCopy", site);
    for (uint64_t block = 0; block < params.blockCount; block++) {
        record_access(dst, block * to, length, true, "dst", call);
        record_global_read(bytes_at(src) + block * from, length, call);
        copy_bytes(bytes_at(dst) + block * to, bytes_at(src) + block * from, length);
    }
}
template <typename TypeT>
void DataCopy(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const DataCopyParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE3};
    const uint64_t length = params.blockLen * 32ull, to = length + params.dstGap * 32ull, from = length + params.srcGap * 32ull;
    if (params.blockCount == 0 || length == 0) return;
    check_access(src, span_of(params.blockCount, length, static_cast<int64_t>(from)), "src", call);
    dst.check(0, elements_covering<TypeT>(span_of(params.blockCount, length, static_cast<int64_t>(to))), "DataCopy", site);
    for (uint64_t block = 0; block < params.blockCount; block++) {
        record_access(src, block * from, length, false, "src", call);
        store_global<TypeT>(bytes_at(dst) + block * to, bytes_at(src) + block * from, length, call);
    }
}
template <typename TypeT>
void DataCopy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const DataCopyParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    // The bias table is counted in 64 bytes, the fixpipe buffer in 128.
    const Memory memory = dst.buffer() ? memory_of(dst.buffer()->position) : MEMORY_UB;
    Call call{"DataCopy", site, local_copy_pipe(memory)};
    const uint64_t unit = memory == MEMORY_BIAS ? 64 : memory == MEMORY_FIXPIPE ? 128 : 32;
    const uint64_t length = params.blockLen * unit, to = length + params.dstGap * unit, from = length + params.srcGap * 32ull;
    if (params.blockCount == 0 || length == 0) return;
    check_access(dst, span_of(params.blockCount, length, static_cast<int64_t>(to)), "dst", call);
    check_access(src, span_of(params.blockCount, length, static_cast<int64_t>(from)), "src", call);
    for (uint64_t block = 0; block < params.blockCount; block++) {
        if (call.pipe == PIPE_MTE3) {
            record_access(src, block * from, length, false, "src", call);
            record_access(dst, block * to, length, true, "dst", call);
        }
        std::memmove(bytes_at(dst) + block * to, bytes_at(src) + block * from, length);
    }
}

// Row-major matrices to columns of fractals: element (n, d) goes to column d / C0, row n, position d % C0.
template <typename TypeT>
void DataCopy(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const Nd2NzParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE2};
    constexpr uint64_t c0 = 32 / sizeof(TypeT);
    if (params.ndNum == 0 || params.nValue == 0 || params.dValue == 0) return;
    const uint64_t padded = (params.dValue + c0 - 1) / c0 * c0;
    const uint64_t last = (params.ndNum - 1ull) * params.dstNzMatrixStride + (padded / c0 - 1) * params.dstNzC0Stride * c0 +
                          (params.nValue - 1ull) * params.dstNzNStride * c0 + c0;
    check_access(dst, last * sizeof(TypeT), "dst", call);
    record_access(dst, 0, last * sizeof(TypeT), true, "dst", call);
    src.check(0, (params.ndNum - 1ull) * params.srcNdMatrixStride + (params.nValue - 1ull) * params.srcDValue + params.dValue, "DataCopy", site);
    TypeT* to = dst.raw();
    const TypeT* from = src.raw();
    for (uint64_t m = 0; m < params.ndNum; m++)
        for (uint64_t n = 0; n < params.nValue; n++)
            for (uint64_t d = 0; d < padded; d++)
                to[m * params.dstNzMatrixStride + d / c0 * params.dstNzC0Stride * c0 + n * params.dstNzNStride * c0 + d % c0] =
                    d < params.dValue ? from[m * params.srcNdMatrixStride + n * params.srcDValue + d] : TypeT(0);
}

// Slices of a tensor of up to 8 dimensions; the last dimension is the first entry. Starts, ends and strides are in elements,
// and the innermost burst length in units of 32 bytes.
namespace slices {
inline uint64_t count(const SliceInfo& slice)
{
    uint64_t extent = static_cast<uint64_t>(slice.endIndex) - slice.startIndex + 1;
    uint64_t burst = slice.burstLen ? slice.burstLen : 1;
    return (extent + slice.stride) / (burst + slice.stride);
}
// Calls body(dst offset, src offset, elements) for each burst.
template <typename TypeT, typename Body> void each(const SliceInfo dst[], const SliceInfo src[], uint32_t dims, Body body)
{
    const uint64_t block = 32 / sizeof(TypeT);
    auto offsets = [&](const SliceInfo slices[], uint64_t index[]) {
        uint64_t at = 0, step = 1;
        for (uint32_t dim = 0; dim < dims; dim++) {
            uint64_t burst = dim == 0 ? slices[dim].burstLen * block : (slices[dim].burstLen ? slices[dim].burstLen : 1);
            uint64_t position = dim == 0 ? slices[dim].startIndex + index[dim] * (burst + slices[dim].stride)
                                         : slices[dim].startIndex + index[dim] / burst * (burst + slices[dim].stride) + index[dim] % burst;
            at += position * step;
            step *= slices[dim].shapeValue;
        }
        return at;
    };
    auto rows = [&](const SliceInfo& slice, uint32_t dim) {
        SliceInfo wide = slice;
        if (dim == 0) wide.burstLen = static_cast<uint32_t>(slice.burstLen * block);
        uint64_t bursts = count(wide);
        return dim == 0 ? bursts : bursts * (slice.burstLen ? slice.burstLen : 1);
    };
    uint64_t sizes[8];
    for (uint32_t dim = 0; dim < dims; dim++) sizes[dim] = rows(src[dim], dim);
    uint64_t index[8] = {};
    for (;;) {
        body(offsets(dst, index), offsets(src, index), src[0].burstLen * block);
        uint32_t dim = 0;
        while (dim < dims && ++index[dim] == sizes[dim]) index[dim++] = 0;
        if (dim == dims) return;
    }
}
} // namespace slices

template <typename TypeT>
void DataCopy(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const SliceInfo dst_slices[], const SliceInfo src_slices[], uint32_t dims = 1,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE2};
    if (dims == 0 || dims > 8) fail(site, "DataCopy: %u dimensions of slices; 1 to 8 are possible", dims);
    slices::each<TypeT>(dst_slices, src_slices, dims, [&](uint64_t to, uint64_t from, uint64_t elements) {
        check_access(dst[static_cast<uint32_t>(to)], elements * sizeof(TypeT), "dst", call);
        src.check(from, elements, "DataCopy", site);
        record_access(dst, to * sizeof(TypeT), elements * sizeof(TypeT), true, "dst", call);
        record_global_read(bytes_at(src) + from * sizeof(TypeT), elements * sizeof(TypeT), call);
        std::memcpy(dst.raw() + to, src.raw() + from, elements * sizeof(TypeT));
    });
}
template <typename TypeT>
void DataCopy(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const SliceInfo dst_slices[], const SliceInfo src_slices[], uint32_t dims = 1,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"DataCopy", site, PIPE_MTE3};
    if (dims == 0 || dims > 8) fail(site, "DataCopy: %u dimensions of slices; 1 to 8 are possible", dims);
    slices::each<TypeT>(dst_slices, src_slices, dims, [&](uint64_t to, uint64_t from, uint64_t elements) {
        check_access(src[static_cast<uint32_t>(from)], elements * sizeof(TypeT), "src", call);
        dst.check(to, elements, "DataCopy", site);
        record_access(src, from * sizeof(TypeT), elements * sizeof(TypeT), false, "src", call);
        store_global<TypeT>(bytes_at(dst) + to * sizeof(TypeT), bytes_at(src) + from * sizeof(TypeT), elements * sizeof(TypeT), call);
    });
}

// Blocks of any length. In UB each block begins at a multiple of 32 bytes, and is padded in front and behind.
namespace padded {
template <typename TypeT>
void to_local(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, uint64_t blocks, uint64_t length, int64_t src_gap, int64_t dst_gap, bool is_pad,
              uint64_t left, uint64_t right, const uint8_t* value, jumar::ascendc::Site site)
{
    using namespace jumar::ascendc;
    Call call{"DataCopyPad", site, PIPE_MTE2};
    if (blocks == 0 || length == 0) return;
#if JUMAR_ASCENDC_CHECK
    if (left * sizeof(TypeT) > 32 || right * sizeof(TypeT) > 32)
        fail(site, "DataCopyPad: %llu elements in front and %llu behind; a side has 32 bytes at most", static_cast<unsigned long long>(left),
             static_cast<unsigned long long>(right));
#endif
    const uint64_t filled = left * sizeof(TypeT) + length + right * sizeof(TypeT);
    const uint64_t row = (filled + 31) / 32 * 32;
    const int64_t to_step = static_cast<int64_t>(row) + dst_gap * 32, from_step = static_cast<int64_t>(length) + src_gap;
    check_access(dst, span_of(blocks, row, to_step), "dst", call);
    src.check(0, elements_covering<TypeT>(span_of(blocks, length, from_step)), "DataCopyPad", site);
    for (uint64_t block = 0; block < blocks; block++) {
        uint8_t* to = bytes_at(dst) + static_cast<int64_t>(block) * to_step;
        record_access(dst, block * static_cast<uint64_t>(to_step), row, true, "dst", call);
        const uint8_t* from = bytes_at(src) + static_cast<int64_t>(block) * from_step;
        record_global_read(from, length, call);
        // Without a value that of SetPadValue fills the rest, or the first element of the block.
        const Registers& registers = core().registers;
        const uint8_t* set = reinterpret_cast<const uint8_t*>(&registers.pad_value);
        uint8_t filler[sizeof(TypeT)];
        std::memcpy(filler, is_pad ? value : registers.has_pad_value ? set : from, sizeof(TypeT));
        for (uint64_t at = 0; at < left; at++) std::memcpy(to + at * sizeof(TypeT), filler, sizeof(TypeT));
        std::memcpy(to + left * sizeof(TypeT), from, length);
        for (uint64_t at = left * sizeof(TypeT) + length; at + sizeof(TypeT) <= row; at += sizeof(TypeT)) std::memcpy(to + at, filler, sizeof(TypeT));
        if (!is_pad && !registers.has_pad_value) {
            const uint64_t begin = block * static_cast<uint64_t>(to_step), data = begin + left * sizeof(TypeT);
            mark_padding(dst, begin, data, site);
            mark_padding(dst, data + length, begin + row, site);
        }
    }
}
template <typename TypeT>
void to_global(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, uint64_t blocks, uint64_t length, int64_t src_gap, int64_t dst_gap,
               jumar::ascendc::Site site)
{
    using namespace jumar::ascendc;
    Call call{"DataCopyPad", site, PIPE_MTE3};
    if (blocks == 0 || length == 0) return;
    const int64_t from_step = static_cast<int64_t>((length + 31) / 32 * 32) + src_gap * 32, to_step = static_cast<int64_t>(length) + dst_gap;
    check_access(src, span_of(blocks, length, from_step), "src", call);
    dst.check(0, elements_covering<TypeT>(span_of(blocks, length, to_step)), "DataCopyPad", site);
    for (uint64_t block = 0; block < blocks; block++) {
        record_access(src, block * static_cast<uint64_t>(from_step), length, false, "src", call);
        store_global<TypeT>(bytes_at(dst) + static_cast<int64_t>(block) * to_step, bytes_at(src) + static_cast<int64_t>(block) * from_step, length, call);
    }
}
} // namespace padded

template <typename TypeT>
void DataCopyPad(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const DataCopyExtParams& params,
                 const DataCopyPadExtParams<jumar::ascendc::AsIs<TypeT>>& pad, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    padded::to_local(dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride, pad.isPad, pad.leftPadding, pad.rightPadding,
                     reinterpret_cast<const uint8_t*>(&pad.paddingValue), site);
}
template <typename TypeT>
void DataCopyPad(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const DataCopyParams& params, const DataCopyPadParams& pad,
                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    padded::to_local(dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride, pad.isPad, pad.leftPadding, pad.rightPadding,
                     reinterpret_cast<const uint8_t*>(&pad.paddingValue), site);
}
template <typename TypeT>
void DataCopyPad(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const DataCopyExtParams& params,
                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    padded::to_global(dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride, site);
}
template <typename TypeT>
void DataCopyPad(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const DataCopyParams& params,
                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    padded::to_global(dst, src, params.blockCount, params.blockLen, params.srcStride, params.dstStride, site);
}
template <typename TypeT, TPosition pos = TPosition::MAX> void SetPadValue(TypeT value)
{
    jumar::ascendc::Registers& registers = jumar::ascendc::core().registers;
    std::memcpy(&registers.pad_value, &value, sizeof value);
    registers.has_pad_value = true;
}

// Atomic copies to global memory.
template <typename TypeT> void SetAtomicAdd()
{
    jumar::ascendc::core().registers.atomic = jumar::ascendc::AtomicOperation::ADD;
}
template <typename TypeT> void SetAtomicMax()
{
    jumar::ascendc::core().registers.atomic = jumar::ascendc::AtomicOperation::MAX;
}
template <typename TypeT> void SetAtomicMin()
{
    jumar::ascendc::core().registers.atomic = jumar::ascendc::AtomicOperation::MIN;
}
template <typename TypeT> void SetAtomicType() {}
inline void SetAtomicNone()
{
    jumar::ascendc::core().registers.atomic = jumar::ascendc::AtomicOperation::NONE;
}
inline void DisableDmaAtomic()
{
    SetAtomicNone();
}

template <typename TypeT> void InitGlobalMemory(GlobalTensor<TypeT>& gm, const uint64_t size, const jumar::ascendc::AsIs<TypeT> value,
                                            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (size == 0) return;
    gm.check(0, size, "InitGlobalMemory", site);
    jumar::ascendc::complete_all();
    for (uint64_t at = 0; at < size; at++) gm.raw()[at] = value;
}
template <typename TypeT> void Fill(GlobalTensor<TypeT>& gm, const uint64_t size, const jumar::ascendc::AsIs<TypeT> value,
                                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    InitGlobalMemory(gm, size, value, site);
}

} // namespace AscendC

#endif
