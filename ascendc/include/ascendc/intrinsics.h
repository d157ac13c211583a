// Intrinsics of the compiler that copy and add by plain addresses. Their operands are not checked.
#ifndef JUMAR_ASCENDC_INTRINSICS_H
#define JUMAR_ASCENDC_INTRINSICS_H

#include "copy.h"
#include "vector.h"

// Lengths and gaps have units of 32 bytes.
template <typename TypeD, typename TypeS>
inline void copy_gm_to_ubuf(TypeD* dst, TypeS* src, uint8_t, uint16_t blocks, uint16_t length, uint16_t source_gap, uint16_t target_gap,
                            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (!blocks) return;
    jumar::ascendc::check_global(src, (blocks * (length + source_gap + 0ull) - source_gap) * 32, "src", {"copy_gm_to_ubuf", site, PIPE_MTE2});
    for (uint64_t block = 0; block < blocks; block++)
        std::memcpy(reinterpret_cast<uint8_t*>(dst) + block * (length + target_gap) * 32ull,
                    reinterpret_cast<const uint8_t*>(src) + block * (length + source_gap) * 32ull, length * 32ull);
}
template <typename TypeD, typename TypeS>
inline void copy_ubuf_to_gm(TypeD* dst, TypeS* src, uint8_t, uint16_t blocks, uint16_t length, uint16_t source_gap, uint16_t target_gap,
                            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    const jumar::ascendc::Call call{"copy_ubuf_to_gm", site, PIPE_MTE3};
    if (!blocks) return;
    jumar::ascendc::check_global(dst, (blocks * (length + target_gap + 0ull) - target_gap) * 32, "dst", call);
    for (uint64_t block = 0; block < blocks; block++)
        jumar::ascendc::store_global<std::remove_const_t<TypeS>>(reinterpret_cast<uint8_t*>(dst) + block * (length + target_gap) * 32ull,
                                                             reinterpret_cast<const uint8_t*>(src) + block * (length + source_gap) * 32ull, length * 32ull, call);
}
template <typename TypeT>
inline void vadd(TypeT* dst, TypeT* src0, TypeT* src1, uint8_t repeats, uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat,
                 uint8_t src1_repeat)
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    // The mask is that of the registers.
    const Mask mask = MaskArgument(AscendC::MASK_PLACEHOLDER).resolve(false, per);
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        const TypeT left = src0[index_of<TypeT>(repeat, element, src0_block, src0_repeat)], right = src1[index_of<TypeT>(repeat, element, src1_block, src1_repeat)];
        dst[index_of<TypeT>(repeat, element, dst_block, dst_repeat)] = wrapping_add(left, right);
    });
}

#endif
