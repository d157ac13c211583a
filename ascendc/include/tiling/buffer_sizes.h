// Sizes of temporary buffers. The functions of the library need none, so what is returned is only consistent: the largest size and the smallest
// one of a shape, and the factors that a size is calculated from. tiling_api.h includes this file.
#ifndef JUMAR_TILING_BUFFER_SIZES_H
#define JUMAR_TILING_BUFFER_SIZES_H

#include "tensor_shape.h"

namespace AscendC {

constexpr uint32_t JUMAR_LIVE_TENSORS = 3;
constexpr uint32_t JUMAR_REPEAT_BYTES = 256;

// A repeat for each tensor that is alive, and at most as much as the shape has.
template <typename Shape> void elementwise_sizes(const Shape& shape, const uint32_t size, uint32_t& most, uint32_t& least)
{
    const uint64_t bytes = static_cast<uint64_t>(rows_of(shape)) * columns_of(shape) * size;
    const uint64_t rounded = std::max<uint64_t>((bytes + JUMAR_REPEAT_BYTES - 1) / JUMAR_REPEAT_BYTES * JUMAR_REPEAT_BYTES, JUMAR_REPEAT_BYTES);
    least = JUMAR_LIVE_TENSORS * JUMAR_REPEAT_BYTES;
    most = static_cast<uint32_t>(std::min<uint64_t>(rounded * JUMAR_LIVE_TENSORS, 0xffffff00u));
}

#define JUMAR_SIZES(Name)                                                                                                                            \
    template <typename Shape> void Get##Name(const Shape& shape, const uint32_t size, const bool, uint32_t& most, uint32_t& least)                   \
    {                                                                                                                                                \
        elementwise_sizes(shape, size, most, least);                                                                                                 \
    }
#define JUMAR_FACTORS(Name)                                                                                                                          \
    inline void Get##Name##TmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount, uint32_t& extraBuf)                                       \
    {                                                                                                                                                \
        maxLiveNodeCount = JUMAR_LIVE_TENSORS;                                                                                                       \
        extraBuf = 0;                                                                                                                                \
    }
#define JUMAR_SIZES_AND_FACTORS(Name)                                                                                                                \
    JUMAR_SIZES(Name##MaxMinTmpSize)                                                                                                                 \
    JUMAR_FACTORS(Name)
JUMAR_SIZES_AND_FACTORS(Acos)
JUMAR_SIZES_AND_FACTORS(Acosh)
JUMAR_SIZES_AND_FACTORS(Asin)
JUMAR_SIZES_AND_FACTORS(Asinh)
JUMAR_SIZES_AND_FACTORS(Atan)
JUMAR_SIZES_AND_FACTORS(Atanh)
JUMAR_SIZES_AND_FACTORS(Axpy)
JUMAR_SIZES_AND_FACTORS(Ceil)
JUMAR_SIZES_AND_FACTORS(Clamp)
JUMAR_SIZES_AND_FACTORS(Cos)
JUMAR_SIZES_AND_FACTORS(Cosh)
JUMAR_SIZES_AND_FACTORS(Digamma)
JUMAR_SIZES_AND_FACTORS(Erf)
JUMAR_SIZES_AND_FACTORS(Erfc)
JUMAR_SIZES_AND_FACTORS(Floor)
JUMAR_SIZES_AND_FACTORS(Fmod)
JUMAR_SIZES_AND_FACTORS(Frac)
JUMAR_SIZES_AND_FACTORS(Hypot)
JUMAR_SIZES_AND_FACTORS(Lgamma)
JUMAR_SIZES_AND_FACTORS(Log)
JUMAR_SIZES_AND_FACTORS(Log10)
JUMAR_SIZES_AND_FACTORS(Log2)
JUMAR_SIZES_AND_FACTORS(Sigmoid)
JUMAR_SIZES_AND_FACTORS(Sign)
JUMAR_SIZES_AND_FACTORS(Sin)
JUMAR_SIZES_AND_FACTORS(Sinh)
JUMAR_SIZES_AND_FACTORS(Tan)
JUMAR_SIZES_AND_FACTORS(Tanh)
JUMAR_SIZES_AND_FACTORS(Trunc)
JUMAR_SIZES_AND_FACTORS(Xor)
JUMAR_SIZES(ReduceXorSumMaxMinTmpSize)
JUMAR_SIZES(SiluTmpSize)
JUMAR_SIZES(SwishTmpSize)
JUMAR_FACTORS(Exp)
JUMAR_FACTORS(GeGLU)
JUMAR_FACTORS(Mean)
JUMAR_FACTORS(SwiGLU)
#undef JUMAR_SIZES_AND_FACTORS
#undef JUMAR_SIZES

// Returns whether the function is possible for the shape, which it is for every one.
template <typename Shape> bool GetExpMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    elementwise_sizes(shape, size, most, least);
    return true;
}

// The same for a chip.
#define JUMAR_SIZES_OF_CHIP(Name)                                                                                                                    \
    template <typename Shape>                                                                                                                        \
    void Get##Name##MaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const Shape& shape, const uint32_t size, const bool, uint32_t& most,     \
                                  uint32_t& least)                                                                                                   \
    {                                                                                                                                                \
        elementwise_sizes(shape, size, most, least);                                                                                                 \
    }                                                                                                                                                \
    inline void Get##Name##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC&, const uint32_t, uint32_t& maxLiveNodeCount,                 \
                                               uint32_t& extraBuf)                                                                                   \
    {                                                                                                                                                \
        maxLiveNodeCount = JUMAR_LIVE_TENSORS;                                                                                                       \
        extraBuf = 0;                                                                                                                                \
    }
JUMAR_SIZES_OF_CHIP(BitwiseAnd)
JUMAR_SIZES_OF_CHIP(BitwiseNot)
JUMAR_SIZES_OF_CHIP(BitwiseOr)
JUMAR_SIZES_OF_CHIP(BitwiseXor)
JUMAR_SIZES_OF_CHIP(Fma)
JUMAR_SIZES_OF_CHIP(IsInf)
JUMAR_SIZES_OF_CHIP(IsNan)
JUMAR_SIZES_OF_CHIP(LogicalAnd)
JUMAR_SIZES_OF_CHIP(LogicalAnds)
JUMAR_SIZES_OF_CHIP(LogicalNot)
JUMAR_SIZES_OF_CHIP(LogicalOr)
JUMAR_SIZES_OF_CHIP(LogicalOrs)
JUMAR_SIZES_OF_CHIP(LogicalXor)
JUMAR_SIZES_OF_CHIP(Rint)
JUMAR_SIZES_OF_CHIP(Round)
JUMAR_SIZES_OF_CHIP(SinCos)
JUMAR_SIZES_OF_CHIP(Where)
#undef JUMAR_SIZES_OF_CHIP

// Functions that do not write over their source.
#define JUMAR_SIZES_WITHOUT_REUSE(Name)                                                                                                              \
    template <typename Shape> void Get##Name##MaxMinTmpSize(const Shape& shape, const uint32_t size, uint32_t& most, uint32_t& least)                \
    {                                                                                                                                                \
        elementwise_sizes(shape, size, most, least);                                                                                                 \
    }
JUMAR_SIZES_WITHOUT_REUSE(AscendDequant)
JUMAR_SIZES_WITHOUT_REUSE(AscendQuant)
JUMAR_SIZES_WITHOUT_REUSE(Dequantize)
JUMAR_SIZES_WITHOUT_REUSE(Gelu)
JUMAR_SIZES_WITHOUT_REUSE(Quantize)
#undef JUMAR_SIZES_WITHOUT_REUSE
template <typename Shape> uint32_t GetGeluMaxTmpSize(const Shape& shape, const uint32_t size)
{
    uint32_t most = 0, least = 0;
    elementwise_sizes(shape, size, most, least);
    return most;
}
template <typename Shape> uint32_t GetGeluMinTmpSize(const Shape& shape, const uint32_t size)
{
    uint32_t most = 0, least = 0;
    elementwise_sizes(shape, size, most, least);
    return least;
}
template <typename Shape> void GetSwiGLUMaxMinTmpSize(const Shape& shape, const uint32_t size, uint32_t& most, uint32_t& least, const bool = false)
{
    elementwise_sizes(shape, size, most, least);
}

// Functions with several inputs.
template <typename Shape>
void GetPowerMaxMinTmpSize(const Shape& base, const Shape& exponent, const bool, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    const uint64_t count = static_cast<uint64_t>(rows_of(base)) * columns_of(base);
    const uint64_t other = static_cast<uint64_t>(rows_of(exponent)) * columns_of(exponent);
    elementwise_sizes(count >= other ? base : exponent, size, most, least);
}
inline void GetPowerTmpBufferFactorSize(const bool, const bool, const bool, const uint32_t size, uint32_t& maxLiveNodeCount, uint32_t& extraBuf)
{
    GetXorTmpBufferFactorSize(size, maxLiveNodeCount, extraBuf);
}
template <typename Shape>
void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const Shape&, const Shape& result, uint32_t size, const bool, uint32_t& most,
                               uint32_t& least)
{
    elementwise_sizes(result, size, most, least);
}
template <typename Shape>
void GetSelectMaxMinTmpSize(const Shape& one, const Shape& other, const uint32_t size, const Shape&, const uint32_t, const bool, uint32_t& most,
                            uint32_t& least)
{
    GetPowerMaxMinTmpSize(one, other, false, size, false, most, least);
}
template <typename Shape>
void GetSelectWithBytesMaskMaxMinTmpSize(const Shape& one, const Shape& other, const uint32_t size, const Shape&, const uint32_t, const bool,
                                         uint32_t& most, uint32_t& least)
{
    GetPowerMaxMinTmpSize(one, other, false, size, false, most, least);
}
template <typename Shape>
uint32_t GetSelectWithBytesMaskMaxTmpSize(const Shape& one, const Shape& other, const uint32_t size, const Shape&, const uint32_t, const bool)
{
    uint32_t most = 0, least = 0;
    GetPowerMaxMinTmpSize(one, other, false, size, false, most, least);
    return most;
}
template <typename Shape>
uint32_t GetSelectWithBytesMaskMinTmpSize(const Shape& one, const Shape& other, const uint32_t size, const Shape&, const uint32_t, const bool)
{
    uint32_t most = 0, least = 0;
    GetPowerMaxMinTmpSize(one, other, false, size, false, most, least);
    return least;
}
template <typename Shape, typename Type>
void GetAscendAntiQuantMaxMinTmpSize(const Shape& shape, const Shape&, bool, Type, Type, uint32_t& most, uint32_t& least)
{
    elementwise_sizes(shape, 4, most, least);
}
template <typename Shape, typename Type> uint32_t GetAscendAntiQuantMaxTmpSize(const Shape& shape, const Shape&, bool, Type, Type)
{
    uint32_t most = 0, least = 0;
    elementwise_sizes(shape, 4, most, least);
    return most;
}
template <typename Shape, typename Type> uint32_t GetAscendAntiQuantMinTmpSize(const Shape& shape, const Shape&, bool, Type, Type)
{
    uint32_t most = 0, least = 0;
    elementwise_sizes(shape, 4, most, least);
    return least;
}

template <typename Shape>
uint32_t GetSelectMaxTmpSize(const Shape& one, const Shape& other, const uint32_t size, const Shape& mask, const uint32_t mask_size, const bool reuse)
{
    return GetSelectWithBytesMaskMaxTmpSize(one, other, size, mask, mask_size, reuse);
}
template <typename Shape>
uint32_t GetSelectMinTmpSize(const Shape& one, const Shape& other, const uint32_t size, const Shape& mask, const uint32_t mask_size, const bool reuse)
{
    return GetSelectWithBytesMaskMinTmpSize(one, other, size, mask, mask_size, reuse);
}
// Returns whether the function is possible for the shapes; Jumar's decides that when it runs.
template <typename Shape, typename Type, typename Config>
bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const Shape& shape, const Shape&, const Type, const Config&, uint32_t& most,
                               uint32_t& least)
{
    elementwise_sizes(shape, 4, most, least);
    return true;
}
// The factors of conversions depend on the shapes on a card.
inline void GetAscendQuantTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf)
{
    GetXorTmpBufferFactorSize(4, maxLiveNodeCount, extraBuf);
}
template <typename Shape> void GetAscendDequantTmpBufferFactorSize(const Shape&, uint32_t& maxLiveNodeCount, uint32_t& extraBuf)
{
    GetXorTmpBufferFactorSize(4, maxLiveNodeCount, extraBuf);
}
template <typename Shape, typename Type>
void GetAscendAntiQuantTmpBufferFactorSize(const Shape&, const Shape&, bool, Type, Type, uint32_t& maxLiveNodeCount, uint32_t& extraBuf)
{
    GetXorTmpBufferFactorSize(4, maxLiveNodeCount, extraBuf);
}

// Functions of a number of elements.
inline void GetArithProgressionMaxMinTmpSize(uint32_t& most, uint32_t& least)
{
    most = least = 0;
}
inline void GetArangeMaxMinTmpSize(uint32_t& most, uint32_t& least)
{
    most = least = 0;
}
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    least = most = (n * size + 31) / 32 * 32 + 32;
}
// Pairs of a score and an index have 8 bytes.
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC&, const uint32_t count, const uint32_t)
{
    return (count + 31) / 32 * 32 * 8;
}
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC&, const uint32_t count, const uint32_t)
{
    return (count + 31) / 32 * 32 * 8;
}
#undef JUMAR_FACTORS

} // namespace AscendC

#endif
