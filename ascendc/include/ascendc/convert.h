// Cast: conversions between number types with a rounding mode.
#ifndef JUMAR_ASCENDC_CONVERT_H
#define JUMAR_ASCENDC_CONVERT_H

#include "vector.h"

namespace jumar {
namespace ascendc {

using AscendC::RoundMode;

// Rounds a value to an integer.
template <typename F> inline F round_to_integer(F value, RoundMode mode)
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
template <typename T> struct Format;
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
template <typename T, typename F> inline T round_to_format(F value, RoundMode mode)
{
    using Form = Format<T>;
    if (!std::isfinite(value) || value == 0) return T(static_cast<float>(value));
    const bool negative = std::signbit(value);
    const F magnitude = std::fabs(value);
    int exponent = std::ilogb(magnitude);
    if (exponent < Form::lowest) exponent = Form::lowest;
    const int unit = exponent - (Form::precision - 1);
    const F scaled = std::ldexp(magnitude, -unit);
    F kept = std::floor(scaled);
    const F rest = scaled - kept;
    const bool odd = std::fmod(kept, F(2)) != 0;
    bool up = false;
    switch (mode) {
    case RoundMode::CAST_FLOOR: up = negative && rest > 0; break;
    case RoundMode::CAST_CEIL: up = !negative && rest > 0; break;
    case RoundMode::CAST_ROUND: up = rest >= F(0.5); break;
    case RoundMode::CAST_TRUNC: break;
    case RoundMode::CAST_ODD: up = rest > 0 && !odd; break;
    default: up = rest > F(0.5) || (rest == F(0.5) && odd); break;
    }
    if (up) kept += 1;
    F result = std::ldexp(kept, unit);
    const F limit = std::ldexp(F(2) - std::ldexp(F(1), 1 - Form::precision), Form::highest);
    if (result > limit) {
        const bool stays = mode == RoundMode::CAST_TRUNC || mode == RoundMode::CAST_ODD || (mode == RoundMode::CAST_FLOOR && !negative) ||
                           (mode == RoundMode::CAST_CEIL && negative);
        result = stays ? limit : std::numeric_limits<F>::infinity();
    }
    return T(static_cast<float>(negative ? -result : result));
}

// Converts to an integer: rounds, saturates, and makes 0 of a NaN.
template <typename D, typename F> inline D saturate(F value, RoundMode mode, D lowest = std::numeric_limits<D>::min(),
                                                    D highest = std::numeric_limits<D>::max())
{
    if (value != value) return 0;
    const F rounded = round_to_integer(value, mode);
    if (rounded <= static_cast<F>(lowest)) return lowest;
    if (rounded >= static_cast<F>(highest)) return highest;
    return static_cast<D>(rounded);
}

inline bool is_nearest(RoundMode mode)
{
    return mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT;
}

template <typename D, typename S> inline D convert(S value, RoundMode mode)
{
    if constexpr (std::is_same_v<D, float> && std::is_same_v<S, float>) {
        // -0 becomes +0.
        return value != value || std::isinf(value) ? value : round_to_integer(value, mode) + 0.0f;
    } else if constexpr (std::is_same_v<D, S>) {
        return value;
    } else if constexpr (is_float<D> && is_float<S>) {
        if constexpr (sizeof(D) > sizeof(S)) return static_cast<D>(static_cast<float>(value));
        else return is_nearest(mode) ? D(static_cast<float>(value)) : round_to_format<D>(static_cast<double>(static_cast<float>(value)), mode);
    } else if constexpr (is_float<S>) {
        // Floats that are integers lie exactly in a double; the limits of 64 bits compare as powers of two.
        return saturate<D>(static_cast<double>(static_cast<Wide<S>>(value)), mode);
    } else if constexpr (std::is_same_v<D, half> && std::is_same_v<S, int32_t>) {
        return static_cast<half>(static_cast<float>(value) * core().registers.deq_scale);
    } else if constexpr (is_float<D> && sizeof(S) >= 2) {
        using F = std::conditional_t<sizeof(S) == 8, long double, double>;
        if constexpr (std::is_same_v<D, float>) {
            if (is_nearest(mode)) return static_cast<float>(value);
        }
        return round_to_format<D>(static_cast<F>(value), mode);
    } else if constexpr (is_float<D>) {
        return D(static_cast<float>(value));
    } else {
        // Between integers.
        if (static_cast<__int128>(value) < static_cast<__int128>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
        if (static_cast<__int128>(value) > static_cast<__int128>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
        return static_cast<D>(value);
    }
}

// Sets of elements whose type has 4 bits need their own loop: two lie in a byte.
template <typename S> inline void store_int4(AscendC::int4b_t* to, uint64_t element, S value, RoundMode mode)
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

template <typename T> constexpr uint64_t index_of_packed(uint64_t repeat, uint32_t element, Strides strides)
{
    constexpr uint32_t in_block = block_elements<T>;
    return (repeat * strides.repeat + element / in_block * strides.block) * in_block + element % in_block;
}

template <typename D, typename S>
inline void convert_int4(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src, RoundMode mode, const Mask& mask, uint64_t repeats,
                         Strides to_strides, Strides from_strides, const Call& call)
{
    constexpr uint32_t per = 128;
    uint64_t to_end = 0, from_end = 0;
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        to_end = std::max(to_end, bytes_of<D>(index_of_packed<D>(repeat, element, to_strides) + (is_int4<D> ? 2 : 1)));
        from_end = std::max(from_end, bytes_of<S>(index_of_packed<S>(repeat, element, from_strides) + (is_int4<S> ? 2 : 1)));
    });
    check_access(dst, to_end, "dst", call);
    check_access(src, from_end, "src", call);
    each_element(mask, repeats, per, [&](uint64_t repeat, uint32_t element) {
        const uint64_t to = index_of_packed<D>(repeat, element, to_strides), from = index_of_packed<S>(repeat, element, from_strides);
        if constexpr (is_int4<D>) store_int4(dst.raw(), to, src.raw()[from], mode);
        else dst.raw()[to] = static_cast<D>(load_int4(src.raw(), from));
    });
}

template <typename T> constexpr bool is_number = std::is_integral_v<T> || is_float<T>;

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const uint32_t count,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Cast", site};
    if constexpr (is_int4<T> || is_int4<U>) {
        if (count % 2 != 0) fail(site, "Cast: %u elements of 4 bits; the number has to be even", count);
        const Strides continuous_dst{1, static_cast<uint32_t>(128 / block_elements<T>)}, continuous_src{1, static_cast<uint32_t>(128 / block_elements<U>)};
        convert_int4(dst, src, roundMode, Mask{{0, 0}, count, true}, 0, continuous_dst, continuous_src, call);
        leave_full_mask();
    } else {
        const RoundMode mode = roundMode;
        // The loop without a mode is one that the compiler can vectorise.
        if (is_nearest(mode)) unary(dst, src, count, call, [](U x) -> T { return convert<T>(x, RoundMode::CAST_RINT); });
        else unary(dst, src, count, call, [mode](U x) -> T { return convert<T>(x, mode); });
    }
}
template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode, const jumar::ascendc::MaskArgument& mask,
          const uint8_t repeatTime, const UnaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Cast", site};
    const RoundMode mode = roundMode;
    if constexpr (is_int4<T> || is_int4<U>) {
        convert_int4(dst, src, mode, mask.resolve(isSetMask, 128), repeatTime, Strides{params.dstBlkStride, params.dstRepStride},
                     Strides{params.srcBlkStride, params.srcRepStride}, call);
    } else {
        unary(dst, src, mask, isSetMask, repeatTime, params, call, [mode](U x) -> T { return convert<T>(x, mode); });
    }
}

// Scalars.
template <typename T, typename U, RoundMode roundMode> U Cast(T value)
{
    return jumar::ascendc::convert<U>(value, roundMode);
}
template <typename T, typename U, RoundMode roundMode> U ScalarCast(T value)
{
    return jumar::ascendc::convert<U>(value, roundMode);
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
template <typename T, RoundMode roundMode>
void Truncate(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    unary(dst, src, count, Call{"Truncate", site},
          [](T x) -> T { return static_cast<T>(round_to_integer(static_cast<Wide<T>>(x), roundMode)); });
}

// Products and sums that are converted at the end.
template <typename T, typename U>
void MulCast(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint32_t count,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, count, Call{"MulCast", site}, [](U x, U y, T) -> T { return convert<T>(static_cast<U>(x * y), RoundMode::CAST_RINT); });
}
template <typename T, typename U, bool isSetMask = true>
void MulCast(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, const jumar::ascendc::MaskArgument& mask,
             const uint8_t repeatTime, const BinaryRepeatParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    binary(dst, src0, src1, mask, isSetMask, repeatTime, params, Call{"MulCast", site},
           [](U x, U y, T) -> T { return convert<T>(static_cast<U>(x * y), RoundMode::CAST_RINT); });
}

} // namespace AscendC

#endif
