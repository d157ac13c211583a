// Cast: conversions between number types with a rounding mode.
#ifndef JUMAR_ASCENDC_CONVERT_H
#define JUMAR_ASCENDC_CONVERT_H

#include "vector.h"

namespace jumar {
namespace ascendc {

using AscendC::RoundMode;

// Rounds a value to an integer.
template <typename TypeF> inline TypeF round_to_integer(TypeF value, RoundMode mode)
{
    switch (mode) {
    case RoundMode::CAST_FLOOR: return std::floor(value);
    case RoundMode::CAST_CEIL: return std::ceil(value);
    case RoundMode::CAST_ROUND: return std::round(value);
    case RoundMode::CAST_TRUNC: return std::trunc(value);
    default: return std::nearbyint(value);
    }
}

// A floating-point format: bits of its significand, and its smallest and largest exponent.
template <typename TypeT> struct Format;
template <> struct Format<half> {
    static constexpr int precision = 11, lowest = -14, highest = 15;
};
template <> struct Format<bfloat16_t> {
    static constexpr int precision = 8, lowest = -126, highest = 127;
};
template <> struct Format<float> {
    static constexpr int precision = 24, lowest = -126, highest = 127;
};

// Rounds a value to a floating-point format with a mode. `F` represents every value of `T` exactly.
template <typename TypeT, typename TypeF> inline TypeT round_to_format(TypeF value, RoundMode mode)
{
    using Form = Format<TypeT>;
    if (!std::isfinite(value) || value == 0) return TypeT(static_cast<float>(value));
    const bool negative = std::signbit(value);
    const TypeF magnitude = std::fabs(value);
    int exponent = std::ilogb(magnitude);
    if (exponent < Form::lowest) exponent = Form::lowest;
    const int unit = exponent - (Form::precision - 1);
    const TypeF scaled = std::ldexp(magnitude, -unit);
    TypeF kept = std::floor(scaled);
    const TypeF rest = scaled - kept;
    const bool odd = std::fmod(kept, TypeF(2)) != 0;
    bool up = false;
    switch (mode) {
    case RoundMode::CAST_FLOOR: up = negative && rest > 0; break;
    case RoundMode::CAST_CEIL: up = !negative && rest > 0; break;
    case RoundMode::CAST_ROUND: up = rest >= TypeF(0.5); break;
    case RoundMode::CAST_TRUNC: break;
    case RoundMode::CAST_ODD: up = rest > 0 && !odd; break;
    default: up = rest > TypeF(0.5) || (rest == TypeF(0.5) && odd); break;
    }
    if (up) kept += 1;
    TypeF result = std::ldexp(kept, unit);
    const TypeF limit = std::ldexp(TypeF(2) - std::ldexp(TypeF(1), 1 - Form::precision), Form::highest);
    if (result > limit) {
        const bool stays = mode == RoundMode::CAST_TRUNC || mode == RoundMode::CAST_ODD || (mode == RoundMode::CAST_FLOOR && !negative) ||
                           (mode == RoundMode::CAST_CEIL && negative);
        result = stays ? limit : std::numeric_limits<TypeF>::infinity();
    }
    return TypeT(static_cast<float>(negative ? -result : result));
}

// Converts to an integer: rounds, saturates, and makes 0 of a NaN.
template <typename TypeD, typename TypeF> inline TypeD saturate(TypeF value, RoundMode mode, TypeD lowest = std::numeric_limits<TypeD>::min(),
                                                    TypeD highest = std::numeric_limits<TypeD>::max())
{
    if (value != value) return 0;
    const TypeF rounded = round_to_integer(value, mode);
    if (rounded <= static_cast<TypeF>(lowest)) return lowest;
    if (rounded >= static_cast<TypeF>(highest)) return highest;
    return static_cast<TypeD>(rounded);
}

inline bool is_nearest(RoundMode mode)
{
    return mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT;
}

template <typename TypeD, typename TypeS> inline TypeD convert(TypeS value, RoundMode mode)
{
    if constexpr (std::is_same_v<TypeD, float> && std::is_same_v<TypeS, float>) {
        // -0 becomes +0.
        return value != value || std::isinf(value) ? value : round_to_integer(value, mode) + 0.0f;
    } else if constexpr (std::is_same_v<TypeD, TypeS>) {
        return value;
    } else if constexpr (is_float<TypeD> && is_float<TypeS>) {
        if constexpr (sizeof(TypeD) > sizeof(TypeS)) return static_cast<TypeD>(static_cast<float>(value));
        else return is_nearest(mode) ? TypeD(static_cast<float>(value)) : round_to_format<TypeD>(static_cast<double>(static_cast<float>(value)), mode);
    } else if constexpr (is_float<TypeS>) {
        // Floats that are integers lie exactly in a double; the limits of 64 bits compare as powers of two.
        return saturate<TypeD>(static_cast<double>(static_cast<Wide<TypeS>>(value)), mode);
    } else if constexpr (std::is_same_v<TypeD, half> && std::is_same_v<TypeS, int32_t>) {
        return static_cast<half>(static_cast<float>(value) * core().registers.deq_scale);
    } else if constexpr (is_float<TypeD> && sizeof(TypeS) >= 2) {
        using TypeF = std::conditional_t<sizeof(TypeS) == 8, long double, double>;
        if constexpr (std::is_same_v<TypeD, float>) {
            if (is_nearest(mode)) return static_cast<float>(value);
        }
        return round_to_format<TypeD>(static_cast<TypeF>(value), mode);
    } else if constexpr (is_float<TypeD>) {
        return TypeD(static_cast<float>(value));
    } else {
        // Between integers.
        if (static_cast<__int128>(value) < static_cast<__int128>(std::numeric_limits<TypeD>::min())) return std::numeric_limits<TypeD>::min();
        if (static_cast<__int128>(value) > static_cast<__int128>(std::numeric_limits<TypeD>::max())) return std::numeric_limits<TypeD>::max();
        return static_cast<TypeD>(value);
    }
}

// Sets of elements whose type has 4 bits need their own loop: two lie in a byte.
template <typename TypeS> inline void store_int4(AscendC::int4b_t* to, uint64_t element, TypeS value, RoundMode mode)
{
    const int8_t number = saturate<int8_t>(static_cast<double>(static_cast<float>(value)), mode, -8, 7);
    uint8_t& pair = to[element / 2].pair;
    pair = static_cast<uint8_t>(element % 2 ? (pair & 15) | (number & 15) << 4 : (pair & 0xf0) | (number & 15));
}
inline int8_t load_int4(const AscendC::int4b_t* from, uint64_t element)
{
    const int8_t bits = static_cast<int8_t>(element % 2 ? from[element / 2].pair >> 4 : from[element / 2].pair & 15);
    return static_cast<int8_t>(bits > 7 ? bits - 16 : bits);
}

template <typename TypeT> constexpr uint64_t index_of_packed(uint64_t repeat, uint32_t element, Strides strides)
{
    constexpr uint32_t in_block = block_elements<TypeT>;
    return (repeat * strides.repeat + element / in_block * strides.block) * in_block + element % in_block;
}

template <typename TypeD, typename TypeS>
inline void convert_int4(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<TypeS>& src, RoundMode mode, const Mask& mask, uint64_t repeats,
                         Strides to_strides, Strides from_strides, const Call& call)
{
    constexpr uint32_t per = 128;
    uint64_t to_end = 0, from_end = 0;
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        to_end = std::max(to_end, bytes_of<TypeD>(index_of_packed<TypeD>(repeat, element, to_strides) + (is_int4<TypeD> ? 2 : 1)));
        from_end = std::max(from_end, bytes_of<TypeS>(index_of_packed<TypeS>(repeat, element, from_strides) + (is_int4<TypeS> ? 2 : 1)));
    });
    check_access(dst, to_end, "dst", call);
    check_access(src, from_end, "src", call);
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        const uint64_t to = index_of_packed<TypeD>(repeat, element, to_strides), from = index_of_packed<TypeS>(repeat, element, from_strides);
        if constexpr (is_int4<TypeD>) store_int4(dst.raw(), to, src.raw()[from], mode);
        else dst.raw()[to] = static_cast<TypeD>(load_int4(src.raw(), from));
    });
}

template <typename TypeT> constexpr bool is_number = std::is_integral_v<TypeT> || is_float<TypeT>;

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT, typename TypeU>
void Cast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const RoundMode& roundMode, const uint32_t count,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Cast", site};
    if constexpr (is_int4<TypeT> || is_int4<TypeU>) {
        if (count % 2 != 0) fail(site, "Cast: %u elements of 4 bits; the number has to be even", count);
        const Strides continuous_dst{1, static_cast<uint32_t>(128 / block_elements<TypeT>)}, continuous_src{1, static_cast<uint32_t>(128 / block_elements<TypeU>)};
        convert_int4(dst, src, roundMode, Mask{{0, 0}, count, true}, 0, continuous_dst, continuous_src, call);
        leave_full_mask();
    } else {
        const RoundMode mode = roundMode;
        // The loop without a mode is one that the compiler can vectorise.
        if (is_nearest(mode)) unary(dst, src, count, call, [](TypeU x) -> TypeT { return convert<TypeT>(x, RoundMode::CAST_RINT); });
        else unary(dst, src, count, call, [mode](TypeU x) -> TypeT { return convert<TypeT>(x, mode); });
    }
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void Cast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const RoundMode& roundMode, const jumar::ascendc::MaskArgument& mask,
          const uint8_t repeatTime, const UnaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Cast", site};
    const RoundMode mode = roundMode;
    if constexpr (is_int4<TypeT> || is_int4<TypeU>) {
        convert_int4(dst, src, mode, mask.resolve(isSetMask, 128), repeatTime, Strides{params.dstBlkStride, params.dstRepStride},
                     Strides{params.srcBlkStride, params.srcRepStride}, call);
    } else {
        unary(dst, src, mask, isSetMask, repeatTime, params, call, [mode](TypeU x) -> TypeT { return convert<TypeT>(x, mode); });
    }
}

// Scalars.
template <typename TypeT, typename TypeU, RoundMode roundMode> TypeU Cast(TypeT value)
{
    return jumar::ascendc::convert<TypeU>(value, roundMode);
}
template <typename TypeT, typename TypeU, RoundMode roundMode> TypeU ScalarCast(TypeT value)
{
    return jumar::ascendc::convert<TypeU>(value, roundMode);
}
inline bfloat16_t Cast(const float& value)
{
    return bfloat16_t(value);
}
inline float Cast(const bfloat16_t& value)
{
    return value;
}
inline bfloat16_t ToBfloat16(const float& value)
{
    return bfloat16_t(value);
}
inline float ToFloat(const bfloat16_t& value)
{
    return value;
}

inline void SetDeqScale(half scale)
{
    jumar::ascendc::core().registers.deq_scale = static_cast<float>(scale);
}

// Rounds floats to integers of the same type.
template <typename TypeT, RoundMode roundMode>
void Truncate(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src, count, Call{"Truncate", site},
          [](TypeT x) -> TypeT { return static_cast<TypeT>(round_to_integer(static_cast<Wide<TypeT>>(x), roundMode)); });
}

// Products and sums that are converted at the end.
template <typename TypeT, typename TypeU>
void MulCast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src0, const LocalTensor<TypeU>& src1, uint32_t count,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, count, Call{"MulCast", site}, [](TypeU x, TypeU y, TypeT) -> TypeT { return convert<TypeT>(static_cast<TypeU>(x * y), RoundMode::CAST_RINT); });
}
template <typename TypeT, typename TypeU, bool isSetMask = true>
void MulCast(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src0, const LocalTensor<TypeU>& src1, const jumar::ascendc::MaskArgument& mask,
             const uint8_t repeatTime, const BinaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, mask, isSetMask, repeatTime, params, Call{"MulCast", site},
           [](TypeU x, TypeU y, TypeT) -> TypeT { return convert<TypeT>(static_cast<TypeU>(x * y), RoundMode::CAST_RINT); });
}

} // namespace AscendC

#endif
