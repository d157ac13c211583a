// Reductions: of every block, of every repeat, and of a tensor.
#ifndef JUMAR_ASCENDC_REDUCE_H
#define JUMAR_ASCENDC_REDUCE_H

#include "arithmetic.h"

namespace jumar {
namespace ascendc {

using AscendC::ReduceOrder;
using AscendC::ReduceType;

// Adds neighbours until one value is left, as the card does. Each addition rounds.
template <typename TypeT> inline TypeT sum_tree(TypeT* values, uint32_t count)
{
    if (count == 0) return TypeT(0);
    while (count > 1) {
        const uint32_t half_count = count / 2;
        for (uint32_t at = 0; at < half_count; at++) values[at] = wrapping_add(values[2 * at], values[2 * at + 1]);
        if (count % 2) values[half_count] = values[count - 1];
        count = (count + 1) / 2;
    }
    return values[0];
}

template <typename TypeT> struct Extreme {
    TypeT value;
    uint64_t index;
    bool any;
};

template <typename TypeT> inline void take(Extreme<TypeT>& best, TypeT value, uint64_t index, ReduceType type)
{
    const bool better = !best.any || (best.value == best.value && (value != value || (type == ReduceType::MAX ? value > best.value : value < best.value)));
    if (better) best = {value, index, true};
}

// The bits of an index, as an element of T.
template <typename TypeT> inline TypeT index_as(uint64_t index)
{
    using Bits = std::conditional_t<sizeof(TypeT) == 2, uint16_t, std::conditional_t<sizeof(TypeT) == 4, uint32_t, std::conditional_t<sizeof(TypeT) == 1, uint8_t, uint64_t>>>;
    const Bits bits = static_cast<Bits>(index);
    TypeT value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <typename TypeT> constexpr uint32_t element_alignment = static_cast<uint32_t>(sizeof(TypeT));

// Collects the selected elements of a repeat; what the mask leaves out counts as 0.
template <typename TypeT>
inline void repeat_values(const TypeT* from, const Mask& mask, uint64_t repeat, Strides strides, uint32_t per, uint32_t most, TypeT* values)
{
    for (uint32_t element = 0; element < per; element++)
        values[element] =
            element < most && (mask.counts || mask.has(element)) ? from[index_of<TypeT>(repeat, element, strides.block, strides.repeat)] : TypeT(0);
}

// Repeats, and elements of the last one, in both mask modes.
inline uint64_t repeats_of(const Mask& mask, uint64_t repeats, uint32_t per)
{
    return mask.counts ? (mask.count + per - 1) / per : repeats;
}
inline uint32_t elements_of(const Mask& mask, uint64_t repeat, uint32_t per)
{
    if (!mask.counts) return per;
    const uint64_t rest = mask.count - repeat * per;
    return static_cast<uint32_t>(rest < per ? rest : per);
}

// Calls store(repeat, sum) for each repeat.
template <typename TypeT, typename Store>
inline void sum_repeats(const AscendC::LocalTensor<TypeT>& src, const Mask& mask, uint64_t repeats, Strides strides, const Call& call, Store store)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    check_access(src, covered<TypeT>(mask, repeats, per, strides), "src", call);
    need_no_padding(src, mask, repeats, per, strides, call);
    TypeT values[per];
    TypeT last = TypeT(0);
    for (uint64_t repeat = 0; repeat < repeats_of(mask, repeats, per); repeat++) {
        repeat_values(src.raw(), mask, repeat, strides, per, elements_of(mask, repeat, per), values);
        last = sum_tree(values, per);
        store(repeat, last);
        core().registers.sum = static_cast<double>(static_cast<Wide<TypeT>>(last)) + (repeat ? core().registers.sum : 0);
    }
}

// Calls store(repeat, extreme) for each repeat; the index is that within the repeat.
template <typename TypeT, typename Store>
inline void extreme_repeats(const AscendC::LocalTensor<TypeT>& src, const Mask& mask, uint64_t repeats, Strides strides, ReduceType type, const Call& call,
                            Store store)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    check_access(src, covered<TypeT>(mask, repeats, per, strides), "src", call);
    need_no_padding(src, mask, repeats, per, strides, call);
    const TypeT* from = src.raw();
    Extreme<TypeT> all{TypeT(0), 0, false};
    for (uint64_t repeat = 0; repeat < repeats_of(mask, repeats, per); repeat++) {
        Extreme<TypeT> best{TypeT(0), 0, false};
        const uint32_t most = elements_of(mask, repeat, per);
        for (uint32_t element = 0; element < most; element++) {
            if (!mask.counts && !mask.has(element)) continue;
            take(best, from[index_of<TypeT>(repeat, element, strides.block, strides.repeat)], element, type);
        }
        if (!best.any) continue;
        take(all, best.value, repeat * per + best.index, type);
        store(repeat, best);
    }
    if (all.any) {
        core().registers.extreme = static_cast<double>(static_cast<Wide<TypeT>>(all.value));
        core().registers.extreme_index = all.index;
    }
}

// One result for each block of 32 bytes: 8 for each repeat.
template <typename TypeT>
inline void reduce_blocks(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const Mask& mask, uint64_t repeats,
                          int32_t dst_stride, Strides strides, ReduceType type, const Call& call)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeT)), in_block = 32 / sizeof(TypeT);
    check_access(src, covered<TypeT>(mask, repeats, per, strides), "src", call);
    need_no_padding(src, mask, repeats, per, strides, call);
    complete(dst.buffer());
    const TypeT* from = src.raw();
    TypeT* to = dst.raw();
    for (uint64_t repeat = 0; repeat < repeats_of(mask, repeats, per); repeat++) {
        const uint32_t most = elements_of(mask, repeat, per);
        for (uint32_t block = 0; block < 8; block++) {
            TypeT values[in_block];
            bool any = false;
            Extreme<TypeT> best{TypeT(0), 0, false};
            for (uint32_t at = 0; at < in_block; at++) {
                const uint32_t element = block * in_block + at;
                const bool selected = element < most && (mask.counts || mask.has(element));
                values[at] = selected ? from[index_of<TypeT>(repeat, element, strides.block, strides.repeat)] : TypeT(0);
                any |= selected;
                if (selected && type != ReduceType::SUM) take(best, values[at], element, type);
            }
            if (!any) continue;
            const uint64_t result = repeat * static_cast<uint64_t>(dst_stride) * 8 + block;
            check_access(dst, (result + 1) * sizeof(TypeT), "dst", call, element_alignment<TypeT>);
            to[result] = type == ReduceType::SUM ? sum_tree(values, in_block) : best.value;
        }
    }
}

template <typename TypeT>
inline void sum_of_repeats(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const Mask& mask, uint64_t repeats, int32_t dst_stride,
                      Strides strides, const Call& call)
{
    sum_repeats(src, mask, repeats, strides, call, [&](uint64_t repeat, TypeT sum) {
        const uint64_t at = repeat * static_cast<uint64_t>(dst_stride);
        check_access(dst, (at + 1) * sizeof(TypeT), "dst", call, element_alignment<TypeT>);
        dst.raw()[at] = sum;
    });
}

template <typename TypeT>
inline void extreme_of_repeats(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const Mask& mask, uint64_t repeats, int32_t dst_stride,
                          Strides strides, ReduceType type, ReduceOrder order, const Call& call)
{
    extreme_repeats(src, mask, repeats, strides, type, call, [&](uint64_t repeat, const Extreme<TypeT>& best) {
        const bool pair = order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
        const uint64_t at = repeat * static_cast<uint64_t>(dst_stride) * (pair ? 2 : 1);
        // An index alone takes four bytes.
        const uint64_t bytes = order == ReduceOrder::ORDER_ONLY_INDEX ? (repeat * static_cast<uint64_t>(dst_stride) + 1) * 4 : (at + (pair ? 2 : 1)) * sizeof(TypeT);
        check_access(dst, bytes, "dst", call, element_alignment<TypeT>);
        TypeT* to = dst.raw();
        switch (order) {
        case ReduceOrder::ORDER_VALUE_INDEX:
            to[at] = best.value;
            to[at + 1] = index_as<TypeT>(best.index);
            break;
        case ReduceOrder::ORDER_INDEX_VALUE:
            to[at] = index_as<TypeT>(best.index);
            to[at + 1] = best.value;
            break;
        case ReduceOrder::ORDER_ONLY_VALUE: to[at] = best.value; break;
        default: {
            const uint32_t index = static_cast<uint32_t>(best.index);
            std::memcpy(reinterpret_cast<uint8_t*>(to) + repeat * static_cast<uint64_t>(dst_stride) * 4, &index, 4);
        }
        }
    });
}

// All elements to one: the repeats' sums are added in order, or by a tree again.
template <typename TypeT>
inline void reduce_sum(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const AscendC::LocalTensor<TypeT>& tmp, const Mask& mask,
                       uint64_t repeats, Strides strides, bool in_order, const Call& call)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    check_access(dst, sizeof(TypeT), "dst", call, element_alignment<TypeT>);
    TypeT sum = TypeT(0);
    const uint64_t all = repeats_of(mask, repeats, per);
    if (all == 0) return;
    if (in_order) {
        sum_repeats(src, mask, repeats, strides, call, [&](uint64_t repeat, TypeT value) { sum = repeat ? wrapping_add(sum, value) : value; });
    } else {
        constexpr uint64_t block = 32 / sizeof(TypeT);
        check_access(tmp, (all + block - 1) / block * block * sizeof(TypeT), "sharedTmpBuffer", call);
        TypeT* partial = tmp.raw();
        sum_repeats(src, mask, repeats, strides, call, [&](uint64_t repeat, TypeT value) { partial[repeat] = value; });
        uint64_t left = all;
        while (left > 1) {
            const uint64_t groups = (left + per - 1) / per;
            for (uint64_t group = 0; group < groups; group++) {
                TypeT values[per];
                for (uint32_t at = 0; at < per; at++) values[at] = group * per + at < left ? partial[group * per + at] : TypeT(0);
                partial[group] = sum_tree(values, per);
            }
            left = groups;
        }
        sum = partial[0];
    }
    dst.raw()[0] = sum;
    core().registers.sum = static_cast<double>(static_cast<Wide<TypeT>>(sum));
}

template <typename TypeT>
inline void reduce_extreme(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const AscendC::LocalTensor<TypeT>& tmp, const Mask& mask,
                           uint64_t repeats, Strides strides, bool with_index, ReduceType type, const Call& call)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    constexpr uint64_t block = 32 / sizeof(TypeT);
    const uint64_t all = repeats_of(mask, repeats, per);
    if (all == 0) return;
    auto aligned = [](uint64_t n) { return (n + block - 1) / block * block; };
    uint64_t needed = aligned(2 * all);
    if (with_index)
        for (uint64_t pairs = all; pairs > 1;) {
            pairs = (2 * pairs + per - 1) / per;
            needed += aligned(2 * pairs);
        }
    check_access(tmp, needed * sizeof(TypeT), "sharedTmpBuffer", call);
    check_access(dst, (with_index ? 2 : 1) * sizeof(TypeT), "dst", call, element_alignment<TypeT>);
    Extreme<TypeT> best{TypeT(0), 0, false};
    extreme_repeats(src, mask, repeats, strides, type, call,
                    [&](uint64_t repeat, const Extreme<TypeT>& here) {
                        take(best, here.value, repeat * (strides.repeat * block) + (here.index / block * strides.block * block + here.index % block), type);
                    });
    if (!best.any) return;
    dst.raw()[0] = best.value;
    if (with_index) dst.raw()[1] = index_as<TypeT>(best.index);
    core().registers.extreme_index = best.index;
}

inline Mask mask_of_first(uint64_t count)
{
    return Mask{{0, 0}, count, true};
}
inline Strides strides_of(int32_t block, int32_t repeat)
{
    return Strides{static_cast<uint32_t>(block), static_cast<uint32_t>(repeat)};
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

#define JUMAR_ASCENDC_REDUCE_BLOCK(Name, type)                                                                                                       \
    template <typename TypeT, bool isSetMask = true>                                                                                                 \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t repeat, const jumar::ascendc::MaskArgument& mask,          \
              const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,                                                    \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        reduce_blocks(dst, src, mask.resolve(isSetMask, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeat), dstRepStride,                     \
                      strides_of(srcBlkStride, srcRepStride), type, Call{#Name, site});                                                              \
    }
JUMAR_ASCENDC_REDUCE_BLOCK(BlockReduceSum, ReduceType::SUM)
JUMAR_ASCENDC_REDUCE_BLOCK(BlockReduceMax, ReduceType::MAX)
JUMAR_ASCENDC_REDUCE_BLOCK(BlockReduceMin, ReduceType::MIN)

template <ReduceType reduceType, typename TypeT, typename TypeU, bool isSetMask = true>
void ReduceDataBlock(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime,
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    reduce_blocks(dst, src, mask.resolve(isSetMask, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime), dstRepStride,
                  strides_of(srcBlkStride, srcRepStride), reduceType, Call{"ReduceDataBlock", site});
}

template <typename TypeT, bool isSetMask = true>
void WholeReduceSum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime,
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    sum_of_repeats(dst, src, mask.resolve(isSetMask, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime), dstRepStride,
              strides_of(srcBlkStride, srcRepStride), Call{"WholeReduceSum", site});
}
template <typename TypeT, bool isSetMask = true>
void WholeReduceMax(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime,
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    extreme_of_repeats(dst, src, mask.resolve(isSetMask, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime), dstRepStride,
                  strides_of(srcBlkStride, srcRepStride), ReduceType::MAX, order, Call{"WholeReduceMax", site});
}
template <typename TypeT, bool isSetMask = true>
void WholeReduceMin(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime,
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    extreme_of_repeats(dst, src, mask.resolve(isSetMask, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime), dstRepStride,
                  strides_of(srcBlkStride, srcRepStride), ReduceType::MIN, order, Call{"WholeReduceMin", site});
}
template <typename TypeT, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t repeatTime, const int32_t elementsInOneRepeat,
                     const int32_t, const int32_t srcBlkStride, const int32_t dstRepStride, const int32_t srcRepStride,
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    sum_of_repeats(dst, src, MaskArgument(elementsInOneRepeat).resolve(isSetMask, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime), dstRepStride,
              strides_of(srcBlkStride, srcRepStride), Call{"RepeatReduceSum", site});
}
// Sums neighbours: half as many results as elements.
template <typename TypeT, bool isSetMask = true>
void PairReduceSum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t repeatTime, const jumar::ascendc::MaskArgument& argument,
                   const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const Call call{"PairReduceSum", site};
    const Strides strides = strides_of(srcBlkStride, srcRepStride);
    const Mask mask = argument.resolve(isSetMask, per);
    const uint64_t repeats = repeats_of(mask, static_cast<uint64_t>(repeatTime), per);
    check_access(src, covered<TypeT>(mask, static_cast<uint64_t>(repeatTime), per, strides), "src", call);
    need_no_padding(src, mask, static_cast<uint64_t>(repeatTime), per, strides, call);
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
        TypeT values[per];
        const uint32_t most = elements_of(mask, repeat, per);
        repeat_values(src.raw(), mask, repeat, strides, per, most, values);
        for (uint32_t pair = 0; pair < per / 2; pair++) {
            const bool first = 2 * pair < most && (mask.counts || mask.has(2 * pair));
            const bool second = 2 * pair + 1 < most && (mask.counts || mask.has(2 * pair + 1));
            if (!first && !second) continue;
            const uint64_t at = repeat * static_cast<uint64_t>(dstRepStride) * (per / 2) + pair;
            check_access(dst, (at + 1) * sizeof(TypeT), "dst", call);
            dst.raw()[at] = wrapping_add(values[2 * pair], values[2 * pair + 1]);
        }
    }
}

template <typename TypeT, bool isSetMask = true>
void ReduceSum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>& sharedTmpBuffer, const int32_t count,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    if (count <= 0) return;
    reduce_sum(dst, src, sharedTmpBuffer, mask_of_first(static_cast<uint64_t>(count)), 0, Strides{1, 8}, JUMAR_ASCENDC_CHIP != 2002, Call{"ReduceSum", site});
}
template <typename TypeT>
void ReduceSum(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>& sharedTmpBuffer, const jumar::ascendc::MaskArgument& mask,
               const int32_t repeatTime, const int32_t srcRepStride, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    reduce_sum(dst, src, sharedTmpBuffer, mask.resolve(true, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime), strides_of(1, srcRepStride), false,
               Call{"ReduceSum", site});
}
#define JUMAR_ASCENDC_REDUCE_EXTREME(Name, type)                                                                                                     \
    template <typename TypeT>                                                                                                                        \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>& sharedTmpBuffer, const int32_t count,          \
              bool calIndex = false, jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                       \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        if (count <= 0) return;                                                                                                                      \
        reduce_extreme(dst, src, sharedTmpBuffer, mask_of_first(static_cast<uint64_t>(count)), 0, Strides{1, 8}, calIndex, type,                     \
                       Call{#Name, site});                                                                                                           \
    }                                                                                                                                                \
    template <typename TypeT>                                                                                                                        \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<TypeT>& sharedTmpBuffer,                               \
              const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,                 \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        reduce_extreme(dst, src, sharedTmpBuffer, mask.resolve(true, per_repeat(sizeof(TypeT))), static_cast<uint64_t>(repeatTime),                  \
                       strides_of(1, srcRepStride), calIndex, type, Call{#Name, site});                                                              \
    }
JUMAR_ASCENDC_REDUCE_EXTREME(ReduceMax, ReduceType::MAX)
JUMAR_ASCENDC_REDUCE_EXTREME(ReduceMin, ReduceType::MIN)

template <typename TypeT> TypeT GetAccVal()
{
    jumar::ascendc::complete_all();
    return static_cast<TypeT>(jumar::ascendc::core().registers.sum);
}
template <typename TypeT> TypeT GetReduceRepeatSumSpr()
{
    return GetAccVal<TypeT>();
}
template <typename TypeT> void GetReduceMaxMinCount(TypeT& value, TypeT& index)
{
    jumar::ascendc::complete_all();
    value = static_cast<TypeT>(jumar::ascendc::core().registers.extreme);
    index = jumar::ascendc::index_as<TypeT>(jumar::ascendc::core().registers.extreme_index);
}
template <typename TypeT> void GetReduceMaxMinCount(TypeT& value)
{
    jumar::ascendc::complete_all();
    value = static_cast<TypeT>(jumar::ascendc::core().registers.extreme);
}
template <typename TypeT> void GetReduceRepeatMaxMinSpr(TypeT& value, TypeT& index)
{
    GetReduceMaxMinCount(value, index);
}
template <typename TypeT> void GetReduceRepeatMaxMinSpr(TypeT& value)
{
    GetReduceMaxMinCount(value);
}

} // namespace AscendC

#endif
