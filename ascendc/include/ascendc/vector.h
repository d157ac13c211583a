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
    template <typename TypeI, typename = std::enable_if_t<std::is_integral_v<TypeI> || std::is_enum_v<TypeI>>>
    MaskArgument(TypeI given) : bits(nullptr), count(static_cast<uint64_t>(given))
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
template <typename TypeT> constexpr uint64_t index_of(uint64_t repeat, uint32_t element, uint32_t block_stride, uint32_t repeat_stride)
{
    constexpr uint32_t in_block = static_cast<uint32_t>(32 / sizeof(TypeT));
    return (repeat * repeat_stride + element / in_block * block_stride) * in_block + element % in_block;
}

struct Strides {
    uint32_t block;
    uint32_t repeat;
};

// Returns the end, in bytes, of what an operand's elements cover.
template <typename TypeT> inline uint64_t covered(const Mask& mask, uint64_t repeats, uint32_t per, Strides strides)
{
    uint64_t end = 0;
    auto last = [&](uint64_t repeat, uint32_t element) {
        // With a block stride above 0 the last element lies furthest; otherwise the end of a block counts.
        uint32_t in_block = static_cast<uint32_t>(32 / sizeof(TypeT));
        if (strides.block == 0 && element >= in_block) element = in_block - 1;
        uint64_t at = (index_of<TypeT>(repeat, element, strides.block, strides.repeat) + 1) * sizeof(TypeT);
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

// Calls body(index) for the first elements. Operands are the same memory or do not overlap, so the calls of a group are independent, and a
// compiler can use vector instructions without tests of addresses. A group of constant length needs no more than -O2 for that.
#if defined(__clang__)
#define JUMAR_ASCENDC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define JUMAR_ASCENDC_INDEPENDENT _Pragma("GCC ivdep")
#endif
template <typename Body> inline void each_index(int64_t count, Body body)
{
    constexpr int64_t GROUP = 64;
    int64_t begin = 0;
    for (; begin + GROUP <= count; begin += GROUP) {
        JUMAR_ASCENDC_INDEPENDENT
        for (int64_t at = 0; at < GROUP; at++) body(begin + at);
    }
    for (int64_t at = 0; at < GROUP && begin + at < count; at++) body(begin + at);
}

// An operation on halves that has the same bits if it calculates in float and rounds its result once.
template <typename Function> struct InFloat : Function {
    using Function::operator();
};
template <typename Function> constexpr InFloat<Function> in_float(Function function)
{
    return InFloat<Function>{function};
}
// Any other operation.
template <typename Function> constexpr Function in_type(Function function)
{
    return function;
}
template <typename Operation> constexpr bool is_in_float = false;
template <typename Function> constexpr bool is_in_float<InFloat<Function>> = true;

#if defined(__F16C__)
typedef uint16_t EightHalves __attribute__((vector_size(16)));
typedef float EightFloats __attribute__((vector_size(32)));

// Converts eight elements. The header of the instructions' functions would take a quarter of the time in which a small kernel is compiled.
inline void eight_to_float(float* to, const half* from)
{
    EightHalves halves;
    EightFloats floats;
    std::memcpy(&halves, from, sizeof halves);
    asm("vcvtph2ps %1, %0" : "=x"(floats) : "x"(halves));
    std::memcpy(to, &floats, sizeof floats);
}

// Rounds to the nearest half, and to an even one of two.
inline void eight_to_half(half* to, const float* from)
{
    EightHalves halves;
    EightFloats floats;
    std::memcpy(&floats, from, sizeof floats);
    asm("vcvtps2ph $0, %1, %0" : "=x"(halves) : "x"(floats));
    std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
}
#endif

// Stores operation(left[i], right[i]) for the first elements. GCC 12 does not convert halves with vector instructions by itself.
template <typename Operation>
inline void each_half(half* to, const half* left, const half* right, int64_t count, Operation operation)
{
    constexpr int64_t GROUP = 64;
    int64_t begin = 0;
#if defined(__F16C__)
    alignas(32) float x[GROUP], y[GROUP];
    const auto widen = [](float* floats, const half* halves) {
        for (int64_t at = 0; at < GROUP; at += 8) eight_to_float(floats + at, halves + at);
    };
    for (; begin + GROUP <= count; begin += GROUP) {
        widen(x, left + begin);
        widen(y, right + begin);
        JUMAR_ASCENDC_INDEPENDENT
        for (int64_t at = 0; at < GROUP; at++) x[at] = operation(x[at], y[at]);
        for (int64_t at = 0; at < GROUP; at += 8) eight_to_half(to + begin + at, x + at);
    }
#endif
    to += begin, left += begin, right += begin;
    const uint64_t rest = static_cast<uint64_t>(count - begin);
    for (uint64_t at = 0; at < rest; at++) to[at] = static_cast<half>(operation(static_cast<float>(left[at]), static_cast<float>(right[at])));
}
#undef JUMAR_ASCENDC_INDEPENDENT

// Whether an operand's elements follow each other, over all repeats.
template <typename TypeT> constexpr bool is_contiguous(Strides strides, uint32_t per)
{
    return strides.block == 1 && strides.repeat * 32ull == per * sizeof(TypeT);
}
// Whether two operands of at most so many bytes are the same memory, or do not overlap. Later repeats may read the results of earlier ones.
inline bool is_independent(const void* to, const void* from, uint64_t bytes)
{
    const uintptr_t a = reinterpret_cast<uintptr_t>(to), b = reinterpret_cast<uintptr_t>(from);
    return a == b || (a < b ? b - a : a - b) >= bytes;
}
// Returns the number of elements if they are the first ones of operands without gaps, and otherwise -1.
inline int64_t first_elements(const Mask& mask, uint64_t repeats, uint32_t per, bool contiguous)
{
    if (!contiguous) return -1;
    if (mask.counts) return static_cast<int64_t>(mask.count);
    const uint64_t high = per == 128 ? ~uint64_t(0) : 0, low = per >= 64 ? ~uint64_t(0) : (uint64_t(1) << per) - 1;
    if (per > 128 || mask.bits[0] != low || (per == 128 && mask.bits[1] != high)) return -1;
    return static_cast<int64_t>(repeats * per);
}

// dst[i] = operation(src[i]), and dst[i] = operation(src0[i], src1[i], dst[i]).
template <typename TypeD, typename TypeS, typename Operation> inline void unary_elements(TypeD* to, const TypeS* from, int64_t count, Operation operation)
{
    if constexpr (is_half<TypeD> && is_half<TypeS> && is_in_float<Operation>)
        each_half(to, from, from, count, [operation](float x, float) { return operation(x); });
    else each_index(count, [=](int64_t at) { to[at] = operation(from[at]); });
}
template <typename TypeD, typename TypeS, typename TypeV, typename Operation>
inline void binary_elements(TypeD* to, const TypeS* left, const TypeV* right, int64_t count, Operation operation)
{
    if constexpr (is_half<TypeD> && is_half<TypeS> && is_half<TypeV> && is_in_float<Operation>)
        each_half(to, left, right, count, [operation](float x, float y) { return operation(x, y, 0.0f); });
    else each_index(count, [=](int64_t at) { to[at] = operation(left[at], right[at], to[at]); });
}

// Fails if elements that a reduction reads are padding.
template <typename TypeT>
inline void need_no_padding([[maybe_unused]] const AscendC::LocalTensor<TypeT>& src, [[maybe_unused]] const Mask& mask, [[maybe_unused]] uint64_t repeats,
                            [[maybe_unused]] uint32_t per, [[maybe_unused]] Strides strides, [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK >= 2
    if (!PaddingFlow::is_needed() || memory_of(src.buffer()->position) != MEMORY_UB) return;
    const uint8_t* base = core().memories[MEMORY_UB].base(MEMORY_UB);
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        const uint8_t* at = static_cast<const uint8_t*>(src.address()) + index_of<TypeT>(repeat, element, strides.block, strides.repeat) * sizeof(TypeT);
        const uint64_t begin = static_cast<uint64_t>(at - base);
        pipe_order(core())->need_no_padding(begin, begin + sizeof(TypeT), *src.buffer(), base, "src", call);
    });
#endif
}

// dst[i] = operation(src[i]) for the first elements.
template <typename TypeD, typename TypeS, typename Operation>
inline void unary(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<TypeS>& src, int64_t count, const Call& call, Operation operation)
{
    if (count <= 0) return;
    PaddingFlow padding;
    if (PaddingFlow::is_needed())
        for (uint64_t at = 0; at < static_cast<uint64_t>(count); at++) padding.from(src, at, at);
    check_access(dst, bytes_of<TypeD>(static_cast<uint64_t>(count)), "dst", call);
    padding.into(dst);
    const TypeS* from = check_source(src, bytes_of<TypeS>(static_cast<uint64_t>(count)), "src", call);
    TypeD* to = dst.raw();
    unary_elements(to, from, count, operation);
    leave_full_mask();
}
template <typename TypeD, typename TypeS, typename Operation>
inline void unary(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<TypeS>& src, const MaskArgument& argument, bool set, uint64_t repeats,
                  const AscendC::UnaryRepeatParams& params, const Call& call, Operation operation)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeD) > sizeof(TypeS) ? sizeof(TypeD) : sizeof(TypeS));
    const Mask mask = argument.resolve(set, per);
    const Strides to_strides{params.dstBlkStride, params.dstRepStride}, from_strides{params.srcBlkStride, params.srcRepStride};
    PaddingFlow padding;
    if (PaddingFlow::is_needed())
        each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
            padding.from(src, index_of<TypeS>(repeat, element, from_strides.block, from_strides.repeat),
                         index_of<TypeD>(repeat, element, to_strides.block, to_strides.repeat));
        });
    check_access(dst, covered<TypeD>(mask, repeats, per, to_strides), "dst", call);
    padding.into(dst);
    check_access(src, covered<TypeS>(mask, repeats, per, from_strides), "src", call);
    TypeD* to = dst.raw();
    const TypeS* from = src.raw();
    const int64_t first = first_elements(mask, repeats, per, is_contiguous<TypeD>(to_strides, per) && is_contiguous<TypeS>(from_strides, per));
    const uint64_t bytes = static_cast<uint64_t>(first) * (256 / per);
    if (first >= 0 && is_independent(to, from, bytes)) return unary_elements(to, from, first, operation);
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        to[index_of<TypeD>(repeat, element, to_strides.block, to_strides.repeat)] =
            operation(from[index_of<TypeS>(repeat, element, from_strides.block, from_strides.repeat)]);
    });
}

// dst[i] = operation(src0[i], src1[i], dst[i]) for the first elements.
template <typename TypeD, typename TypeS, typename TypeV, typename Operation>
inline void binary(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<TypeS>& src0, const AscendC::LocalTensor<TypeV>& src1, int64_t count,
                   const Call& call, Operation operation)
{
    if (count <= 0) return;
    PaddingFlow padding;
    if (PaddingFlow::is_needed())
        for (uint64_t at = 0; at < static_cast<uint64_t>(count); at++) {
            padding.from(src0, at, at);
            padding.from(src1, at, at);
        }
    check_access(dst, bytes_of<TypeD>(static_cast<uint64_t>(count)), "dst", call);
    padding.into(dst);
    const TypeS* left = check_source(src0, bytes_of<TypeS>(static_cast<uint64_t>(count)), "src0", call);
    const TypeV* right = check_source(src1, bytes_of<TypeV>(static_cast<uint64_t>(count)), "src1", call);
    TypeD* to = dst.raw();
    binary_elements(to, left, right, count, operation);
    leave_full_mask();
}
template <typename TypeD, typename TypeS, typename TypeV, typename Operation>
inline void binary(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<TypeS>& src0, const AscendC::LocalTensor<TypeV>& src1,
                   const MaskArgument& argument, bool set, uint64_t repeats, const AscendC::BinaryRepeatParams& params, const Call& call,
                   Operation operation)
{
    constexpr uint32_t per = per_repeat(sizeof(TypeD) > sizeof(TypeS) ? sizeof(TypeD) : sizeof(TypeS));
    const Mask mask = argument.resolve(set, per);
    const Strides to_strides{params.dstBlkStride, params.dstRepStride}, left_strides{params.src0BlkStride, params.src0RepStride},
        right_strides{params.src1BlkStride, params.src1RepStride};
    PaddingFlow padding;
    if (PaddingFlow::is_needed())
        each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
            const uint64_t result = index_of<TypeD>(repeat, element, to_strides.block, to_strides.repeat);
            padding.from(src0, index_of<TypeS>(repeat, element, left_strides.block, left_strides.repeat), result);
            padding.from(src1, index_of<TypeV>(repeat, element, right_strides.block, right_strides.repeat), result);
        });
    check_access(dst, covered<TypeD>(mask, repeats, per, to_strides), "dst", call);
    padding.into(dst);
    check_access(src0, covered<TypeS>(mask, repeats, per, left_strides), "src0", call);
    check_access(src1, covered<TypeV>(mask, repeats, per, right_strides), "src1", call);
    TypeD* to = dst.raw();
    const TypeS* left = src0.raw();
    const TypeV* right = src1.raw();
    const bool contiguous = is_contiguous<TypeD>(to_strides, per) && is_contiguous<TypeS>(left_strides, per) && is_contiguous<TypeV>(right_strides, per);
    const int64_t first = first_elements(mask, repeats, per, contiguous);
    const uint64_t bytes = static_cast<uint64_t>(first) * (256 / per);
    if (first >= 0 && is_independent(to, left, bytes) && is_independent(to, right, bytes)) return binary_elements(to, left, right, first, operation);
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        TypeD& result = to[index_of<TypeD>(repeat, element, to_strides.block, to_strides.repeat)];
        result = operation(left[index_of<TypeS>(repeat, element, left_strides.block, left_strides.repeat)],
                           right[index_of<TypeV>(repeat, element, right_strides.block, right_strides.repeat)], result);
    });
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(const uint64_t high, const uint64_t low)
{
    jumar::ascendc::Registers& registers = jumar::ascendc::core().registers;
    registers.mask[0] = low;
    registers.mask[1] = high;
}
template <typename TypeT, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(int32_t length)
{
    using namespace jumar::ascendc;
    Registers& registers = core().registers;
    if (mode == MaskMode::COUNTER || registers.counts) {
        registers.mask[0] = static_cast<uint64_t>(length);
        registers.mask[1] = 0;
        return;
    }
    const Mask mask = mask_of_count(static_cast<uint64_t>(length), true, per_repeat(sizeof(TypeT)));
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
    template <typename TypeT> static void SetMask(const uint64_t& high, const uint64_t& low) { SetVectorMask<TypeT>(high, low); }
    template <typename TypeT> static void SetMask(int32_t length) { SetVectorMask<TypeT>(length); }
    static void ResetMask() { AscendC::ResetMask(); }
    template <typename TypeT> static int32_t GetC0Count(const int32_t) { return static_cast<int32_t>(32 / sizeof(TypeT)); }
};

} // namespace AscendC

#endif
