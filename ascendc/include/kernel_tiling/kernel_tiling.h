// Tiling structures that host programs fill and kernels read.
#ifndef JUMAR_KERNEL_TILING_H
#define JUMAR_KERNEL_TILING_H

#include <cstdint>

#include "../ascendc/field_names_begin.h"

// The fields of a matrix product's tiling, in the order in which they lie in memory.
#define JUMAR_CUBE_TILING_FIELDS(FIELD)                                                                                                              \
    FIELD(usedCoreNum) FIELD(M) FIELD(N) FIELD(Ka) FIELD(Kb) FIELD(singleCoreM) FIELD(singleCoreN) FIELD(singleCoreK) FIELD(baseM) FIELD(baseN)      \
    FIELD(baseK) FIELD(depthA1) FIELD(depthB1) FIELD(stepM) FIELD(stepN) FIELD(isBias) FIELD(transLength) FIELD(iterateOrder) FIELD(shareMode)       \
    FIELD(shareL1Size) FIELD(shareL0CSize) FIELD(shareUbSize) FIELD(batchM) FIELD(batchN) FIELD(singleBatchM) FIELD(singleBatchN) FIELD(stepKa)      \
    FIELD(stepKb) FIELD(depthAL1CacheUB) FIELD(depthBL1CacheUB) FIELD(dbL0A) FIELD(dbL0B) FIELD(dbL0C) FIELD(ALayoutInfoB) FIELD(ALayoutInfoS)       \
    FIELD(ALayoutInfoN) FIELD(ALayoutInfoG) FIELD(ALayoutInfoD) FIELD(BLayoutInfoB) FIELD(BLayoutInfoS) FIELD(BLayoutInfoN) FIELD(BLayoutInfoG)      \
    FIELD(BLayoutInfoD) FIELD(CLayoutInfoB) FIELD(CLayoutInfoS1) FIELD(CLayoutInfoN) FIELD(CLayoutInfoG) FIELD(CLayoutInfoS2) FIELD(BatchNum)        \
    FIELD(mxTypePara)

namespace AscendC {

// Which dimensions are reduced (R) and kept (A).
enum class ReducePattern : uint32_t { AR = 0, RA = 1, R, ARA, ARAR, ARARA, ARARAR, ARARARA, ARARARAR, ARARARARA, RAR, RARA, RARAR, RARARA, RARARAR, RARARARA };

namespace tiling {

struct TCubeTiling {
#define JUMAR_FIELD(name) int32_t name = 0;
    JUMAR_CUBE_TILING_FIELDS(JUMAR_FIELD)
#undef JUMAR_FIELD
};
static_assert(sizeof(TCubeTiling) == 50 * sizeof(int32_t), "50 fields");

#define JUMAR_SOFTMAX_TILING_FIELDS(FIELD)                                                                                                           \
    FIELD(srcM) FIELD(srcK) FIELD(srcSize) FIELD(outMaxM) FIELD(outMaxK) FIELD(outMaxSize) FIELD(splitM) FIELD(splitK) FIELD(splitSize)              \
    FIELD(reduceM) FIELD(reduceK) FIELD(reduceSize) FIELD(rangeM) FIELD(tailM) FIELD(tailSplitSize) FIELD(tailReduceSize)

struct SoftMaxTiling {
#define JUMAR_FIELD(name) uint32_t name = 0;
    JUMAR_SOFTMAX_TILING_FIELDS(JUMAR_FIELD)
#undef JUMAR_FIELD
};

// Rows go through the temporary buffer in groups. The results for a row are a block of 32 bytes.
constexpr SoftMaxTiling softmax_tiling(uint32_t rows, uint32_t columns, uint32_t element_size, uint32_t buffer)
{
    SoftMaxTiling tiling;
    const uint32_t block = element_size ? 32 / element_size : 8, row_bytes = columns * 4 + 64;
    const uint32_t at_once = row_bytes && buffer / row_bytes ? buffer / row_bytes : 1;
    tiling.srcM = rows;
    tiling.srcK = columns;
    tiling.srcSize = rows * columns;
    tiling.outMaxM = rows;
    tiling.outMaxK = block;
    tiling.outMaxSize = rows * block;
    tiling.splitM = at_once < rows ? at_once : rows;
    tiling.splitK = columns;
    tiling.splitSize = tiling.splitM * columns;
    tiling.reduceM = tiling.splitM;
    tiling.reduceK = block;
    tiling.reduceSize = tiling.splitM * block;
    tiling.rangeM = tiling.splitM ? rows / tiling.splitM : 0;
    tiling.tailM = tiling.splitM ? rows % tiling.splitM : 0;
    tiling.tailSplitSize = tiling.tailM * columns;
    tiling.tailReduceSize = tiling.tailM * block;
    return tiling;
}

#define JUMAR_TOPK_TILING_FIELDS(FIELD) FIELD(tmpLocalSize) FIELD(allDataSize) FIELD(innerDataSize)
#define JUMAR_LAYER_NORM_TILING_FIELDS(FIELD)                                                                                                        \
    FIELD(bLength) FIELD(sLength) FIELD(hLength) FIELD(originalHLength) FIELD(inputXSize) FIELD(meanVarSize) FIELD(tmpBufSize)
#define JUMAR_RMS_NORM_TILING_FIELDS(FIELD)                                                                                                          \
    FIELD(bLength) FIELD(sLength) FIELD(hLength) FIELD(originalHLength) FIELD(reciprocalOfHLength) FIELD(mainBshLength) FIELD(mainBsLength)          \
    FIELD(mainBsLengthAlign) FIELD(loopRound) FIELD(inputTailPos) FIELD(tailBshLength) FIELD(tailBsLength)
#define JUMAR_LAYER_NORM_GRAD_TILING_FIELDS(FIELD)                                                                                                   \
    FIELD(stackBufferSize) FIELD(bLength) FIELD(sLength) FIELD(hLength) FIELD(originalHLength) FIELD(oneCalSize) FIELD(nohCalSize) FIELD(loopNum)    \
    FIELD(tailSize) FIELD(nohTailSize) FIELD(tmpTensorBSHPos) FIELD(tmpTensorBSHSize) FIELD(pdVarTensorPos) FIELD(pdVarTensorSize)                   \
    FIELD(pdMeanTensorPos) FIELD(pdMeanTensorSize) FIELD(x1TensorPos) FIELD(x1TensorSize) FIELD(x2TensorPos) FIELD(x2TensorSize)                     \
    FIELD(x3TensorPos) FIELD(x3TensorSize) FIELD(tmpTensorPos) FIELD(tmpTensorSize) FIELD(tmpTensor1Pos) FIELD(tmpTensor1Size)                       \
    FIELD(tmpTensor2Pos) FIELD(tmpTensor2Size) FIELD(lastDimValueBack) FIELD(lastDimValueBackMulTwo)
#define JUMAR_LAYER_NORM_GRAD_BETA_TILING_FIELDS(FIELD) FIELD(stackBufferSize) FIELD(bLength) FIELD(sLength) FIELD(hLength) FIELD(originalHLength)
#define JUMAR_PAD_TILING_FIELDS(FIELD) FIELD(srcHeight) FIELD(srcWidth) FIELD(srcOriWidth)
#define JUMAR_UNPAD_TILING_FIELDS(FIELD) FIELD(srcHeight) FIELD(srcWidth)

// Rows of hLength elements, of which originalHLength hold values.
struct LayerNormTiling {
#define JUMAR_FIELD(name) uint32_t name = 0;
    JUMAR_LAYER_NORM_TILING_FIELDS(JUMAR_FIELD)
};
struct RmsNormTiling {
    uint32_t bLength = 0;
    uint32_t sLength = 0;
    uint32_t hLength = 0;
    uint32_t originalHLength = 0;
    float reciprocalOfHLength = 0;
    uint32_t mainBshLength = 0;
    uint32_t mainBsLength = 0;
    uint32_t mainBsLengthAlign = 0;
    uint32_t loopRound = 0;
    uint32_t inputTailPos = 0;
    uint32_t tailBshLength = 0;
    uint32_t tailBsLength = 0;
};
struct LayerNormGradTiling {
    JUMAR_LAYER_NORM_GRAD_TILING_FIELDS(JUMAR_FIELD)
};
struct LayerNormGradBetaTiling {
    JUMAR_LAYER_NORM_GRAD_BETA_TILING_FIELDS(JUMAR_FIELD)
};
// Rows of srcWidth elements, of which srcOriWidth hold values.
struct PadTiling {
    JUMAR_PAD_TILING_FIELDS(JUMAR_FIELD)
};
struct UnPadTiling {
    JUMAR_UNPAD_TILING_FIELDS(JUMAR_FIELD)
};
struct TopkTiling {
    JUMAR_TOPK_TILING_FIELDS(JUMAR_FIELD)
#undef JUMAR_FIELD
};

} // namespace tiling
} // namespace AscendC
using AscendC::tiling::LayerNormGradBetaTiling;
using AscendC::tiling::LayerNormGradTiling;
using AscendC::tiling::LayerNormTiling;
using AscendC::tiling::PadTiling;
using AscendC::tiling::RmsNormTiling;
using AscendC::tiling::SoftMaxTiling;
using AscendC::tiling::TCubeTiling;
using AscendC::tiling::TopkTiling;
using AscendC::tiling::UnPadTiling;

#include "../ascendc/field_names_end.h"

#endif
