// Comparisons to bits, selection by bits, and packing by bits.
#ifndef JUMAR_ASCENDC_COMPARE_H
#define JUMAR_ASCENDC_COMPARE_H

#include "vector.h"

namespace jumar {
namespace ascendc {

template <typename TypeT> inline bool holds(TypeT a, TypeT b, AscendC::CMPMODE mode)
{
    switch (mode) {
    case AscendC::CMPMODE::LT: return a < b;
    case AscendC::CMPMODE::GT: return a > b;
    case AscendC::CMPMODE::EQ: return a == b;
    case AscendC::CMPMODE::LE: return a <= b;
    case AscendC::CMPMODE::GE: return a >= b;
    default: return a != b;
    }
}

inline void set_bit(uint8_t* bytes, uint64_t bit, bool value)
{
    const uint8_t one = static_cast<uint8_t>(1 << bit % 8);
    bytes[bit / 8] = static_cast<uint8_t>(value ? bytes[bit / 8] | one : bytes[bit / 8] & ~one);
}
inline bool get_bit(const uint8_t* bytes, uint64_t bit)
{
    return bytes[bit / 8] >> bit % 8 & 1;
}

// Compares the first elements. `right` returns the element of the second operand.
template <typename TypeU, typename TypeT, typename Right>
inline void compare_count(const AscendC::LocalTensor<TypeU>& dst, const AscendC::LocalTensor<TypeT>& src0, AscendC::CMPMODE mode, uint64_t count,
                          const Call& call, Right right)
{
    if (count == 0) return;
#if JUMAR_ASCENDC_CHECK
    if (count * sizeof(TypeT) % 256 != 0)
        fail(call.site, "%s: %llu elements have %llu bytes, which have to be a multiple of 256", call.name, static_cast<unsigned long long>(count),
             static_cast<unsigned long long>(count * sizeof(TypeT)));
#endif
    check_access(dst, (count + 7) / 8, "dst", call);
    check_access(src0, count * sizeof(TypeT), "src0", call);
    uint8_t* to = reinterpret_cast<uint8_t*>(dst.raw());
    const TypeT* left = src0.raw();
    for (uint64_t at = 0; at < count; at++) set_bit(to, at, holds(left[at], right(at), mode));
    leave_full_mask();
}

// Compares full repeats. The mask has no effect on these chips.
template <typename TypeT, typename Left, typename Right>
inline void compare_repeats(uint8_t* to, uint64_t repeats, AscendC::CMPMODE mode, Left left, Right right)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    for (uint64_t repeat = 0; repeat < repeats; repeat++)
        for (uint32_t element = 0; element < per; element++)
            set_bit(to, repeat * per + element, holds<TypeT>(left(repeat, element), right(repeat, element), mode));
}

// Returns the bytes that full repeats cover.
template <typename TypeT> inline uint64_t covered_fully(uint64_t repeats, Strides strides)
{
    return repeats == 0 ? 0 : ((repeats - 1) * strides.repeat + 7 * strides.block + 1) * 32;
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT, typename TypeU>
void Compare(const LocalTensor<TypeU>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, CMPMODE cmpMode, uint32_t count,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Compare", site};
    check_access(src1, uint64_t(count) * sizeof(TypeT), "src1", call);
    const TypeT* right = src1.raw();
    compare_count(dst, src0, cmpMode, count, call, [right](uint64_t at) { return right[at]; });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void Compare(const LocalTensor<TypeU>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, CMPMODE cmpMode, const jumar::ascendc::MaskArgument&,
             uint8_t repeatTime, const BinaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Compare", site};
    if (repeatTime == 0) return;
    check_access(dst, uint64_t(repeatTime) * per_repeat(sizeof(TypeT)) / 8, "dst", call);
    check_access(src0, covered_fully<TypeT>(repeatTime, Strides{params.src0BlkStride, params.src0RepStride}), "src0", call);
    check_access(src1, covered_fully<TypeT>(repeatTime, Strides{params.src1BlkStride, params.src1RepStride}), "src1", call);
    const TypeT *left = src0.raw(), *right = src1.raw();
    compare_repeats<TypeT>(
        reinterpret_cast<uint8_t*>(dst.raw()), repeatTime, cmpMode,
        [&](uint64_t repeat, uint32_t element) { return left[index_of<TypeT>(repeat, element, params.src0BlkStride, params.src0RepStride)]; },
        [&](uint64_t repeat, uint32_t element) { return right[index_of<TypeT>(repeat, element, params.src1BlkStride, params.src1RepStride)]; });
}
// Without a destination: one repeat into the compare register.
template <typename TypeT, bool isSetMask = true>
void Compare(const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, CMPMODE cmpMode, const jumar::ascendc::MaskArgument&,
             const BinaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Compare", site};
    check_access(src0, covered_fully<TypeT>(1, Strides{params.src0BlkStride, params.src0RepStride}), "src0", call);
    check_access(src1, covered_fully<TypeT>(1, Strides{params.src1BlkStride, params.src1RepStride}), "src1", call);
    const TypeT *left = src0.raw(), *right = src1.raw();
    compare_repeats<TypeT>(
        reinterpret_cast<uint8_t*>(core().registers.compare), 1, cmpMode,
        [&](uint64_t repeat, uint32_t element) { return left[index_of<TypeT>(repeat, element, params.src0BlkStride, params.src0RepStride)]; },
        [&](uint64_t repeat, uint32_t element) { return right[index_of<TypeT>(repeat, element, params.src1BlkStride, params.src1RepStride)]; });
}

template <typename TypeT, typename TypeU>
void CompareScalar(const LocalTensor<TypeU>& dst, const LocalTensor<TypeT>& src0, const jumar::ascendc::AsIs<TypeT> scalar, CMPMODE cmpMode, uint32_t count,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    compare_count(dst, src0, cmpMode, count, Call{"CompareScalar", site}, [scalar](uint64_t) { return scalar; });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void CompareScalar(const LocalTensor<TypeU>& dst, const LocalTensor<TypeT>& src0, const jumar::ascendc::AsIs<TypeT> scalar, CMPMODE cmpMode,
                   const jumar::ascendc::MaskArgument&, uint8_t repeatTime, const UnaryRepeatParams& params,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"CompareScalar", site};
    if (repeatTime == 0) return;
    check_access(dst, uint64_t(repeatTime) * per_repeat(sizeof(TypeT)) / 8, "dst", call);
    check_access(src0, covered_fully<TypeT>(repeatTime, Strides{params.srcBlkStride, params.srcRepStride}), "src0", call);
    const TypeT* left = src0.raw();
    compare_repeats<TypeT>(
        reinterpret_cast<uint8_t*>(dst.raw()), repeatTime, cmpMode,
        [&](uint64_t repeat, uint32_t element) { return left[index_of<TypeT>(repeat, element, params.srcBlkStride, params.srcRepStride)]; },
        [&](uint64_t, uint32_t) { return scalar; });
}
template <typename TypeT, typename TypeU>
void Compares(const LocalTensor<TypeU>& dst, const LocalTensor<TypeT>& src0, const jumar::ascendc::AsIs<TypeT> scalar, CMPMODE cmpMode, uint32_t count,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    CompareScalar<TypeT, TypeU>(dst, src0, scalar, cmpMode, count, site);
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void Compares(const LocalTensor<TypeU>& dst, const LocalTensor<TypeT>& src0, const jumar::ascendc::AsIs<TypeT> scalar, CMPMODE cmpMode,
              const jumar::ascendc::MaskArgument& mask, uint8_t repeatTime, const UnaryRepeatParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    CompareScalar<TypeT, TypeU, isSetMask>(dst, src0, scalar, cmpMode, mask, repeatTime, params, site);
}

template <typename TypeT> void SetCmpMask(const LocalTensor<TypeT>& src, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    check_access(src, 16, "src", Call{"SetCmpMask", site});
    std::memcpy(core().registers.compare, src.raw(), 16);
}
template <typename TypeT> void GetCmpMask(const LocalTensor<TypeT>& dst, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    check_access(dst, 16, "dst", Call{"GetCmpMask", site});
    std::memcpy(dst.raw(), core().registers.compare, 16);
}

// dst[i] = bit of the mask ? src0[i] : src1[i]. In the first mode one mask serves every repeat, in the others it continues.
namespace selection {
inline uint64_t bit_of(SELMODE mode, uint32_t per, uint64_t repeat, uint32_t element)
{
    return mode == SELMODE::VSEL_CMPMASK_SPR ? element : repeat * per + element;
}
template <typename TypeT, typename TypeU, typename Right>
void first(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& bits, const LocalTensor<TypeT>& src0, SELMODE mode, uint32_t count,
           const jumar::ascendc::Call& call, Right right)
{
    using namespace jumar::ascendc;
    if (count == 0) return;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const uint64_t used = mode == SELMODE::VSEL_CMPMASK_SPR && count > per ? per : count;
    check_access(dst, uint64_t(count) * sizeof(TypeT), "dst", call);
    check_access(bits, (used + 7) / 8, "selMask", call);
    check_access(src0, uint64_t(count) * sizeof(TypeT), "src0", call);
    const uint8_t* mask = reinterpret_cast<const uint8_t*>(bits.raw());
    const TypeT* left = src0.raw();
    for (uint32_t at = 0; at < count; at++) dst.raw()[at] = get_bit(mask, bit_of(mode, per, at / per, at % per)) ? left[at] : right(at);
    leave_full_mask();
}
template <typename TypeT, typename Right>
void repeats(const LocalTensor<TypeT>& dst, const uint8_t* bits, const LocalTensor<TypeT>& src0, SELMODE mode, const jumar::ascendc::Mask& mask,
             uint64_t count, const BinaryRepeatParams& params, const jumar::ascendc::Call& call, Right right)
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    check_access(dst, covered<TypeT>(mask, count, per, Strides{params.dstBlkStride, params.dstRepStride}), "dst", call);
    check_access(src0, covered<TypeT>(mask, count, per, Strides{params.src0BlkStride, params.src0RepStride}), "src0", call);
    TypeT* to = dst.raw();
    const TypeT* left = src0.raw();
    each_element(mask, count, per, [&](uint64_t repeat, uint32_t element) {
        const bool chosen = get_bit(bits, bit_of(mode, per, repeat, element));
        to[index_of<TypeT>(repeat, element, params.dstBlkStride, params.dstRepStride)] =
            chosen ? left[index_of<TypeT>(repeat, element, params.src0BlkStride, params.src0RepStride)]
                   : right(index_of<TypeT>(repeat, element, params.src1BlkStride, params.src1RepStride));
    });
}
template <typename TypeT, typename TypeU>
void check_bits(const LocalTensor<TypeU>& bits, SELMODE mode, const jumar::ascendc::Mask& mask, uint64_t count, const jumar::ascendc::Call& call)
{
    using namespace jumar::ascendc;
    const uint64_t elements = mask.counts ? mask.count : count * per_repeat(sizeof(TypeT));
    const uint64_t used = mode == SELMODE::VSEL_CMPMASK_SPR ? per_repeat(sizeof(TypeT)) : elements;
    if (elements) check_access(bits, (used + 7) / 8, "selMask", call);
}
} // namespace selection

template <typename TypeT, typename TypeU>
void Select(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& selMask, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, SELMODE selMode,
            uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Select", site};
    check_access(src1, uint64_t(count) * sizeof(TypeT), "src1", call);
    const TypeT* right = src1.raw();
    selection::first(dst, selMask, src0, selMode, count, call, [right](uint64_t at) { return right[at]; });
}
template <typename TypeT, typename TypeU>
void Select(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& selMask, const LocalTensor<TypeT>& src0, jumar::ascendc::AsIs<TypeT> src1, SELMODE selMode,
            uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    selection::first(dst, selMask, src0, selMode, count, Call{"Select", site}, [src1](uint64_t) { return src1; });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void Select(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& selMask, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, SELMODE selMode,
            const jumar::ascendc::MaskArgument& argument, uint8_t repeatTime, const BinaryRepeatParams& params,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Select", site};
    const Mask mask = argument.resolve(isSetMask, per_repeat(sizeof(TypeT)));
    selection::check_bits<TypeT>(selMask, selMode, mask, repeatTime, call);
    check_access(src1, covered<TypeT>(mask, repeatTime, per_repeat(sizeof(TypeT)), Strides{params.src1BlkStride, params.src1RepStride}), "src1", call);
    const TypeT* right = src1.raw();
    selection::repeats(dst, reinterpret_cast<const uint8_t*>(selMask.raw()), src0, selMode, mask, repeatTime, params, call,
                       [right](uint64_t at) { return right[at]; });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void Select(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& selMask, const LocalTensor<TypeT>& src0, jumar::ascendc::AsIs<TypeT> src1, SELMODE selMode,
            const jumar::ascendc::MaskArgument& argument, uint8_t repeatTime, const BinaryRepeatParams& params,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Select", site};
    const Mask mask = argument.resolve(isSetMask, per_repeat(sizeof(TypeT)));
    selection::check_bits<TypeT>(selMask, selMode, mask, repeatTime, call);
    selection::repeats(dst, reinterpret_cast<const uint8_t*>(selMask.raw()), src0, selMode, mask, repeatTime, params, call,
                       [src1](uint64_t) { return src1; });
}
// With the bits of the compare register.
template <typename TypeT, SELMODE selMode>
void Select(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, uint8_t repeatTime, const BinaryRepeatParams& params,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(selMode == SELMODE::VSEL_CMPMASK_SPR, "Select without a mask tensor is supported with VSEL_CMPMASK_SPR alone (docs/ascendc.md)");
    const Call call{"Select", site};
    const Mask mask = mask_of_bits(nullptr, false, per_repeat(sizeof(TypeT)));
    check_access(src1, covered<TypeT>(mask, repeatTime, per_repeat(sizeof(TypeT)), Strides{params.src1BlkStride, params.src1RepStride}), "src1", call);
    const TypeT* right = src1.raw();
    selection::repeats(dst, reinterpret_cast<const uint8_t*>(core().registers.compare), src0, selMode, mask, repeatTime, params, call,
                       [right](uint64_t at) { return right[at]; });
}

// Packs the elements that a pattern selects: 1 even, 2 odd, 3 to 6 one of four, 7 all.
namespace packing {
inline bool fixed(uint8_t pattern, uint64_t element)
{
    switch (pattern) {
    case 1: return element % 2 == 0;
    case 2: return element % 2 == 1;
    case 3:
    case 4:
    case 5:
    case 6: return element % 4 == pattern - 3u;
    default: return true;
    }
}
template <typename TypeT, typename Chosen>
void pack(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, bool reduceMode, uint32_t count, const GatherMaskParams& params, uint64_t& kept,
          const jumar::ascendc::Call& call, Chosen chosen)
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const uint32_t here = reduceMode ? count : per;
    uint64_t end = 0;
    complete(src.buffer());
    complete(dst.buffer());
    const TypeT* from = src.raw();
    TypeT* to = dst.raw();
    if (params.repeatTimes && here)
        end = index_of<TypeT>(params.repeatTimes - 1u, here - 1, params.src0BlockStride, params.src0RepeatStride) + 1;
    check_access(src, end * sizeof(TypeT), "src0", call);
    kept = 0;
    for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++) {
        for (uint32_t element = 0; element < here; element++) {
            if (!chosen(repeat, element)) continue;
            check_access(dst, (kept + 1) * sizeof(TypeT), "dst", call);
            to[kept++] = from[index_of<TypeT>(repeat, element, params.src0BlockStride, params.src0RepeatStride)];
        }
    }
    complete_all();
    core().registers.kept = kept;
}
} // namespace packing

template <typename TypeT, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
void GatherMask(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const uint8_t pattern, const bool reduceMode, const uint32_t mask,
                const GatherMaskParams& params, uint64_t& rsvdCnt, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (pattern < 1 || pattern > 7) jumar::ascendc::fail(site, "GatherMask: the pattern is %u; it has to be 1 to 7", pattern);
    packing::pack(dst, src0, reduceMode, mask, params, rsvdCnt, jumar::ascendc::Call{"GatherMask", site},
                  [pattern](uint64_t, uint32_t element) { return packing::fixed(pattern, element); });
}
template <typename TypeT, typename TypeU, GatherMaskMode mode = GatherMaskMode::VERSION_V2>
void GatherMask(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeU>& pattern, const bool reduceMode, const uint32_t mask,
                const GatherMaskParams& params, uint64_t& rsvdCnt, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"GatherMask", site};
    const uint32_t here = reduceMode ? mask : per_repeat(sizeof(TypeT));
    if (params.repeatTimes) check_access(pattern, (params.repeatTimes - 1ull) * params.src1RepeatStride * 32 + (here + 7) / 8, "src1Pattern", call);
    const uint8_t* bits = reinterpret_cast<const uint8_t*>(pattern.raw());
    packing::pack(dst, src0, reduceMode, mask, params, rsvdCnt, call, [bits, &params](uint64_t repeat, uint32_t element) {
        return get_bit(bits + repeat * params.src1RepeatStride * 32, element);
    });
}
inline int64_t GetGatherMaskRemainCount()
{
    return static_cast<int64_t>(jumar::ascendc::core().registers.kept);
}

template <typename TypeT>
template <CMPMODE mode, typename TypeU, typename Right>
void LocalTensor<TypeT>::operator=(const jumar::ascendc::Expression<jumar::ascendc::CompareTag<mode>, LocalTensor<TypeU>, Right>& expression)
{
    Compare(*this, expression.left, expression.right, mode, expression.left.GetSize());
}

} // namespace AscendC

#endif
