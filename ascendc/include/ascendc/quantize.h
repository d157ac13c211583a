// Quantisation in UB: int8 from floats, floats from int32 and from int8.
#ifndef JUMAR_ASCENDC_QUANTIZE_H
#define JUMAR_ASCENDC_QUANTIZE_H

#include "softmax.h"

namespace AscendC {

struct DequantParams {
    uint32_t m = 0;
    uint32_t n = 0;
    uint32_t calCount = 0;
};
enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW = 0, DEQUANT_WITH_MULTI_ROW };
struct AntiQuantShapeInfo {
    uint32_t offsetHeight = 0;
    uint32_t offsetWidth = 0;
    uint32_t scaleHeight = 0;
    uint32_t scaleWidth = 0;
};

} // namespace AscendC

namespace jumar {
namespace ascendc {

// The scale that an element of a tensor of scales stands for: words of 64 bits have a float in their lower half.
template <typename TypeT> inline float scale_of(TypeT value)
{
    if constexpr (sizeof(TypeT) == 8) {
        const uint32_t bits = static_cast<uint32_t>(value);
        float scale;
        std::memcpy(&scale, &bits, sizeof scale);
        return scale;
    } else {
        return static_cast<float>(value);
    }
}

template <typename TypeD> inline TypeD saturated(float value)
{
    static_assert(std::is_same_v<TypeD, int8_t> || std::is_same_v<TypeD, uint8_t>, "AscendQuant to this type is not supported by Jumar; docs/ascendc.md lists what is");
    constexpr float lowest = static_cast<float>(std::numeric_limits<TypeD>::lowest()), highest = static_cast<float>(std::numeric_limits<TypeD>::max());
    if (value != value) return TypeD(0);
    const float rounded = std::nearbyint(value);
    return static_cast<TypeD>(rounded < lowest ? lowest : rounded > highest ? highest : rounded);
}

// dst[i] = src[i] * scale(i) + offset(i), rounded to nearest even and saturated.
template <typename TypeD, typename TypeS, typename Scale, typename Offset>
inline void quantize(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<TypeS>& src, uint64_t count, const Call& call, Scale scale, Offset offset)
{
    check_access(dst, bytes_of<TypeD>(count), "dst", call);
    check_access(src, bytes_of<TypeS>(count), "src", call);
    const TypeS* from = src.raw();
    TypeD* to = dst.raw();
    for (uint64_t at = 0; at < count; at++) to[at] = saturated<TypeD>(static_cast<float>(from[at]) * scale(at) + offset(at));
}

// Rows of n elements, of which the first ones are converted. A row of dst begins at a multiple of 32 bytes.
template <typename TypeD, typename Scale>
inline void dequantize(const AscendC::LocalTensor<TypeD>& dst, const AscendC::LocalTensor<int32_t>& src, const AscendC::DequantParams& params,
                       const Call& call, Scale scale)
{
    if (params.m == 0 || params.calCount == 0) return;
    if (params.calCount > params.n) fail(call.site, "AscendDequant: calCount is %u, and a row has %u elements", params.calCount, params.n);
    const uint64_t pitch = (params.n * sizeof(TypeD) + 31) / 32 * 32 / sizeof(TypeD);
    check_access(dst, ((params.m - 1) * pitch + params.calCount) * sizeof(TypeD), "dst", call);
    check_access(src, ((params.m - 1ull) * params.n + params.calCount) * sizeof(int32_t), "src", call);
    for (uint64_t row = 0; row < params.m; row++)
        for (uint64_t at = 0; at < params.calCount; at++)
            dst.raw()[row * pitch + at] = static_cast<TypeD>(static_cast<float>(src.raw()[row * params.n + at]) * scale(at));
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

struct AscendQuantConfig {
    uint32_t calcCount = 0;
    uint32_t offsetCount = 0;
    uint32_t scaleCount = 0;
    uint32_t workLocalSize = 0;
};
inline constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG{};

// One scale and one offset for all elements.
template <typename TypeD, typename TypeS>
void AscendQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const float scale, const float offset, const uint32_t calCount,
                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::quantize(dst, src, calCount, {"AscendQuant", site}, [&](uint64_t) { return scale; }, [&](uint64_t) { return offset; });
}
// Scales and offsets that repeat.
template <typename TypeD, typename TypeS>
void AscendQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const LocalTensor<TypeS>& scales, const LocalTensor<TypeS>& offsets,
                 const uint32_t scaleCount, const uint32_t offsetCount, const uint32_t calCount, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"AscendQuant", site};
    if (scaleCount == 0 || offsetCount == 0) fail(site, "AscendQuant: %u scales and %u offsets; at least one is needed of each", scaleCount, offsetCount);
    check_access(scales, scaleCount * sizeof(TypeS), "scaleTensor", call);
    check_access(offsets, offsetCount * sizeof(TypeS), "offsetTensor", call);
    quantize(
        dst, src, calCount, call, [&](uint64_t at) { return static_cast<float>(scales.raw()[at % scaleCount]); },
        [&](uint64_t at) { return static_cast<float>(offsets.raw()[at % offsetCount]); });
}
template <typename TypeD, typename TypeS>
void AscendQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const LocalTensor<TypeS>& scales, const jumar::ascendc::AsIs<TypeS> offset,
                 const uint32_t scaleCount, const uint32_t calCount, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"AscendQuant", site};
    if (scaleCount == 0) fail(site, "AscendQuant: the tensor of scales has no elements");
    check_access(scales, scaleCount * sizeof(TypeS), "scaleTensor", call);
    quantize(
        dst, src, calCount, call, [&](uint64_t at) { return static_cast<float>(scales.raw()[at % scaleCount]); },
        [&](uint64_t) { return static_cast<float>(offset); });
}

// A scale for each column, or one for all.
template <typename TypeD, typename Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<TypeD>& dst, const LocalTensor<int32_t>& src, const LocalTensor<Scale>& scales, DequantParams params,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"AscendDequant", site};
    const uint32_t period = params.calCount;
    if (mode == DeQuantMode::DEQUANT_WITH_MULTI_ROW && params.m == 1 && period != 0) params.calCount = params.n / period * period;
    check_access(scales, period * sizeof(Scale), "deqScale", call);
    dequantize(dst, src, params, call, [&](uint64_t at) { return scale_of(scales.raw()[at % period]); });
}
template <typename TypeD, typename Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<TypeD>& dst, const LocalTensor<int32_t>& src, const LocalTensor<Scale>& scales, const uint32_t calCount,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    AscendDequant<TypeD, Scale, mode>(dst, src, scales, DequantParams{1, calCount, calCount}, site);
}
template <typename TypeD, typename Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<TypeD>& dst, const LocalTensor<int32_t>& src, const LocalTensor<Scale>& scales,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    AscendDequant<TypeD, Scale, mode>(dst, src, scales, src.GetSize(), site);
}
template <typename TypeD, typename Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW,
          typename = std::enable_if_t<std::is_arithmetic_v<Scale> || jumar::ascendc::is_bfloat16<Scale>>>
void AscendDequant(const LocalTensor<TypeD>& dst, const LocalTensor<int32_t>& src, const Scale scale, DequantParams params,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const float value = scale_of(scale);
    dequantize(dst, src, params, {"AscendDequant", site}, [&](uint64_t) { return value; });
}

// dst[i] = (src[i] + offset) * scale for one scale and offset.
template <typename TypeS, typename TypeD, bool isTranspose>
void AscendAntiQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const TypeD offset, const TypeD scale, const uint32_t k, const AntiQuantShapeInfo& = {},
                     jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeS, int8_t>, "AscendAntiQuant of this type is not supported by Jumar; docs/ascendc.md lists what is");
    static_cast<void>(k);
    const Call call{"AscendAntiQuant", site};
    const uint64_t count = src.GetSize();
    check_access(dst, count * sizeof(TypeD), "dst", call);
    check_access(src, count, "src", call);
    for (uint64_t at = 0; at < count; at++)
        dst.raw()[at] = static_cast<TypeD>((static_cast<float>(src.raw()[at]) + static_cast<float>(offset)) * static_cast<float>(scale));
}
// Scales and offsets for each column, or with isTranspose for each row, of a matrix with k rows, or with isTranspose k columns.
template <typename TypeS, typename TypeD, bool isTranspose>
void AscendAntiQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const LocalTensor<TypeD>& offsets, const LocalTensor<TypeD>& scales, const uint32_t k,
                     const AntiQuantShapeInfo& = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeS, int8_t>, "AscendAntiQuant of this type is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"AscendAntiQuant", site};
    const uint64_t count = src.GetSize();
    if (k == 0 || count % k != 0) fail(site, "AscendAntiQuant: %llu elements do not form a matrix with a k of %u", static_cast<unsigned long long>(count), k);
    const uint64_t n = count / k;
    check_access(dst, count * sizeof(TypeD), "dst", call);
    check_access(src, count, "src", call);
    check_access(offsets, n * sizeof(TypeD), "offset", call);
    check_access(scales, n * sizeof(TypeD), "scale", call);
    for (uint64_t at = 0; at < count; at++) {
        const uint64_t column = isTranspose ? at / k : at % n;
        dst.raw()[at] = static_cast<TypeD>((static_cast<float>(src.raw()[at]) + static_cast<float>(offsets.raw()[column])) *
                                              static_cast<float>(scales.raw()[column]));
    }
}

// The same with a buffer, which is not needed, in front of the parameters; and without a number of elements.
template <typename TypeD, typename TypeS, typename... Rest>
auto AscendQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const LocalTensor<uint8_t>&, const Rest&... rest)
    -> decltype(AscendQuant(dst, src, rest...))
{
    AscendQuant(dst, src, rest...);
}
template <typename TypeD, typename TypeS>
void AscendQuant(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& src, const float scale, const float offset,
                 jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    AscendQuant(dst, src, scale, offset, src.GetSize(), site);
}
template <typename TypeD, typename Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW, typename Scales, typename Count>
void AscendDequant(const LocalTensor<TypeD>& dst, const LocalTensor<int32_t>& src, const Scales& scales, const LocalTensor<uint8_t>&, const Count& count,
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    AscendDequant<TypeD, Scale, mode>(dst, src, scales, count, site);
}

} // namespace AscendC

#endif
