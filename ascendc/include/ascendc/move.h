// Functions that move elements inside UB: gather, scatter, broadcast to blocks, transposition.
#ifndef JUMAR_ASCENDC_MOVE_H
#define JUMAR_ASCENDC_MOVE_H

#include "vector.h"

namespace jumar {
namespace ascendc {

// Fails unless an element at a byte offset of a tensor lies in its buffer.
template <typename TypeT>
inline TypeT* element_at(const AscendC::LocalTensor<TypeT>& tensor, uint64_t byte_offset, [[maybe_unused]] const char* operand, [[maybe_unused]] const Call& call)
{
    complete(tensor.buffer());
    uint8_t* at = reinterpret_cast<uint8_t*>(tensor.raw()) + byte_offset;
#if JUMAR_ASCENDC_CHECK
    const Buffer* buffer = tensor.buffer();
    if (at + sizeof(TypeT) > buffer->begin + buffer->bytes)
        fail(call.site, "%s: byte offset %llu leaves the buffer of %s, which has %u bytes", call.name, static_cast<unsigned long long>(byte_offset),
             operand, buffer->bytes);
    if (byte_offset % sizeof(TypeT) != 0)
        fail(call.site, "%s: byte offset %llu is not a multiple of %zu", call.name, static_cast<unsigned long long>(byte_offset), sizeof(TypeT));
#endif
    return reinterpret_cast<TypeT*>(at);
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

// dst[i] = the element at byte srcBaseOffset + srcOffset[i] of src.
template <typename TypeT>
void Gather(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
            const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Gather", site};
    if (count == 0) return;
    check_access(dst, bytes_of<TypeT>(count), "dst", call);
    check_access(srcOffset, count * 4ull, "srcOffset", call);
    check_access(src, sizeof(TypeT), "src", call);
    for (uint32_t at = 0; at < count; at++)
        dst.raw()[at] = *element_at(src, uint64_t(srcBaseOffset) + srcOffset.raw()[at], "src", call);
}
template <typename TypeT>
void Gather(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
            const jumar::ascendc::MaskArgument& argument, const uint8_t repeatTime, const uint16_t dstRepStride,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Gather", site};
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const Mask mask = argument.resolve(true, per);
    check_access(dst, covered<TypeT>(mask, repeatTime, per, Strides{1, dstRepStride}), "dst", call);
    check_access(src, sizeof(TypeT), "src", call);
    each_element(mask, repeatTime, per, [&](uint64_t repeat, uint32_t element) {
        const uint32_t offset = *element_at(srcOffset, (repeat * per + element) * 4, "srcOffset", call);
        dst.raw()[index_of<TypeT>(repeat, element, 1, dstRepStride)] = *element_at(src, uint64_t(srcBaseOffset) + offset, "src", call);
    });
}
// The same for blocks of 32 bytes: 8 for each repeat.
template <typename TypeT>
void Gatherb(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<uint32_t>& offset, const uint8_t repeatTime,
             const GatherRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Gatherb", site};
    if (repeatTime == 0) return;
    const uint64_t step = params.dstBlkStride ? params.dstBlkStride : 1;
    check_access(dst, ((repeatTime - 1ull) * params.dstRepStride + 7 * step + 1) * 32, "dst", call);
    check_access(offset, repeatTime * 32ull, "offset", call);
    for (uint64_t repeat = 0; repeat < repeatTime; repeat++) {
        for (uint64_t block = 0; block < 8; block++) {
            const uint32_t from = offset.raw()[repeat * 8 + block];
            element_at(src0, from + 32ull - sizeof(TypeT), "src0", call);
            std::memcpy(reinterpret_cast<uint8_t*>(dst.raw()) + (repeat * params.dstRepStride + block * step) * 32,
                        reinterpret_cast<const uint8_t*>(src0.raw()) + from, 32);
        }
    }
}
// Writes src[i] to byte dstBaseAddr + dstOffset[i] of dst.
template <typename TypeT>
void Scatter(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint32_t>& dstOffset, const uint32_t dstBaseAddr,
             const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Scatter", site};
    if (count == 0) return;
    check_access(src, bytes_of<TypeT>(count), "src", call);
    check_access(dstOffset, count * 4ull, "dstOffset", call);
    check_access(dst, sizeof(TypeT), "dst", call);
    for (uint32_t at = 0; at < count; at++)
        *element_at(dst, uint64_t(dstBaseAddr) + dstOffset.raw()[at], "dst", call) = src.raw()[at];
}
template <typename TypeT>
void Scatter(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint32_t>& dstOffset, const uint32_t dstBaseAddr,
             const jumar::ascendc::MaskArgument& argument, const uint8_t repeatTime, const uint8_t srcRepStride,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Scatter", site};
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const Mask mask = argument.resolve(true, per);
    check_access(src, covered<TypeT>(mask, repeatTime, per, Strides{1, srcRepStride}), "src", call);
    check_access(dst, sizeof(TypeT), "dst", call);
    each_element(mask, repeatTime, per, [&](uint64_t repeat, uint32_t element) {
        const uint32_t offset = *element_at(dstOffset, (repeat * per + element) * 4, "dstOffset", call);
        *element_at(dst, uint64_t(dstBaseAddr) + offset, "dst", call) = src.raw()[index_of<TypeT>(repeat, element, 1, srcRepStride)];
    });
}

// Spreads each of 8 elements a repeat over a block of 32 bytes.
template <typename TypeT>
void Brcb(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const uint8_t repeatTime, const BrcbRepeatParams& params,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Brcb", site};
    if (repeatTime == 0) return;
    constexpr uint64_t in_block = 32 / sizeof(TypeT);
    const uint64_t step = params.dstBlkStride ? params.dstBlkStride : 1;
    check_access(dst, ((repeatTime - 1ull) * params.dstRepStride + 7 * step + 1) * 32, "dst", call);
    check_access(src0, repeatTime * 8ull * sizeof(TypeT), "src", call);
    for (uint64_t repeat = 0; repeat < repeatTime; repeat++)
        for (uint64_t block = 0; block < 8; block++)
            for (uint64_t at = 0; at < in_block; at++)
                dst.raw()[(repeat * params.dstRepStride + block * step) * in_block + at] = src0.raw()[repeat * 8 + block];
}

namespace transposition {
// Element j of row i goes to row j. Rows of 32-bit elements take two blocks; of 8-bit elements half a block is used.
template <typename TypeT>
void rows(const uint64_t dst[16], const uint64_t src[16], const TransDataTo5HDParams& params, uint64_t repeat)
{
    const uint64_t to_step = repeat * params.dstRepStride * 32, from_step = repeat * params.srcRepStride * 32;
    TypeT values[16][32 / sizeof(TypeT)];
    for (int row = 0; row < 16; row++) std::memcpy(values[row], reinterpret_cast<const void*>(src[row] + from_step), 32);
    for (uint64_t row = 0; row < 16; row++) {
        if constexpr (sizeof(TypeT) == 2) {
            for (uint64_t at = 0; at < 16; at++) reinterpret_cast<TypeT*>(dst[at] + to_step)[row] = values[row][at];
        } else if constexpr (sizeof(TypeT) == 4) {
            for (uint64_t at = 0; at < 8; at++) reinterpret_cast<TypeT*>(dst[2 * at + row / 8] + to_step)[row % 8] = values[row][at];
        } else {
            for (uint64_t at = 0; at < 16; at++)
                reinterpret_cast<TypeT*>(dst[at] + to_step)[(params.dstHighHalf ? 16 : 0) + row] = values[row][(params.srcHighHalf ? 16 : 0) + at];
        }
    }
}
} // namespace transposition

template <typename TypeT>
void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams& params,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    static_assert(sizeof(TypeT) <= 4, "TransDataTo5HD takes elements of 8, 16 or 32 bits");
    for (int row = 0; row < 16; row++)
        if (dstList[row] % 32 || srcList[row] % 32) jumar::ascendc::fail(site, "TransDataTo5HD: row %d is not aligned to 32 bytes", row);
    for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++) transposition::rows<TypeT>(dstList, srcList, params, repeat);
}
template <typename TypeT>
void TransDataTo5HD(const LocalTensor<TypeT> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE], const LocalTensor<TypeT> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                    const TransDataTo5HDParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"TransDataTo5HD", site};
    uint64_t dst[16], src[16];
    if (params.repeatTimes == 0) return;
    for (int row = 0; row < 16; row++) {
        check_access(dstList[row], ((params.repeatTimes - 1ull) * params.dstRepStride + 1) * 32, "dst", call);
        check_access(srcList[row], ((params.repeatTimes - 1ull) * params.srcRepStride + 1) * 32, "src", call);
        dst[row] = reinterpret_cast<uint64_t>(dstList[row].raw());
        src[row] = reinterpret_cast<uint64_t>(srcList[row].raw());
    }
    TransDataTo5HD<TypeT>(dst, src, params, site);
}
// A matrix of 16 x 16 elements of 16 bits.
template <typename TypeT> void Transpose(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(sizeof(TypeT) == 2, "Transpose takes 16 x 16 elements of 16 bits");
    const Call call{"Transpose", site};
    check_access(dst, 512, "dst", call);
    check_access(src, 512, "src", call);
    TypeT values[256];
    std::memcpy(values, src.raw(), 512);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) dst.raw()[column * 16 + row] = values[row * 16 + column];
}

} // namespace AscendC

#endif
