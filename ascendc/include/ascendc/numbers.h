// Number types that C++ does not have: half, bfloat16_t and 4-bit integers.
#ifndef JUMAR_ASCENDC_NUMBERS_H
#define JUMAR_ASCENDC_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "language.h"

// The compiler's own type: IEEE binary16 with operators that round once. -fexcess-precision=16 is needed with GCC.
using half = _Float16;

// The upper half of a float. It converts and does not calculate, as on a card.
struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;
    explicit bfloat16_t(float value) : bits(round(value)) {}
    explicit bfloat16_t(double value) : bits(round(static_cast<float>(value))) {}
    explicit bfloat16_t(int value) : bits(round(static_cast<float>(value))) {}
    operator float() const
    {
        uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &wide, sizeof value);
        return value;
    }
    static bfloat16_t from_bits(uint16_t bits)
    {
        bfloat16_t value;
        value.bits = bits;
        return value;
    }

private:
    static uint16_t round(float value)
    {
        uint32_t wide;
        std::memcpy(&wide, &value, sizeof wide);
        if ((wide & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(wide >> 16 | 0x40);
        return static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    }
};

namespace AscendC {

// A 4-bit integer as an element type: two lie in a byte, the first one in the low bits.
struct int4b_t {
    uint8_t pair;

    int4b_t() = default;
    // One element, in the low bits.
    explicit constexpr int4b_t(int value) : pair(static_cast<uint8_t>(value & 15)) {}
};
using int4x2_t = int4b_t;

} // namespace AscendC
using AscendC::int4b_t;
using AscendC::int4x2_t;

namespace jumar {
namespace ascendc {

template <typename TypeT> constexpr bool is_half = std::is_same_v<TypeT, half>;
template <typename TypeT> constexpr bool is_bfloat16 = std::is_same_v<TypeT, bfloat16_t>;
template <typename TypeT> constexpr bool is_int4 = std::is_same_v<TypeT, AscendC::int4b_t>;
template <typename TypeT> constexpr bool is_float = is_half<TypeT> || is_bfloat16<TypeT> || std::is_floating_point_v<TypeT>;

// The type that functions without an exact result calculate in.
template <typename TypeT> using Wide = std::conditional_t<is_half<TypeT> || is_bfloat16<TypeT>, float, std::conditional_t<is_float<TypeT>, double, TypeT>>;

template <typename TypeT> constexpr const char* type_name()
{
    if constexpr (is_half<TypeT>) return "float16";
    else if constexpr (is_bfloat16<TypeT>) return "bfloat16";
    else if constexpr (is_int4<TypeT>) return "int4";
    else if constexpr (std::is_same_v<TypeT, float>) return "float32";
    else if constexpr (std::is_same_v<TypeT, double>) return "double";
    else if constexpr (std::is_same_v<TypeT, bool>) return "bool";
    else if constexpr (std::is_same_v<TypeT, int8_t>) return "int8";
    else if constexpr (std::is_same_v<TypeT, uint8_t>) return "uint8";
    else if constexpr (std::is_same_v<TypeT, int16_t>) return "int16";
    else if constexpr (std::is_same_v<TypeT, uint16_t>) return "uint16";
    else if constexpr (std::is_same_v<TypeT, int32_t>) return "int32";
    else if constexpr (std::is_same_v<TypeT, uint32_t>) return "uint32";
    else if constexpr (std::is_integral_v<TypeT> && std::is_signed_v<TypeT>) return "int64";
    else if constexpr (std::is_integral_v<TypeT>) return "uint64";
    else return "unknown";
}

template <typename TypeT> struct Identity {
    using type = TypeT;
};
// A parameter of this type takes no part in the deduction of T.
template <typename TypeT> using AsIs = typename Identity<TypeT>::type;

// Bytes that a number of elements take.
template <typename TypeT> constexpr uint64_t bytes_of(uint64_t elements)
{
    return is_int4<TypeT> ? elements / 2 : elements * sizeof(TypeT);
}
// Elements that fit into a number of bytes.
template <typename TypeT> constexpr uint64_t elements_in(uint64_t bytes)
{
    return is_int4<TypeT> ? bytes * 2 : bytes / sizeof(TypeT);
}
template <typename TypeT> constexpr uint32_t block_elements = static_cast<uint32_t>(elements_in<TypeT>(32));

} // namespace ascendc
} // namespace jumar

#endif
