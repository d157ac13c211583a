// The vector unit: masks, repeats and strides, and the loops that run an operation over elements.
#ifndef JUMAR_ASCENDC_VECTOR_H
#define JUMAR_ASCENDC_VECTOR_H

#include "tensor.h"

namespace jumar {
namespace ascendc {

// Which elements an instruction works on: bits for each repeat, or a count for all repeats together.
struct Mask {
    uint64_t bits[2];
    uint64_t count;
    bool counts;

    bool has(uint32_t element) const { return bits[element / 64] >> element % 64 & 1; }
};

inline Mask mask_of_bits(const uint64_t* bits, bool set, uint32_t per_repeat)
{
    const Registers& registers = core().registers;
    const uint64_t* from = set ? bits : registers.mask;
    Mask mask{{from[0], from[1]}, 0, registers.counts};
    if (mask.counts) mask.count = from[0];
    if (per_repeat <= 64) {
        mask.bits[1] = 0;
        if (per_repeat < 64) mask.bits[0] &= (uint64_t(1) << per_repeat) - 1;
    }
    return mask;
}

inline Mask mask_of_count(uint64_t count, bool set, uint32_t per_repeat)
{
    if (!set) return mask_of_bits(nullptr, false, per_repeat);
    if (core().registers.counts) return Mask{{0, 0}, count, true};
    if (count > per_repeat) count = per_repeat;
    auto low = [](uint64_t n) { return n >= 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1; };
    return Mask{{low(count), count > 64 ? low(count - 64) : 0}, count, false};
}

// A caller's mask in either form.
struct MaskArgument {
    const uint64_t* bits;
    uint64_t count;

    MaskArgument(const uint64_t* given) : bits(given), count(0) {}
    template <typename I, typename = std::enable_if_t<std::is_integral_v<I> || std::is_enum_v<I>>>
    MaskArgument(I given) : bits(nullptr), count(static_cast<uint64_t>(given))
    {
    }
    Mask resolve(bool set, uint32_t per_repeat) const
    {
        return bits ? mask_of_bits(bits, set, per_repeat) : mask_of_count(count, set, per_repeat);
    }
};

// The elements of a repeat, by the widest type of the instruction.
constexpr uint32_t per_repeat(size_t widest)
{
    return static_cast<uint32_t>(256 / widest);
}

// Repeats and elements that a mask selects.
struct Extent {
    uint64_t repeats;
    uint64_t last_elements;
};

// Where element `element` of repeat `repeat` lies.
template <typename T> constexpr uint64_t index_of(uint64_t repeat, uint32_t element, uint32_t block_stride, uint32_t repeat_stride)
{
    constexpr uint32_t in_block = static_cast<uint32_t>(32 / sizeof(T));
    return (repeat * repeat_stride + element / in_block * block_stride) * in_block + element % in_block;
}

struct Strides {
    uint32_t block;
    uint32_t repeat;
};

// Returns the end, in bytes, of what an operand's elements cover.
template <typename T> inline uint64_t covered(const Mask& mask, uint64_t repeats, uint32_t per, Strides strides)
{
    uint64_t end = 0;
    auto last = [&](uint64_t repeat, uint32_t element) {
        // With a block stride above 0 the last element lies furthest; otherwise the end of a block counts.
        uint32_t in_block = static_cast<uint32_t>(32 / sizeof(T));
        if (strides.block == 0 && element >= in_block) element = in_block - 1;
        uint64_t at = (index_of<T>(repeat, element, strides.block, strides.repeat) + 1) * sizeof(T);
        if (at > end) end = at;
    };
    if (mask.counts) {
        if (mask.count == 0) return 0;
        uint64_t full = mask.count / per, rest = mask.count % per;
        if (full) last(full - 1, per - 1);
        if (rest) last(full, static_cast<uint32_t>(rest - 1));
        return end;
    }
    if (repeats == 0 || (mask.bits[0] | mask.bits[1]) == 0) return 0;
    uint32_t highest = mask.bits[1] ? 127 - static_cast<uint32_t>(__builtin_clzll(mask.bits[1])) : 63 - static_cast<uint32_t>(__builtin_clzll(mask.bits[0]));
    last(repeats - 1, highest);
    return end;
}

// Calls body(repeat, element) for each element that the mask selects, in order.
template <typename Body> inline void each_element(const Mask& mask, uint64_t repeats, uint32_t per, Body body)
{
    if (mask.counts) {
        for (uint64_t done = 0; done < mask.count; done += per) {
            uint32_t here = static_cast<uint32_t>(mask.count - done < per ? mask.count - done : per);
            for (uint32_t element = 0; element < here; element++) body(done / per, element);
        }
        return;
    }
    const uint64_t low = mask.bits[0], high = mask.bits[1];
    const bool is_prefix = (low & (low + 1)) == 0 && (high == 0 || (low == ~uint64_t(0) && (high & (high + 1)) == 0));
    if (is_prefix) {
        const uint32_t count = static_cast<uint32_t>(__builtin_popcountll(low) + __builtin_popcountll(high));
        for (uint64_t repeat = 0; repeat < repeats; repeat++)
            for (uint32_t element = 0; element < count; element++) body(repeat, element);
        return;
    }
    for (uint64_t repeat = 0; repeat < repeats; repeat++)
        for (uint32_t element = 0; element < per; element++)
            if (mask.has(element)) body(repeat, element);
}

// A call with a count leaves normal mode and a full mask behind.
inline void leave_full_mask()
{
    Registers& registers = core().registers;
    registers.mask[0] = registers.mask[1] = ~uint64_t(0);
    registers.counts = false;
}

// dst[i] = operation(src[i]) for the first elements.
template <typename D, typename S, typename Operation>
inline void unary(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src, int64_t count, const Call& call, Operation operation)
{
    if (count <= 0) return;
    check_access(dst, bytes_of<D>(static_cast<uint64_t>(count)), "dst", call);
    check_access(src, bytes_of<S>(static_cast<uint64_t>(count)), "src", call);
    D* to = dst.GetPhyAddr();
    const S* from = src.GetPhyAddr();
    for (int64_t at = 0; at < count; at++) to[at] = operation(from[at]);
    leave_full_mask();
}
template <typename D, typename S, typename Operation>
inline void unary(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src, const MaskArgument& argument, bool set, uint64_t repeats,
                  const AscendC::UnaryRepeatParams& params, const Call& call, Operation operation)
{
    constexpr uint32_t per = per_repeat(sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
    const Mask mask = argument.resolve(set, per);
    const Strides to_strides{params.dstBlkStride, params.dstRepStride}, from_strides{params.srcBlkStride, params.srcRepStride};
    check_access(dst, covered<D>(mask, repeats, per, to_strides), "dst", call);
    check_access(src, covered<S>(mask, repeats, per, from_strides), "src", call);
    D* to = dst.GetPhyAddr();
    const S* from = src.GetPhyAddr();
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        to[index_of<D>(repeat, element, to_strides.block, to_strides.repeat)] =
            operation(from[index_of<S>(repeat, element, from_strides.block, from_strides.repeat)]);
    });
}

// dst[i] = operation(src0[i], src1[i], dst[i]) for the first elements.
template <typename D, typename S, typename V, typename Operation>
inline void binary(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src0, const AscendC::LocalTensor<V>& src1, int64_t count,
                   const Call& call, Operation operation)
{
    if (count <= 0) return;
    check_access(dst, bytes_of<D>(static_cast<uint64_t>(count)), "dst", call);
    check_access(src0, bytes_of<S>(static_cast<uint64_t>(count)), "src0", call);
    check_access(src1, bytes_of<V>(static_cast<uint64_t>(count)), "src1", call);
    D* to = dst.GetPhyAddr();
    const S* left = src0.GetPhyAddr();
    const V* right = src1.GetPhyAddr();
    for (int64_t at = 0; at < count; at++) to[at] = operation(left[at], right[at], to[at]);
    leave_full_mask();
}
template <typename D, typename S, typename V, typename Operation>
inline void binary(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src0, const AscendC::LocalTensor<V>& src1,
                   const MaskArgument& argument, bool set, uint64_t repeats, const AscendC::BinaryRepeatParams& params, const Call& call,
                   Operation operation)
{
    constexpr uint32_t per = per_repeat(sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
    const Mask mask = argument.resolve(set, per);
    const Strides to_strides{params.dstBlkStride, params.dstRepStride}, left_strides{params.src0BlkStride, params.src0RepStride},
        right_strides{params.src1BlkStride, params.src1RepStride};
    check_access(dst, covered<D>(mask, repeats, per, to_strides), "dst", call);
    check_access(src0, covered<S>(mask, repeats, per, left_strides), "src0", call);
    check_access(src1, covered<V>(mask, repeats, per, right_strides), "src1", call);
    D* to = dst.GetPhyAddr();
    const S* left = src0.GetPhyAddr();
    const V* right = src1.GetPhyAddr();
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        D& result = to[index_of<D>(repeat, element, to_strides.block, to_strides.repeat)];
        result = operation(left[index_of<S>(repeat, element, left_strides.block, left_strides.repeat)],
                           right[index_of<V>(repeat, element, right_strides.block, right_strides.repeat)], result);
    });
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename T, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(const uint64_t high, const uint64_t low)
{
    jumar::ascendc::Registers& registers = jumar::ascendc::core().registers;
    registers.mask[0] = low;
    registers.mask[1] = high;
}
template <typename T, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(int32_t length)
{
    using namespace jumar::ascendc;
    Registers& registers = core().registers;
    if (mode == MaskMode::COUNTER || registers.counts) {
        registers.mask[0] = static_cast<uint64_t>(length);
        registers.mask[1] = 0;
        return;
    }
    const Mask mask = mask_of_count(static_cast<uint64_t>(length), true, per_repeat(sizeof(T)));
    registers.mask[0] = mask.bits[0];
    registers.mask[1] = mask.bits[1];
}
inline void SetMaskCount()
{
    jumar::ascendc::core().registers.counts = true;
}
inline void SetMaskNorm()
{
    jumar::ascendc::core().registers.counts = false;
}
inline void ResetMask()
{
    jumar::ascendc::Registers& registers = jumar::ascendc::core().registers;
    registers.mask[0] = registers.mask[1] = ~uint64_t(0);
}
class AscendCUtils {
public:
    template <typename T> static void SetMask(const uint64_t& high, const uint64_t& low) { SetVectorMask<T>(high, low); }
    template <typename T> static void SetMask(int32_t length) { SetVectorMask<T>(length); }
    static void ResetMask() { AscendC::ResetMask(); }
    template <typename T> static int32_t GetC0Count(const int32_t) { return static_cast<int32_t>(32 / sizeof(T)); }
};

} // namespace AscendC

#endif
