// Formats, types and options of the Matmul object.
#ifndef JUMAR_ASCENDC_MATMUL_TYPES_H
#define JUMAR_ASCENDC_MATMUL_TYPES_H

#include "constants.h"

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };

namespace AscendC {
using ::CubeFormat;
using ::LayoutMode;

enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH };
enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };

// Groups of options that GetMMConfig takes.
struct MatmulShapeParams {
    uint32_t singleCoreM;
    uint32_t singleCoreN;
    uint32_t singleCoreK;
    uint32_t basicM;
    uint32_t basicN;
    uint32_t basicK;
};
struct MatmulQuantParams {
    bool isPerTensor;
    bool hasAntiQuantOffset;
};
struct MatmulBatchParams {
    bool isNBatch;
    BatchMode batchMode;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulBiasParams {
    bool enableSetBias = true;
};
struct MatmulFuncParams {
    bool intrinsicsCheck;
    bool enVecND2NZ;
    bool enableDoubleCache;
    bool enableL1CacheUB;
    uint32_t doMTE2Preload;
    IterateOrder iterateOrder;
    ScheduleType scheduleType;
    bool enableReuse = true;
    bool enableUBReuse = true;
    bool isPartialOutput = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
};

// Options of the card's implementation. Those of the sizes replace the tiling's; the others have no effect on values.
struct MatmulConfig {
    bool doNorm = true;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t stepM = 0;
    uint32_t stepN = 0;
    uint32_t baseMN = 0;
    uint32_t singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = 0xff;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = 64 * 1024;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
};

constexpr MatmulConfig GetNormalConfig(bool intrinsicsLimit = false, bool batchLoop = false, bool isVecND2NZ = false,
                                       BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, bool = true, IterateOrder iterateOrder = IterateOrder::UNDEF,
                                       ScheduleType = ScheduleType::INNER_PRODUCT, bool enUnitFlag = true, bool = false,
                                       BatchOutMode = BatchOutMode::SINGLE_BATCH)
{
    MatmulConfig config;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.iterateOrder = iterateOrder;
    config.enUnitFlag = enUnitFlag;
    return config;
}
constexpr MatmulConfig GetMDLConfig(bool intrinsicsLimit = false, bool batchLoop = false, uint32_t doMTE2Preload = 0, bool isVecND2NZ = false,
                                    bool isPerTensor = false, bool hasAntiQuantOffset = false, bool enUnitFlag = false, bool = true, bool enableUBReuse = true,
                                    bool enableL1CacheUB = false, bool enableMixDualMaster = false, bool enableKdimReorderLoad = false)
{
    MatmulConfig config;
    config.doNorm = false;
    config.doMultiDataLoad = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.doMTE2Preload = doMTE2Preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    config.enUnitFlag = enUnitFlag;
    config.enableUBReuse = enableUBReuse;
    config.enableL1CacheUB = enableL1CacheUB;
    config.enableMixDualMaster = enableMixDualMaster;
    config.enableKdimReorderLoad = enableKdimReorderLoad;
    return config;
}
constexpr MatmulConfig GetSpecialMDLConfig(bool intrinsicsLimit = false, bool batchLoop = false, uint32_t doMTE2Preload = 0, bool isVecND2NZ = false,
                                           bool isPerTensor = false, bool hasAntiQuantOffset = false, bool = false)
{
    MatmulConfig config = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ, isPerTensor, hasAntiQuantOffset);
    config.doSpecialMDL = true;
    return config;
}
constexpr MatmulConfig GetIBShareNormConfig(bool intrinsicsLimit = false, bool batchLoop = false, bool isVecND2NZ = false,
                                            BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, bool = false, bool enUnitFlag = true)
{
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
    config.doIBShareNorm = true;
    config.enUnitFlag = enUnitFlag;
    return config;
}
// The base block and, with the second form, the part of a core come from here instead of from the tiling.
constexpr MatmulConfig GetBasicConfig(uint32_t basicM, uint32_t basicN, uint32_t basicK, bool intrinsicsLimit = false, bool batchLoop = false,
                                      BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1)
{
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, false, bmmMode);
    config.doBasicBlock = true;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    return config;
}
constexpr MatmulConfig GetSpecialBasicConfig(uint32_t basicM, uint32_t basicN, uint32_t basicK, uint32_t singleCoreM, uint32_t singleCoreN,
                                             uint32_t singleCoreK, uint32_t stepM, uint32_t stepN, bool intrinsicsLimit = false, bool batchLoop = false,
                                             BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1)
{
    MatmulConfig config = GetBasicConfig(basicM, basicN, basicK, intrinsicsLimit, batchLoop, bmmMode);
    config.doSpecialBasicBlock = true;
    config.singleCoreM = singleCoreM;
    config.singleCoreN = singleCoreN;
    config.singleCoreK = singleCoreK;
    config.stepM = stepM;
    config.stepN = stepN;
    return config;
}

constexpr void set_options(MatmulConfig& config, const MatmulShapeParams& shape)
{
    config.singleCoreM = shape.singleCoreM;
    config.singleCoreN = shape.singleCoreN;
    config.singleCoreK = shape.singleCoreK;
    config.basicM = shape.basicM;
    config.basicN = shape.basicN;
    config.basicK = shape.basicK;
}
constexpr void set_options(MatmulConfig& config, const MatmulQuantParams& quantisation)
{
    config.isPerTensor = quantisation.isPerTensor;
    config.hasAntiQuantOffset = quantisation.hasAntiQuantOffset;
}
constexpr void set_options(MatmulConfig& config, const MatmulBatchParams& batch)
{
    config.isNBatch = batch.isNBatch;
    config.batchMode = batch.batchMode;
    config.isBiasBatch = batch.isBiasBatch;
    config.bmmOutMode = batch.bmmOutMode;
}
constexpr void set_options(MatmulConfig& config, const MatmulBiasParams& bias)
{
    config.enableSetBias = bias.enableSetBias;
}
constexpr void set_options(MatmulConfig& config, const MatmulFuncParams& functions)
{
    config.intrinsicsCheck = functions.intrinsicsCheck;
    config.enVecND2NZ = functions.enVecND2NZ;
    config.enableDoubleCache = functions.enableDoubleCache;
    config.enableL1CacheUB = functions.enableL1CacheUB;
    config.doMTE2Preload = functions.doMTE2Preload;
    config.iterateOrder = functions.iterateOrder;
    config.scheduleType = functions.scheduleType;
    config.enableReuse = functions.enableReuse;
    config.enableUBReuse = functions.enableUBReuse;
    config.isPartialOutput = functions.isPartialOutput;
    config.isA2B2Shared = functions.isA2B2Shared;
    config.isEnableChannelSplit = functions.isEnableChannelSplit;
    config.enableKdimReorderLoad = functions.enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = functions.enableL1BankConflictOptimise;
    config.enableRelu = functions.enableRelu;
}
template <MatmulConfigMode configMode, typename... Options> constexpr MatmulConfig GetMMConfig(Options&&... options)
{
    MatmulConfig config = configMode == MatmulConfigMode::CONFIG_NORM      ? GetNormalConfig()
                          : configMode == MatmulConfigMode::CONFIG_MDL     ? GetMDLConfig()
                          : configMode == MatmulConfigMode::CONFIG_IBSHARE ? GetIBShareNormConfig()
                                                                           : GetSpecialMDLConfig();
    (set_options(config, options), ...);
    return config;
}

} // namespace AscendC

inline constexpr AscendC::MatmulConfig CFG_NORM = AscendC::GetNormalConfig();
inline constexpr AscendC::MatmulConfig CFG_MDL = AscendC::GetMDLConfig();
inline constexpr AscendC::MatmulConfig CFG_IBSHARE_NORM = AscendC::GetIBShareNormConfig();
inline constexpr AscendC::MatmulConfig MM_CFG_BB = AscendC::GetBasicConfig(128, 128, 128);
namespace AscendC {
using ::CFG_IBSHARE_NORM;
using ::CFG_MDL;
using ::CFG_NORM;
using ::MM_CFG_BB;
} // namespace AscendC

#endif
