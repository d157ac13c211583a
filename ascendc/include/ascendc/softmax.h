// Softmax of rows, and the steps of attention that is computed part by part.
#ifndef JUMAR_ASCENDC_SOFTMAX_H
#define JUMAR_ASCENDC_SOFTMAX_H

#include "tensor.h"
#include "../kernel_tiling/kernel_tiling.h"

namespace AscendC {

using tiling::SoftMaxTiling;

// Rows and columns as they lie in memory, and those that hold values.
struct SoftMaxShapeInfo {
    uint32_t srcM = 0;
    uint32_t srcK = 0;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
};
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
    bool isCheckTiling = true;
    uint32_t oriSrcM = 0;
    uint32_t oriSrcK = 0;
    SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG{};

} // namespace AscendC

namespace jumar {
namespace ascendc {

// The rows of a call. A maximum or sum fills a block of 32 bytes for each row.
struct SoftmaxRows {
    uint32_t rows, columns, stride;

    SoftmaxRows(const AscendC::SoftMaxTiling& tiling, const AscendC::SoftMaxShapeInfo& shape, const Call& call)
        : rows(shape.oriSrcM ? shape.oriSrcM : shape.srcM ? shape.srcM : tiling.srcM),
          columns(shape.oriSrcK ? shape.oriSrcK : shape.srcK ? shape.srcK : tiling.srcK), stride(shape.srcK ? shape.srcK : tiling.srcK)
    {
        if (columns > stride || rows == 0 || columns == 0)
            fail(call.site, "%s: %u rows of %u columns, of which %u hold values; each has to be above 0, and no more than there are columns", call.name, rows,
                 stride, columns);
    }
    template <typename TypeT> const TypeT* source(const AscendC::LocalTensor<TypeT>& tensor, const char* operand, const Call& call) const
    {
        check_access(tensor, static_cast<uint64_t>(rows) * stride * sizeof(TypeT), operand, call);
        return tensor.raw();
    }
    template <typename TypeT> TypeT* target(const AscendC::LocalTensor<TypeT>& tensor, const char* operand, const Call& call) const
    {
        check_access(tensor, static_cast<uint64_t>(rows) * stride * sizeof(TypeT), operand, call);
        return tensor.raw();
    }
    template <typename TypeT> TypeT* blocks(const AscendC::LocalTensor<TypeT>& tensor, const char* operand, const Call& call) const
    {
        check_access(tensor, rows * 32ull, operand, call);
        return tensor.raw();
    }
    template <typename TypeT> static void fill(TypeT* blocks, uint32_t row, double value)
    {
        for (uint32_t at = 0; at < 32 / sizeof(TypeT); at++) blocks[row * (32 / sizeof(TypeT)) + at] = static_cast<TypeT>(value);
    }
    template <typename TypeT> static double first(const TypeT* blocks, uint32_t row) { return static_cast<double>(blocks[row * (32 / sizeof(TypeT))]); }
};

inline void check_temporary([[maybe_unused]] const AscendC::LocalTensor<uint8_t>& buffer, const Call& call)
{
    check_access(buffer, 32, "sharedTmpBuffer", call);
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

// dst = exp(src - max) / sum for each row. Sums are exact to a rounding at the end.
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename TypeD, typename TypeS>
void SoftMax(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& sum, const LocalTensor<TypeS>& max, const LocalTensor<TypeD>& src, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& shape = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!isDataFormatNZ && config.mode == SoftmaxMode::SOFTMAX_NORMAL,
                  "SoftMax of fractals, or without broadcast results, is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"SoftMax", site};
    const SoftmaxRows rows(tiling, shape, call);
    const TypeD* from = rows.source(src, "src", call);
    TypeD* to = rows.target(dst, "dst", call);
    TypeS *sums = rows.blocks(sum, "sum", call), *maxima = rows.blocks(max, "max", call);
    for (uint32_t row = 0; row < rows.rows; row++) {
        const TypeD* line = from + static_cast<uint64_t>(row) * rows.stride;
        TypeD* result = to + static_cast<uint64_t>(row) * rows.stride;
        double highest = static_cast<double>(line[0]), total = 0;
        for (uint32_t at = 1; at < rows.columns; at++) highest = std::fmax(highest, static_cast<double>(line[at]));
        for (uint32_t at = 0; at < rows.columns; at++) total += std::exp(static_cast<double>(line[at]) - highest);
        for (uint32_t at = 0; at < rows.columns; at++) result[at] = static_cast<TypeD>(std::exp(static_cast<double>(line[at]) - highest) / total);
        SoftmaxRows::fill(sums, row, total);
        SoftmaxRows::fill(maxima, row, highest);
    }
}
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename TypeD, typename TypeS>
void SoftMax(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& sum, const LocalTensor<TypeS>& max, const LocalTensor<TypeD>& src,
             const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SoftMax", site});
    SoftMax<TypeT, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, sum, max, src, tiling, shape, site);
}
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"SoftMax", site};
    const SoftmaxRows rows(tiling, shape, call);
    const TypeT* from = rows.source(src, "src", call);
    TypeT* to = rows.target(dst, "dst", call);
    for (uint32_t row = 0; row < rows.rows; row++) {
        const TypeT* line = from + static_cast<uint64_t>(row) * rows.stride;
        TypeT* result = to + static_cast<uint64_t>(row) * rows.stride;
        double highest = static_cast<double>(line[0]), total = 0;
        for (uint32_t at = 1; at < rows.columns; at++) highest = std::fmax(highest, static_cast<double>(line[at]));
        for (uint32_t at = 0; at < rows.columns; at++) total += std::exp(static_cast<double>(line[at]) - highest);
        for (uint32_t at = 0; at < rows.columns; at++) result[at] = static_cast<TypeT>(std::exp(static_cast<double>(line[at]) - highest) / total);
    }
}
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& shape = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SoftMax", site});
    SoftMax<TypeT, isReuseSource, isBasicBlock, config>(dst, src, tiling, shape, site);
}

// dst = exp(src - inMax) / inSum.
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename TypeD, typename TypeS>
void SimpleSoftMax(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& inSum, const LocalTensor<TypeS>& inMax, const LocalTensor<TypeD>& src,
                   const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!isDataFormatNZ, "SimpleSoftMax of fractals is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"SimpleSoftMax", site};
    const SoftmaxRows rows(tiling, shape, call);
    const TypeD* from = rows.source(src, "src", call);
    TypeD* to = rows.target(dst, "dst", call);
    const TypeS *sums = rows.blocks(inSum, "inSum", call), *maxima = rows.blocks(inMax, "inMax", call);
    for (uint32_t row = 0; row < rows.rows; row++)
        for (uint32_t at = 0; at < rows.columns; at++) {
            const uint64_t index = static_cast<uint64_t>(row) * rows.stride + at;
            to[index] = static_cast<TypeD>(std::exp(static_cast<double>(from[index]) - SoftmaxRows::first(maxima, row)) / SoftmaxRows::first(sums, row));
        }
}
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename TypeD, typename TypeS>
void SimpleSoftMax(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& inSum, const LocalTensor<TypeS>& inMax, const LocalTensor<TypeD>& src,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
                   jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SimpleSoftMax", site});
    SimpleSoftMax<TypeT, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, inSum, inMax, src, tiling, shape, site);
}

// A part of the columns: dst = exp(src - max). With isUpdate max and expSum include the parts before, and expMax is the
// factor that rescales their results.
template <typename TypeT, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename TypeD, typename TypeS, typename TypeE>
void SoftmaxFlashV2(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& expSum, const LocalTensor<TypeS>& max, const LocalTensor<TypeD>& src,
                    const LocalTensor<TypeE>& expMax, const LocalTensor<TypeS>& inExpSum, const LocalTensor<TypeS>& inMax, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& shape = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!isDataFormatNZ && config.mode == SoftmaxMode::SOFTMAX_NORMAL,
                  "SoftmaxFlashV2 of fractals, or without broadcast results, is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"SoftmaxFlashV2", site};
    const SoftmaxRows rows(tiling, shape, call);
    const TypeD* from = rows.source(src, "src", call);
    TypeD* to = rows.target(dst, "dst", call);
    TypeS *sums = rows.blocks(expSum, "expSum", call), *maxima = rows.blocks(max, "max", call);
    const TypeS *sums_before = nullptr, *maxima_before = nullptr;
    TypeE* factors = nullptr;
    if constexpr (isUpdate) {
        sums_before = rows.blocks(inExpSum, "inExpSum", call);
        maxima_before = rows.blocks(inMax, "inMax", call);
        factors = rows.blocks(expMax, "expMax", call);
    }
    for (uint32_t row = 0; row < rows.rows; row++) {
        const TypeD* line = from + static_cast<uint64_t>(row) * rows.stride;
        TypeD* result = to + static_cast<uint64_t>(row) * rows.stride;
        double highest = static_cast<double>(line[0]), total = 0;
        for (uint32_t at = 1; at < rows.columns; at++) highest = std::fmax(highest, static_cast<double>(line[at]));
        if constexpr (isUpdate) {
            const double before = SoftmaxRows::first(maxima_before, row);
            highest = std::fmax(highest, before);
            const double factor = std::exp(before - highest);
            total = factor * SoftmaxRows::first(sums_before, row);
            SoftmaxRows::fill(factors, row, factor);
        }
        for (uint32_t at = 0; at < rows.columns; at++) {
            const double value = std::exp(static_cast<double>(line[at]) - highest);
            total += value;
            result[at] = static_cast<TypeD>(value);
        }
        SoftmaxRows::fill(sums, row, total);
        SoftmaxRows::fill(maxima, row, highest);
    }
}
template <typename TypeT, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename TypeD, typename TypeS, typename TypeE>
void SoftmaxFlashV2(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& expSum, const LocalTensor<TypeS>& max, const LocalTensor<TypeD>& src,
                    const LocalTensor<TypeE>& expMax, const LocalTensor<TypeS>& inExpSum, const LocalTensor<TypeS>& inMax,
                    const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SoftmaxFlashV2", site});
    SoftmaxFlashV2<TypeT, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, expSum, max, src, expMax, inExpSum, inMax, tiling, shape, site);
}

// The older form: dst = exp(src - max) / sum. With isUpdate max and sum include the parts before, and expMax is the factor that rescales
// results of theirs, which were divided by inSum.
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, typename TypeD, typename TypeS>
void SoftmaxFlash(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& sum, const LocalTensor<TypeS>& max, const LocalTensor<TypeD>& src, const LocalTensor<TypeD>& expMax,
                  const LocalTensor<TypeS>& inSum, const LocalTensor<TypeS>& inMax, const SoftMaxTiling& tiling, bool isUpdate = false,
                  const SoftMaxShapeInfo& shape = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"SoftmaxFlash", site};
    const SoftmaxRows rows(tiling, shape, call);
    const TypeD* from = rows.source(src, "src", call);
    const TypeS *sums_before = nullptr, *maxima_before = nullptr;
    TypeD* factors = nullptr;
    if (isUpdate) {
        sums_before = rows.blocks(inSum, "inSum", call);
        maxima_before = rows.blocks(inMax, "inMax", call);
        factors = rows.blocks(expMax, "dst", call);
    }
    TypeD* to = rows.target(dst, "dst", call);
    TypeS *sums = rows.blocks(sum, "dst", call), *maxima = rows.blocks(max, "dst", call);
    for (uint32_t row = 0; row < rows.rows; row++) {
        const TypeD* line = from + static_cast<uint64_t>(row) * rows.stride;
        TypeD* result = to + static_cast<uint64_t>(row) * rows.stride;
        double highest = static_cast<double>(line[0]), total = 0, rest = 0;
        for (uint32_t at = 1; at < rows.columns; at++) highest = std::fmax(highest, static_cast<double>(line[at]));
        if (isUpdate) {
            const double before = SoftmaxRows::first(maxima_before, row);
            highest = std::fmax(highest, before);
            rest = std::exp(before - highest) * SoftmaxRows::first(sums_before, row);
        }
        for (uint32_t at = 0; at < rows.columns; at++) total += std::exp(static_cast<double>(line[at]) - highest);
        total += rest;
        for (uint32_t at = 0; at < rows.columns; at++) result[at] = static_cast<TypeD>(std::exp(static_cast<double>(line[at]) - highest) / total);
        if (isUpdate) SoftmaxRows::fill(factors, row, rest / total);
        SoftmaxRows::fill(sums, row, total);
        SoftmaxRows::fill(maxima, row, highest);
    }
}
template <typename TypeT, bool isReuseSource = false, bool isBasicBlock = false, typename TypeD, typename TypeS>
void SoftmaxFlash(const LocalTensor<TypeD>& dst, const LocalTensor<TypeS>& sum, const LocalTensor<TypeS>& max, const LocalTensor<TypeD>& src, const LocalTensor<TypeD>& expMax,
                  const LocalTensor<TypeS>& inSum, const LocalTensor<TypeS>& inMax, const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
                  bool isUpdate = false, const SoftMaxShapeInfo& shape = {}, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::check_temporary(sharedTmpBuffer, {"SoftmaxFlash", site});
    SoftmaxFlash<TypeT, isReuseSource, isBasicBlock>(dst, sum, max, src, expMax, inSum, inMax, tiling, isUpdate, shape, site);
}

// Rows whose maximum has the bits `from` get the bits `to` in all elements. Returns whether there are any.
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
bool AdjustSoftMaxRes(const LocalTensor<T1>& result, const LocalTensor<T2>& max, const uint32_t from, const T1 to, const SoftMaxShapeInfo& shape,
                      jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!isDataFormatNZ && stepSizeMode == 0, "AdjustSoftMaxRes of fractals is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"AdjustSoftMaxRes", site};
    const SoftmaxRows rows({}, shape, call);
    T1* to_rows = rows.target(result, "softMaxRes", call);
    const T2* maxima = rows.blocks(max, "max", call);
    bool is_found = false;
    for (uint32_t row = 0; row < rows.rows; row++) {
        uint32_t bits = 0;
        std::memcpy(&bits, &maxima[row * (32 / sizeof(T2))], sizeof(T2));
        if (bits != from) continue;
        is_found = true;
        for (uint32_t at = 0; at < rows.columns; at++) to_rows[static_cast<uint64_t>(row) * rows.stride + at] = to;
    }
    return is_found;
}

constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo& shape, uint32_t size, uint32_t result_size, uint32_t workspace, bool = false,
                                                 bool = false, bool = false, bool = false)
{
    static_cast<void>(size);
    return tiling::softmax_tiling(shape.srcM, shape.srcK, result_size, workspace);
}

} // namespace AscendC

#endif
