// Functions of rows: the largest elements, running sums, means, and masks of dropouts. Temporary buffers are accepted and not needed.
#ifndef JUMAR_ASCENDC_ROWS_H
#define JUMAR_ASCENDC_ROWS_H

#include <algorithm>
#include <cmath>
#include <vector>

#include "../kernel_tiling/kernel_tiling.h"
#include "math.h"
#include "reduce.h"

namespace AscendC {

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
enum class TopKAlgo { RADIX_SELECT, MERGE_SORT };
enum class TopKOrder { UNSET, LARGEST, SMALLEST };
struct TopKConfig {
    TopKAlgo algo = TopKAlgo::MERGE_SORT;
    TopKOrder order = TopKOrder::UNSET;
    bool sorted = true;
};
inline constexpr TopKConfig defaultTopKConfig{};
// Rows of `inner` elements, of which n hold values.
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner = 0;
    int32_t n = 0;
};

// The k largest or smallest elements of each row, in order, with their indices; of equal ones that of the lower index comes first. A row of
// results begins at a multiple of 32 bytes, except with rows of 32 elements (TOPK_NSMALL).
template <typename TypeT, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false, enum TopKMode topkMode = TopKMode::TOPK_NORMAL,
          const TopKConfig& config = defaultTopKConfig>
void TopK(const LocalTensor<TypeT>& dstValue, const LocalTensor<int32_t>& dstIndex, const LocalTensor<TypeT>& src, const LocalTensor<int32_t>& srcIndex,
          const LocalTensor<bool>& finish, const int32_t k, const TopkTiling&, const TopKInfo& info, const bool isLargest = true,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"TopK", site};
    constexpr bool is_small = topkMode == TopKMode::TOPK_NSMALL;
    if (info.outter <= 0 || info.n <= 0 || k <= 0 || k > info.n || info.n > info.inner)
        fail(site, "TopK: k is %d, and the %d rows have %d elements of %d; wanted are 1 <= k <= n <= inner", k, info.outter, info.n, info.inner);
    if ((is_small && info.inner != 32) || info.inner % 32 != 0)
        fail(site, "TopK: a row has %d elements; it has to have %s", info.inner, is_small ? "32 with TOPK_NSMALL" : "a multiple of 32");
    const uint64_t rows = static_cast<uint64_t>(info.outter), inner = static_cast<uint64_t>(info.inner), count = static_cast<uint64_t>(k);
    auto padded = [count](uint64_t size) { return is_small ? count : (count * size + 31) / 32 * 32 / size; };
    const uint64_t value_step = padded(sizeof(TypeT)), index_step = padded(4);
    check_access(dstValue, ((rows - 1) * value_step + count) * sizeof(TypeT), "dstValue", call);
    check_access(dstIndex, ((rows - 1) * index_step + count) * 4, "dstIndex", call);
    check_access(src, rows * inner * sizeof(TypeT), "src", call);
    if constexpr (isInitIndex) check_access(srcIndex, (is_small ? rows * inner : inner) * 4, "srcIndex", call);
    if constexpr (isHasfinish) check_access(finish, rows, "finish", call);
    std::vector<uint32_t> order(static_cast<size_t>(info.n));
    for (uint64_t row = 0; row < rows; row++) {
        const TypeT* line = src.raw() + row * inner;
        for (size_t at = 0; at < order.size(); at++) order[at] = static_cast<uint32_t>(at);
        // A NaN is larger than all numbers.
        auto larger = [line](uint32_t a, uint32_t b) {
            const bool a_nan = line[a] != line[a], b_nan = line[b] != line[b];
            return a_nan || b_nan ? a_nan && !b_nan : line[a] > line[b];
        };
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return isLargest ? larger(a, b) : larger(b, a); });
        for (uint64_t at = 0; at < count; at++) {
            const uint32_t from = order[at];
            int32_t index = static_cast<int32_t>(from);
            if constexpr (isInitIndex) index = srcIndex.raw()[(is_small ? row * inner : 0) + from];
            // A row that has ended has the index n.
            if constexpr (isHasfinish) index = finish.raw()[row] ? info.n : index;
            dstValue.raw()[row * value_step + at] = line[from];
            dstIndex.raw()[row * index_step + at] = index;
        }
    }
}
template <typename TypeT, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false, enum TopKMode topkMode = TopKMode::TOPK_NORMAL,
          const TopKConfig& config = defaultTopKConfig>
void TopK(const LocalTensor<TypeT>& dstValue, const LocalTensor<int32_t>& dstIndex, const LocalTensor<TypeT>& src, const LocalTensor<int32_t>& srcIndex,
          const LocalTensor<bool>& finish, const LocalTensor<uint8_t>&, const int32_t k, const TopkTiling& tiling, const TopKInfo& info,
          const bool isLargest = true, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    TopK<TypeT, isInitIndex, isHasfinish, isReuseSrc, topkMode, config>(dstValue, dstIndex, src, srcIndex, finish, k, tiling, info, isLargest, site);
}

struct CumSumConfig {
    bool isLastAxis = true;
    bool isReuseSource = false;
    bool outputLastRow = false;
};
inline constexpr CumSumConfig defaultCumSumConfig{true, false, true};
struct CumSumInfo {
    uint32_t outter = 0;
    uint32_t inner = 0;
};

// Running sums along the rows, or down the columns; on request the last row of the result as well. Sums of half are kept in float.
template <typename TypeT, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(LocalTensor<TypeT>& dst, LocalTensor<TypeT>& lastRow, const LocalTensor<TypeT>& src, const CumSumInfo& info,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"CumSum", site};
    const uint64_t rows = info.outter, columns = info.inner;
    if (rows == 0 || columns == 0) return;
    if (columns * sizeof(TypeT) % 32 != 0) fail(site, "CumSum: a row has %u elements of %zu bytes; it has to have a multiple of 32 bytes", info.inner, sizeof(TypeT));
    check_access(dst, rows * columns * sizeof(TypeT), "dst", call);
    check_access(src, rows * columns * sizeof(TypeT), "src", call);
    if (config.outputLastRow) check_access(lastRow, columns * sizeof(TypeT), "lastRow", call);
    const uint64_t lines = config.isLastAxis ? rows : columns, steps = config.isLastAxis ? columns : rows;
    for (uint64_t line = 0; line < lines; line++) {
        float sum = 0;
        for (uint64_t step = 0; step < steps; step++) {
            const uint64_t at = config.isLastAxis ? line * columns + step : step * columns + line;
            sum += static_cast<float>(src.raw()[at]);
            dst.raw()[at] = static_cast<TypeT>(sum);
        }
    }
    if (config.outputLastRow) std::copy_n(dst.raw() + (rows - 1) * columns, columns, lastRow.raw());
}
template <typename TypeT, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(LocalTensor<TypeT>& dst, LocalTensor<TypeT>& lastRow, const LocalTensor<TypeT>& src, LocalTensor<uint8_t>&, const CumSumInfo& info,
            jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    CumSum<TypeT, config>(dst, lastRow, src, info, site);
}

// Rows of `inner` elements, of which n hold values.
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner = 0;
    uint32_t n = 0;
};
template <typename TypeT, typename accType = TypeT, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
void Mean(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const MeanParams& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(reduceDim == -1, "Mean along other dimensions than the last is not supported by Jumar; docs/ascendc.md lists what is");
    const Call call{"Mean", site};
    if (params.outter == 0 || params.n == 0) return;
    if (params.n > params.inner || params.inner * sizeof(TypeT) % 32 != 0)
        fail(site, "Mean: a row has %u elements of %u; n is inner at most, and inner a multiple of 32 bytes", params.n, params.inner);
    check_access(dst, params.outter * sizeof(TypeT), "dst", call);
    check_access(src, uint64_t(params.outter) * params.inner * sizeof(TypeT), "src", call);
    for (uint64_t row = 0; row < params.outter; row++) {
        double sum = 0;
        for (uint64_t at = 0; at < params.n; at++) sum += static_cast<double>(src.raw()[row * params.inner + at]);
        dst.raw()[row] = static_cast<TypeT>(sum / params.n);
    }
}
template <typename TypeT, typename accType = TypeT, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
void Mean(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>&, const MeanParams& params,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Mean<TypeT, accType, isReuseSource, isBasicBlock, reduceDim>(dst, src, params, site);
}

// Patterns of dimensions: A is kept, R is reduced.
namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
} // namespace Reduce
} // namespace Pattern

// The means of the rows (AR) or of the columns (RA) of a matrix whose rows have a multiple of 32 bytes.
template <class TypeT, class pattern, bool isReuseSource = false>
void ReduceMean(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const uint32_t srcShape[], bool srcInnerPad,
                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeT, float>, "ReduceMean has the type float");
    constexpr bool is_of_rows = std::is_same_v<pattern, Pattern::Reduce::AR>;
    static_assert(is_of_rows || std::is_same_v<pattern, Pattern::Reduce::RA>, "ReduceMean has the patterns AR and RA");
    const Call call{"ReduceMean", site};
    const uint64_t rows = srcShape[0], columns = srcShape[1];
    if (rows == 0 || columns == 0 || columns * sizeof(TypeT) % 32 != 0 || !srcInnerPad)
        fail(site, "ReduceMean: the shape is %u x %u, and srcInnerPad is %s; wanted are rows of a multiple of 32 bytes, and true", srcShape[0], srcShape[1],
             srcInnerPad ? "true" : "false");
    const uint64_t results = is_of_rows ? rows : columns, steps = is_of_rows ? columns : rows;
    check_access(srcTensor, rows * columns * sizeof(TypeT), "src", call);
    check_access(dstTensor, results * sizeof(TypeT), "dst", call);
    for (uint64_t result = 0; result < results; result++) {
        double sum = 0;
        for (uint64_t step = 0; step < steps; step++) sum += static_cast<double>(srcTensor.raw()[is_of_rows ? result * columns + step : step * columns + result]);
        dstTensor.raw()[result] = static_cast<TypeT>(sum / static_cast<double>(steps));
    }
}
template <class TypeT, class pattern, bool isReuseSource = false>
void ReduceMean(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const LocalTensor<uint8_t>&, const uint32_t srcShape[], bool srcInnerPad,
                jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    ReduceMean<TypeT, pattern, isReuseSource>(dstTensor, srcTensor, srcShape, srcInnerPad, site);
}

using tiling::PadTiling;
using tiling::UnPadTiling;

struct PadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
// Fills rows up to a multiple of 32 bytes. Rows of such a length get the value in the elements behind their own ones.
template <typename TypeT>
void Pad(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const PadParams& padParams, const PadTiling& tiling,
         jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(sizeof(TypeT) == 2 || sizeof(TypeT) == 4, "Pad has elements of 16 and 32 bits");
    const Call call{"Pad", site};
    const uint64_t rows = tiling.srcHeight, width = tiling.srcWidth, left = padParams.leftPad, right = padParams.rightPad;
    if (rows == 0 || width == 0) fail(site, "Pad: the tiling has %u rows of %u elements; PadTilingFunc fills it", tiling.srcHeight, tiling.srcWidth);
    constexpr uint64_t block = 32 / sizeof(TypeT);
    const uint64_t aligned = (width + block - 1) / block * block, own = width == aligned ? tiling.srcOriWidth : width;
    if ((width == aligned && left != 0) || left + own + right != aligned)
        fail(site, "Pad: rows of %llu elements with %llu more on the left and %llu on the right have to reach %llu elements%s", static_cast<unsigned long long>(own),
             static_cast<unsigned long long>(left), static_cast<unsigned long long>(right), static_cast<unsigned long long>(aligned),
             width == aligned ? "; rows of whole blocks are filled on the right" : "");
    check_access(srcTensor, rows * width * sizeof(TypeT), "src", call);
    check_access(dstTensor, rows * aligned * sizeof(TypeT), "dst", call);
    const TypeT value = static_cast<TypeT>(padParams.padValue);
    for (uint64_t row = 0; row < rows; row++) {
        const TypeT* from = srcTensor.raw() + row * width;
        TypeT* to = dstTensor.raw() + row * aligned;
        std::copy_n(from, own, to + left);
        std::fill_n(to, left, value);
        std::fill_n(to + left + own, right, value);
    }
}
template <typename TypeT>
void Pad(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const PadParams& padParams, const LocalTensor<uint8_t>&, const PadTiling& tiling,
         jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    Pad(dstTensor, srcTensor, padParams, tiling, site);
}

// leftPad has no effect.
struct UnPadParams {
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};
// Drops the last elements of rows of a multiple of 32 bytes.
template <typename TypeT>
void UnPad(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const UnPadParams& unPadParams, const UnPadTiling& tiling,
           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(sizeof(TypeT) == 2 || sizeof(TypeT) == 4, "UnPad has elements of 16 and 32 bits");
    const Call call{"UnPad", site};
    const uint64_t rows = tiling.srcHeight, width = tiling.srcWidth, right = unPadParams.rightPad;
    if (rows == 0 || width == 0) fail(site, "UnPad: the tiling has %u rows of %u elements; UnPadTilingFunc fills it", tiling.srcHeight, tiling.srcWidth);
    if (width * sizeof(TypeT) % 32 != 0 || right == 0 || right * sizeof(TypeT) >= 32)
        fail(site, "UnPad: %u of %u elements are to be dropped; wanted are less than 32 bytes of a row that has a multiple of 32 bytes", unPadParams.rightPad,
             tiling.srcWidth);
    check_access(srcTensor, rows * width * sizeof(TypeT), "src", call);
    check_access(dstTensor, rows * (width - right) * sizeof(TypeT), "dst", call);
    for (uint64_t row = 0; row < rows; row++) std::copy_n(srcTensor.raw() + row * width, width - right, dstTensor.raw() + row * (width - right));
}
template <typename TypeT>
void UnPad(const LocalTensor<TypeT>& dstTensor, const LocalTensor<TypeT>& srcTensor, const UnPadParams& unPadParams, const LocalTensor<uint8_t>&, const UnPadTiling& tiling,
           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    UnPad(dstTensor, srcTensor, unPadParams, tiling, site);
}

// The mask has a byte or a bit for each element. Its rows may be longer than those of the source.
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1, DROPOUT_MODE_BYTE_ALIGN = 2, DROPOUT_MODE_BIT_ALIGN = 3, DROPOUT_MODE_BIT_MISALIGN = 4;
struct DropOutShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};
// Elements whose mask is 0 become 0, the others are divided by the rate at which elements are kept.
template <typename TypeT, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>& mask, const float keepProb, const DropOutShapeInfo& info,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(dropOutMode <= DROPOUT_MODE_BIT_MISALIGN, "DropOut has modes 0 to 4");
    const Call call{"DropOut", site};
    const uint64_t rows = info.firstAxis, columns = info.srcLastAxis, step = info.maskLastAxis;
    if (rows == 0 || columns == 0) return;
    if (!(keepProb > 0 && keepProb <= 1)) fail(site, "DropOut: keepProb is %g; it has to be larger than 0 and at most 1", static_cast<double>(keepProb));
    // Without a mode the lengths of rows distinguish bytes from bits.
    const bool is_bits = dropOutMode == 0 ? step < columns : dropOutMode >= DROPOUT_MODE_BIT_ALIGN;
    if (step * (is_bits ? 8 : 1) < columns)
        fail(site, "DropOut: a row of the mask has %u bytes, and %u elements need %s of the mask", info.maskLastAxis, info.srcLastAxis, is_bits ? "a bit each" : "a byte each");
    check_access(dst, rows * columns * sizeof(TypeT), "dst", call);
    check_access(src, rows * columns * sizeof(TypeT), "src", call);
    check_access(mask, rows * step, "mask", call);
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++) {
            const uint8_t byte = mask.raw()[row * step + (is_bits ? column / 8 : column)];
            const bool is_kept = is_bits ? byte >> (column % 8) & 1 : byte != 0;
            const uint64_t at = row * columns + column;
            dst.raw()[at] = is_kept ? static_cast<TypeT>(static_cast<float>(src.raw()[at]) / keepProb) : static_cast<TypeT>(0.0f);
        }
}
template <typename TypeT, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LocalTensor<uint8_t>& mask, const LocalTensor<uint8_t>&, const float keepProb,
             const DropOutShapeInfo& info, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    DropOut<TypeT, isInitBitMode, dropOutMode>(dst, src, mask, keepProb, info, site);
}

// dst = src0 * function(src1), with and without a temporary buffer, and with and without a count.
#define JUMAR_ASCENDC_GATED(Name, gate)                                                                                                              \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const uint32_t count,                   \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        using namespace jumar::ascendc;                                                                                                              \
        binary(dst, src0, src1, count, Call{#Name, site}, [](TypeT x, TypeT y, TypeT) -> TypeT {                                                     \
            const Wide<TypeT> w = static_cast<Wide<TypeT>>(y);                                                                                       \
            return static_cast<TypeT>(static_cast<Wide<TypeT>>(x) * (gate));                                                                         \
        });                                                                                                                                          \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, jumar::ascendc::Site site = jumar::ascendc::Site::here()) \
    {                                                                                                                                                \
        Name(dst, src0, src1, src0.GetSize(), site);                                                                                                 \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const LocalTensor<uint8_t>&, const uint32_t count, \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name(dst, src0, src1, count, site);                                                                                                          \
    }                                                                                                                                                \
    template <typename TypeT, bool isReuseSource = false>                                                                                            \
    void Name(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src0, const LocalTensor<TypeT>& src1, const LocalTensor<uint8_t>&,            \
              jumar::ascendc::Site site = jumar::ascendc::Site::here())                                                                              \
    {                                                                                                                                                \
        Name(dst, src0, src1, src0.GetSize(), site);                                                                                                 \
    }
JUMAR_ASCENDC_GATED(GeGLU, jumar::ascendc::gelu(w))
JUMAR_ASCENDC_GATED(ReGlu, w > 0 ? w : Wide<TypeT>(0))
#undef JUMAR_ASCENDC_GATED

// The newer names of the reductions of a repeat.
template <ReduceType reduceType, typename TypeT, typename TypeU, bool isSetMask = true>
void ReduceRepeat(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime,
                  const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                  jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    static_assert(std::is_same_v<TypeT, TypeU>, "ReduceRepeat has one type on 910B and 310P");
    if constexpr (reduceType == ReduceType::SUM) WholeReduceSum<TypeT, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, site);
    else if constexpr (reduceType == ReduceType::MAX)
        WholeReduceMax<TypeT, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order, site);
    else WholeReduceMin<TypeT, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, order, site);
}
template <ReduceType reduceType, typename TypeT, typename TypeU, bool isSetMask = true>
void ReducePairElem(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const jumar::ascendc::MaskArgument& mask, const int32_t repeatTime,
                    const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    static_assert(reduceType == ReduceType::SUM && std::is_same_v<TypeT, TypeU>, "ReducePairElem has sums of one type");
    PairReduceSum<TypeT, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, site);
}

} // namespace AscendC

#endif
