// Tiling structures that host programs fill and kernels read.
#ifndef JUMAR_KERNEL_TILING_H
#define JUMAR_KERNEL_TILING_H

#include <cstdint>

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
namespace tiling {

struct TCubeTiling {
#define JUMAR_FIELD(name) int32_t name = 0;
    JUMAR_CUBE_TILING_FIELDS(JUMAR_FIELD)
#undef JUMAR_FIELD
};
static_assert(sizeof(TCubeTiling) == 50 * sizeof(int32_t), "50 fields");

} // namespace tiling
} // namespace AscendC
using AscendC::tiling::TCubeTiling;

#endif
