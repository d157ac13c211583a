// Element-wise arithmetic, in its three forms: a count, a mask with repeats, and operators.
#ifndef JUMAR_ASCENDC_ARITHMETIC_H
#define JUMAR_ASCENDC_ARITHMETIC_H

#include "vector.h"

namespace jumar {
namespace ascendc {

// Integers wrap.
template <typename TypeT> inline TypeT wrapping_add(TypeT a, TypeT b)
{
    if constexpr (std::is_integral_v<TypeT>) return static_cast<TypeT>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else if constexpr (is_bfloat16<TypeT>) return TypeT(static_cast<float>(a) + static_cast<float>(b));
    else return static_cast<TypeT>(a + b);
}
template <typename TypeT> inline TypeT wrapping_sub(TypeT a, TypeT b)
{
    if constexpr (std::is_integral_v<TypeT>) return static_cast<TypeT>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else if constexpr (is_bfloat16<TypeT>) return TypeT(static_cast<float>(a) - static_cast<float>(b));
    else return static_cast<TypeT>(a - b);
}
template <typename TypeT> inline TypeT wrapping_mul(TypeT a, TypeT b)
{
    if constexpr (std::is_integral_v<TypeT>) return static_cast<TypeT>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (is_bfloat16<TypeT>) return TypeT(static_cast<float>(a) * static_cast<float>(b));
    else return static_cast<TypeT>(a * b);
}
template <typename TypeT> inline TypeT divide(TypeT a, TypeT b)
{
    if constexpr (std::is_integral_v<TypeT>) return b == 0 ? TypeT(-1) : b == TypeT(-1) ? wrapping_sub(TypeT(0), a) : static_cast<TypeT>(a / b);
    else return static_cast<TypeT>(a / b);
}
// A NaN wins, and -0 is below +0.
template <typename TypeT> inline TypeT larger(TypeT a, TypeT b)
{
    if constexpr (is_float<TypeT>) {
        if (a != a) return a;
        if (b != b) return b;
        if (a == b) return std::signbit(static_cast<float>(a)) ? b : a;
    }
    return a > b ? a : b;
}
template <typename TypeT> inline TypeT smaller(TypeT a, TypeT b)
{
    if constexpr (is_float<TypeT>) {
        if (a != a) return a;
        if (b != b) return b;
        if (a == b) return std::signbit(static_cast<float>(a)) ? a : b;
    }
    return a < b ? a : b;
}
template <typename TypeT> inline TypeT relu(TypeT a)
{
    return a != a ? a : a > TypeT(0) ? a : TypeT(0);
}
template <typename TypeT> inline TypeT square_root(TypeT a)
{
    if constexpr (is_half<TypeT>) return static_cast<TypeT>(std::sqrt(static_cast<float>(a)));
    else return static_cast<TypeT>(std::sqrt(a));
}
// Returns a scalar in the type of an element.
template <typename TypeS, typename TypeT> constexpr TypeT like(TypeS scalar, TypeT)
{
    return static_cast<TypeT>(scalar);
}
template <typename TypeT> inline TypeT absolute(TypeT a)
{
    if constexpr (is_float<TypeT>) return static_cast<TypeT>(std::fabs(static_cast<Wide<TypeT>>(a)));
    else return a < 0 ? wrapping_sub(TypeT(0), a) : a;
}
// Products and sums of a fused operation are rounded once. In double the product of two floats is exact.
template <typename TypeT> inline TypeT fused(TypeT a, TypeT b, TypeT c)
{
    if constexpr (std::is_same_v<TypeT, float>) return std::fmaf(a, b, c);
    else if constexpr (is_half<TypeT>) return static_cast<TypeT>(std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
    else return wrapping_add(wrapping_mul(a, b), c);
}

template <typename TypeT> inline TypeT shift_left(TypeT a, TypeT by)
{
    using Bits = std::make_unsigned_t<TypeT>;
    return by < 0 || static_cast<uint64_t>(by) >= sizeof(TypeT) * 8 ? TypeT(0) : static_cast<TypeT>(static_cast<Bits>(a) << by);
}
template <typename TypeT> inline TypeT shift_right(TypeT a, TypeT by, bool round)
{
    const uint64_t width = sizeof(TypeT) * 8;
    if (by < 0) return a;
    if (static_cast<uint64_t>(by) >= width) {
        if (round && static_cast<uint64_t>(by) == width && std::is_unsigned_v<TypeT>) return static_cast<TypeT>(a >> (width - 1));
        return std::is_signed_v<TypeT> && !round && a < 0 ? TypeT(-1) : TypeT(0);
    }
    TypeT result = static_cast<TypeT>(a >> by);
    if (round && by > 0) result = static_cast<TypeT>(result + (a >> (by - 1) & 1));
    return result;
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

// The forms of a function of one tensor. `calculated` is in_float or in_type. `x` is the element, and `T` its type.
#define JUMAR_ASCENDC_UNARY(Name, calculated, result)                                                                                                \
    template <typename TypeT>                                                                                                                        \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const int32_t& count,                                                    \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        unary(dst, src, count, Call{#Name, site}, calculated([](auto x) -> decltype(x) { return result; }));                                         \
    }                                                                                                                                                \
    template <typename TypeT, bool isSetMask = true>                                                                                                 \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::MaskArgument& mask, const uint8_t repeatTime,      \
              const UnaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())                                             \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        unary(dst, src, mask, isSetMask, repeatTime, params, Call{#Name, site}, calculated([](auto x) -> decltype(x) { return result; }));           \
    }

JUMAR_ASCENDC_UNARY(Abs, in_float, absolute(x))
JUMAR_ASCENDC_UNARY(Exp, in_type, static_cast<TypeT>(std::exp(static_cast<std::conditional_t<is_half<TypeT>, float, TypeT>>(x))))
JUMAR_ASCENDC_UNARY(Ln, in_type, static_cast<TypeT>(std::log(static_cast<std::conditional_t<is_half<TypeT>, float, TypeT>>(x))))
JUMAR_ASCENDC_UNARY(Sqrt, in_float, square_root(x))
JUMAR_ASCENDC_UNARY(Rsqrt, in_type, static_cast<TypeT>(Wide<TypeT>(1) / std::sqrt(static_cast<Wide<TypeT>>(x))))
JUMAR_ASCENDC_UNARY(Reciprocal, in_type, static_cast<TypeT>(Wide<TypeT>(1) / static_cast<Wide<TypeT>>(x)))
JUMAR_ASCENDC_UNARY(Relu, in_float, relu(x))
JUMAR_ASCENDC_UNARY(Not, in_type, static_cast<TypeT>(~x))

// The forms of a function of two tensors. `x` and `y` are elements of the sources, and `z` is that of the destination.
#define JUMAR_ASCENDC_BINARY(Name, calculated, result)                                                                                               \
    template <typename TypeT>                                                                                                                        \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const int32_t& count,                   \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        binary(dst, src0, src1, count, Call{#Name, site},                                                                                            \
               calculated([](auto x, auto y, [[maybe_unused]] auto z) -> decltype(x) { return result; }));                                           \
    }                                                                                                                                                \
    template <typename TypeT, bool isSetMask = true>                                                                                                 \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const jumar::ascendc::MaskArgument& mask, \
              const uint8_t repeatTime, const BinaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())                  \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        binary(dst, src0, src1, mask, isSetMask, repeatTime, params, Call{#Name, site},                                                              \
               calculated([](auto x, auto y, [[maybe_unused]] auto z) -> decltype(x) { return result; }));                                           \
    }

JUMAR_ASCENDC_BINARY(Add, in_float, wrapping_add(x, y))
JUMAR_ASCENDC_BINARY(Sub, in_float, wrapping_sub(x, y))
JUMAR_ASCENDC_BINARY(Mul, in_float, wrapping_mul(x, y))
JUMAR_ASCENDC_BINARY(Div, in_float, divide(x, y))
JUMAR_ASCENDC_BINARY(Max, in_float, larger(x, y))
JUMAR_ASCENDC_BINARY(Min, in_float, smaller(x, y))
JUMAR_ASCENDC_BINARY(And, in_type, static_cast<TypeT>(x & y))
JUMAR_ASCENDC_BINARY(Or, in_type, static_cast<TypeT>(x | y))
JUMAR_ASCENDC_BINARY(AddRelu, in_float, relu(wrapping_add(x, y)))
JUMAR_ASCENDC_BINARY(SubRelu, in_float, relu(wrapping_sub(x, y)))
JUMAR_ASCENDC_BINARY(FusedMulAdd, in_type, fused(x, z, y))
JUMAR_ASCENDC_BINARY(FusedMulAddRelu, in_type, relu(fused(x, z, y)))
JUMAR_ASCENDC_BINARY(MulAddRelu, in_type, relu(fused(x, z, y)))

// dst += src0 * src1, also with a wider destination.
template <typename TypeT, typename TypeU>
void MulAddDst(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src0, const LocalTensor<TypeU>& src1, const int32_t& count,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, count, Call{"MulAddDst", site}, [](TypeU x, TypeU y, TypeT z) -> TypeT { return fused(static_cast<TypeT>(x), static_cast<TypeT>(y), z); });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void MulAddDst(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src0, const LocalTensor<TypeU>& src1, const jumar::ascendc::MaskArgument& mask,
               const uint8_t repeatTime, const BinaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, mask, isSetMask, repeatTime, params, Call{"MulAddDst", site},
           [](TypeU x, TypeU y, TypeT z) -> TypeT { return fused(static_cast<TypeT>(x), static_cast<TypeT>(y), z); });
}

// The forms of a function of a tensor and a scalar `s`.
#define JUMAR_ASCENDC_SCALAR(Name, calculated, result)                                                                                               \
    template <typename TypeT>                                                                                                                        \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeT>& scalarValue, const int32_t& count,    \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        unary(dst, src, count, Call{#Name, site}, calculated([s = scalarValue](auto x) -> decltype(x) { return result; }));                          \
    }                                                                                                                                                \
    template <typename TypeT, typename TypeU>                                                                                                        \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeU>& scalarValue, const int32_t& count,    \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name<TypeT>(dst, src, static_cast<TypeT>(scalarValue), count, site);                                                                         \
    }                                                                                                                                                \
    template <typename TypeT, bool isSetMask = true>                                                                                                 \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeT>& scalarValue,                          \
              const jumar::ascendc::MaskArgument& mask, const uint8_t repeatTime, const UnaryRepeatParams& params,                                   \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        unary(dst, src, mask, isSetMask, repeatTime, params, Call{#Name, site},                                                                      \
              calculated([s = scalarValue](auto x) -> decltype(x) { return result; }));                                                              \
    }                                                                                                                                                \
    template <typename TypeT, typename TypeU, bool isSetMask = true>                                                                                 \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeU>& scalarValue,                          \
              const jumar::ascendc::MaskArgument& mask, const uint8_t repeatTime, const UnaryRepeatParams& params,                                   \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name<TypeT, isSetMask>(dst, src, static_cast<TypeT>(scalarValue), mask, repeatTime, params, site);                                           \
    }

JUMAR_ASCENDC_SCALAR(Adds, in_float, wrapping_add(x, like(s, x)))
JUMAR_ASCENDC_SCALAR(Muls, in_float, wrapping_mul(x, like(s, x)))
JUMAR_ASCENDC_SCALAR(Maxs, in_float, larger(x, like(s, x)))
JUMAR_ASCENDC_SCALAR(Mins, in_float, smaller(x, like(s, x)))
JUMAR_ASCENDC_SCALAR(LeakyRelu, in_float, x >= like(0, x) ? x : wrapping_mul(x, like(s, x)))
JUMAR_ASCENDC_SCALAR(ShiftLeft, in_type, shift_left(x, s))

template <typename TypeT>
void ShiftRight(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeT>& scalarValue, const int32_t& count,
                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src, count, Call{"ShiftRight", site}, [s = scalarValue](TypeT x) -> TypeT { return shift_right(x, s, false); });
}
template <typename TypeT, bool isSetMask = true>
void ShiftRight(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::AsIs<TypeT>& scalarValue,
                const jumar::ascendc::MaskArgument& mask, const uint8_t repeatTime, const UnaryRepeatParams& params, bool roundEn = false,
                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src, mask, isSetMask, repeatTime, params, Call{"ShiftRight", site},
          [s = scalarValue, roundEn](TypeT x) -> TypeT { return shift_right(x, s, roundEn); });
}

// dst += src * scalar. A float destination may have half sources.
template <typename TypeT, typename TypeU>
void Axpy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const jumar::ascendc::AsIs<TypeU>& scalarValue, const int32_t& count,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src, src, count, Call{"Axpy", site}, [s = static_cast<TypeT>(scalarValue)](TypeU x, TypeU, TypeT z) -> TypeT { return fused(static_cast<TypeT>(x), s, z); });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void Axpy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const jumar::ascendc::AsIs<TypeU>& scalarValue, const jumar::ascendc::MaskArgument& mask,
          const uint8_t repeatTime, const UnaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const BinaryRepeatParams both(static_cast<uint8_t>(params.dstBlkStride), static_cast<uint8_t>(params.srcBlkStride),
                                  static_cast<uint8_t>(params.srcBlkStride), params.dstRepStride, params.srcRepStride, params.srcRepStride);
    binary(dst, src, src, mask, isSetMask, repeatTime, both, Call{"Axpy", site},
           [s = static_cast<TypeT>(scalarValue)](TypeU x, TypeU, TypeT z) -> TypeT { return fused(static_cast<TypeT>(x), s, z); });
}

// Fills with a scalar.
template <typename TypeT>
void Duplicate(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT>& scalarValue, const int32_t& count,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    if (count <= 0) return;
    check_access(dst, bytes_of<TypeT>(static_cast<uint64_t>(count)), "dst", Call{"Duplicate", site});
    TypeT* to = dst.raw();
    const TypeT value = scalarValue;
    for (int32_t at = 0; at < count; at++) to[at] = value;
    leave_full_mask();
}
template <typename TypeT, bool isSetMask = true>
void Duplicate(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT>& scalarValue, const jumar::ascendc::MaskArgument& argument,
               const uint8_t repeatTime, const uint16_t dstBlockStride, const uint8_t dstRepeatStride,
               jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const Mask mask = argument.resolve(isSetMask, per);
    check_access(dst, covered<TypeT>(mask, repeatTime, per, Strides{dstBlockStride, dstRepeatStride}), "dst", Call{"Duplicate", site});
    TypeT* to = dst.raw();
    const TypeT value = scalarValue;
    each_element(mask, repeatTime, per,
                 [&](uint64_t repeat, uint32_t element) { to[index_of<TypeT>(repeat, element, dstBlockStride, dstRepeatStride)] = value; });
}

// Copies inside UB under a mask.
template <typename TypeT>
void Copy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src, count, Call{"Copy", site}, [](TypeT x) { return x; });
}
template <typename TypeT, bool isSetMask = true>
void Copy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const jumar::ascendc::MaskArgument& argument, const uint8_t repeatTime,
          const CopyRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    Mask mask = argument.resolve(isSetMask, per);
    // In counter mode the count is that of each repeat here.
    if (mask.counts) {
        const uint64_t count = mask.count;
        mask.counts = false;
        for (uint32_t half_mask = 0; half_mask < 2; half_mask++) {
            const uint64_t here = count > half_mask * 64 ? count - half_mask * 64 : 0;
            mask.bits[half_mask] = here >= 64 ? ~uint64_t(0) : (uint64_t(1) << here) - 1;
        }
    }
    const Call call{"Copy", site};
    const Strides to_strides{params.dstStride, params.dstRepeatSize}, from_strides{params.srcStride, params.srcRepeatSize};
    check_access(dst, covered<TypeT>(mask, repeatTime, per, to_strides), "dst", call);
    check_access(src, covered<TypeT>(mask, repeatTime, per, from_strides), "src", call);
    TypeT* to = dst.raw();
    const TypeT* from = src.raw();
    each_element(mask, repeatTime, per, [&](uint64_t repeat, uint32_t element) {
        to[index_of<TypeT>(repeat, element, to_strides.block, to_strides.repeat)] =
            from[index_of<TypeT>(repeat, element, from_strides.block, from_strides.repeat)];
    });
}

// first, first + 1, first + 2, ...
template <typename TypeT>
void CreateVecIndex(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT>& firstValue, uint32_t count,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    if (count == 0) return;
    check_access(dst, bytes_of<TypeT>(count), "dst", Call{"CreateVecIndex", site});
    for (uint32_t at = 0; at < count; at++) dst.raw()[at] = wrapping_add(firstValue, static_cast<TypeT>(at));
}
template <typename TypeT>
void CreateVecIndex(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT>& firstValue, const jumar::ascendc::MaskArgument& argument,
                    uint8_t repeatTime, uint16_t dstBlkStride, uint8_t dstRepStride, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    constexpr uint32_t per = per_repeat(sizeof(TypeT));
    const Mask mask = argument.resolve(true, per);
    check_access(dst, covered<TypeT>(mask, repeatTime, per, Strides{dstBlkStride, dstRepStride}), "dst", Call{"CreateVecIndex", site});
    each_element(mask, repeatTime, per, [&](uint64_t repeat, uint32_t element) {
        dst.raw()[index_of<TypeT>(repeat, element, dstBlkStride, dstRepStride)] =
            wrapping_add(firstValue, static_cast<TypeT>(static_cast<int64_t>(repeat * per + element)));
    });
}
template <typename TypeT>
void ArithProgression(const LocalTensor<TypeT>& dst, const jumar::ascendc::AsIs<TypeT> first, const jumar::ascendc::AsIs<TypeT> step, const int32_t count,
                      jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    if (count <= 0) return;
    check_access(dst, bytes_of<TypeT>(static_cast<uint64_t>(count)), "dst", Call{"ArithProgression", site});
    for (int32_t at = 0; at < count; at++) dst.raw()[at] = wrapping_add(first, wrapping_mul(step, static_cast<TypeT>(at)));
}

template <typename TypeT>
template <typename Operation, typename Right>
void LocalTensor<TypeT>::operator=(const jumar::ascendc::Expression<Operation, LocalTensor, Right>& expression)
{
    using namespace jumar::ascendc;
    const int32_t count = static_cast<int32_t>(size_);
    if constexpr (std::is_same_v<Operation, AddTag>) Add(*this, expression.left, expression.right, count);
    else if constexpr (std::is_same_v<Operation, SubTag>) Sub(*this, expression.left, expression.right, count);
    else if constexpr (std::is_same_v<Operation, MulTag>) Mul(*this, expression.left, expression.right, count);
    else if constexpr (std::is_same_v<Operation, DivTag>) Div(*this, expression.left, expression.right, count);
    else if constexpr (std::is_same_v<Operation, AndTag>) And(*this, expression.left, expression.right, count);
    else Or(*this, expression.left, expression.right, count);
}

} // namespace AscendC

#endif
