/* The parameters of operations. Reserved bytes are zero. */
#ifndef ATB_INFER_OP_PARAMS_H
#define ATB_INFER_OP_PARAMS_H

#include <cstddef>
#include <cstdint>

#include "../acl/acl.h"

namespace atb {
namespace infer {

enum InputLayout : int { TYPE_BSND = 0, TYPE_BNSD = 1 };

enum QuantType : int {
  QUANT_UNDEFINED = 0,
  QUANT_UNQUANT = 0,
  QUANT_INT4 = 1,
  QUANT_INT8 = 2,
  QUANT_INT16 = 3,
  QUANT_FLOAT8 = 4,
  QUANT_FLOAT16 = 5
};

enum DynamicQuantType : int {
  DYNAMIC_QUANT_UNDEFINED = 0,
  DYNAMIC_QUANT_SYMMETRIC = 1,
  DYNAMIC_QUANT_ASYMMETRIC = 2
};

/* A product of matrices. */
struct LinearParam {
  enum MatmulType : uint8_t { MATMUL_UNDEFINED = 0, MATMUL_EIN_SUM = 1 };
  enum QuantMode : uint8_t { QUANT_UNDEFINED = 0, PER_CHANNEL = 1, PER_TOKEN = 2 };
  bool transposeA = false;
  bool transposeB = true;
  bool hasBias = true;
  aclDataType outDataType = ACL_DT_UNDEFINED;
  bool enAccum = false;
  MatmulType matmulType = MATMUL_UNDEFINED;
  QuantMode quantMode = QUANT_UNDEFINED;
  uint8_t rsv[21] = {0};
};

/* A function of elements. */
struct ElewiseParam {
  enum ElewiseType : int {
    ELEWISE_UNDEFINED = 0,
    ELEWISE_CAST = 1,
    ELEWISE_MULS = 2,
    ELEWISE_COS = 3,
    ELEWISE_SIN = 4,
    ELEWISE_NEG = 5,
    ELEWISE_QUANT = 6,
    ELEWISE_LOGICAL_NOT = 7,
    ELEWISE_ADD = 8,
    ELEWISE_MUL = 9,
    ELEWISE_REALDIV = 10,
    ELEWISE_LOGICAL_AND = 11,
    ELEWISE_LOGICAL_OR = 12,
    ELEWISE_LESS = 13,
    ELEWISE_GREATER = 14,
    ELEWISE_SUB = 15,
    ELEWISE_EQUAL = 16,
    ELEWISE_QUANT_PER_CHANNEL = 17,
    ELEWISE_DEQUANT_PER_CHANNEL = 18,
    ELEWISE_DYNAMIC_QUANT = 19,
    ELEWISE_TANH = 20,
    ELEWISE_TYPE_MAX = 21
  };
  struct QuantParam {
    float inputScale = 1.0f;
    bool asymmetric = false;
    int inputOffset = 0;
    uint8_t rsv[20] = {0};
  };
  struct MulsParam {
    float varAttr = 0.0f;
    uint8_t rsv[12] = {0};
  };
  ElewiseType elewiseType = ELEWISE_UNDEFINED;
  QuantParam quantParam;
  MulsParam mulsParam;
  aclDataType outTensorType = ACL_DT_UNDEFINED;
  uint8_t rsv[8] = {0};
};

/* Root mean square normalization. */
struct RmsNormParam {
  enum RmsNormType : int { RMS_NORM_UNDEFINED = 0, RMS_NORM_NORM = 1, RMS_NORM_PRENORM = 2, RMS_NORM_POSTNORM = 3 };
  enum PrecisionMode : int { HIGH_PRECISION_MODE = 0, HIGH_PERFORMANCE_MODE = 1 };
  enum ModelType : int { LLAMA_MODEL = 0, GEMMA_MODEL = 1 };
  struct NormParam {
    QuantType quantType = QUANT_UNDEFINED;
    float epsilon = 1e-5f;
    double layerNormEps = 1e-5;
    bool rstd = false;
    PrecisionMode precisionMode = HIGH_PRECISION_MODE;
    ModelType modelType = LLAMA_MODEL;
    DynamicQuantType dynamicQuantType = DYNAMIC_QUANT_UNDEFINED;
    uint8_t rsv[32] = {0};
  };
  struct PreNormParam {
    QuantType quantType = QUANT_UNDEFINED;
    float epsilon = 1e-5f;
    bool hasBias = false;
    uint8_t rsv[23] = {0};
  };
  struct PostNormParam {
    QuantType quantType = QUANT_UNDEFINED;
    float epsilon = 1e-5f;
    bool hasBias = false;
    uint8_t rsv[23] = {0};
  };
  RmsNormType layerType = RMS_NORM_UNDEFINED;
  NormParam normParam;
  PreNormParam preNormParam;
  PostNormParam postNormParam;
  uint8_t rsv[8] = {0};
};

/* Sets the groups of a row to 0 that are not among the best. */
struct GroupTopkParam {
  enum GroupMultiFlag : uint16_t { UNDEFINED = 0, SUM_MULTI_MAX = 1 };
  int32_t groupNum = 1;
  int32_t k = 0;
  GroupMultiFlag groupMultiFlag = UNDEFINED;
  uint16_t n = 1;
  uint8_t rsv[12] = {0};
};

/* Writes keys and values to caches. */
struct ReshapeAndCacheParam {
  enum CompressType : int { COMPRESS_TYPE_UNDEFINED = 0, COMPRESS_TYPE_KVHEAD = 1, COMPRESS_TYPE_KVHEAD_ROPE = 2 };
  enum KvCacheCfg : int { K_CACHE_V_CACHE = 0, K_CACHE_V_BYPASS = 1, K_CACHE_V_CACHE_NZ = 2 };
  CompressType compressType = COMPRESS_TYPE_UNDEFINED;
  KvCacheCfg kvCacheCfg = K_CACHE_V_CACHE;
  uint8_t rsv[16] = {0};
};

/* Rotates queries and keys by their positions. */
struct RopeParam {
  int32_t rotaryCoeff = 4;
  int32_t cosFormat = 0;
  uint8_t rsv[8] = {0};
};

/* Attention of new tokens over caches in blocks. */
struct PagedAttentionParam {
  enum MaskType : int {
    UNDEFINED = 0,
    MASK_TYPE_NORM = 1,
    MASK_TYPE_ALIBI = 2,
    MASK_TYPE_SPEC = 3,
    MASK_TYPE_MASK_FREE = 4,
    MASK_TYPE_NORM_COMPRESS = 5
  };
  enum QuantType : int {
    TYPE_QUANT_UNDEFINED = 0,
    TYPE_QUANT_UNQUANT = 0,
    TYPE_DEQUANT_FUSION = 1,
    TYPE_QUANT_QKV_OFFLINE = 2,
    TYPE_QUANT_QKV_ONLINE = 3
  };
  enum CompressType : int {
    COMPRESS_TYPE_UNDEFINED = 0,
    COMPRESS_TYPE_KVHEAD = 1,
    COMPRESS_TYPE_KVHEAD_ROPE = 2,
    COMPRESS_TYPE_MAX = 3
  };
  enum CalcType : int { CALC_TYPE_UNDEFINED = 0, CALC_TYPE_SPEC = 1 };
  enum ScaleType : int { SCALE_TYPE_TOR = 0, SCALE_TYPE_LOGN = 1, SCALE_TYPE_MAX = 2 };
  int32_t headNum = 0;
  float qkScale = 1.0f;
  int32_t kvHeadNum = 0;
  MaskType maskType = UNDEFINED;
  bool batchRunStatusEnable = false;
  QuantType quantType = TYPE_QUANT_UNDEFINED;
  aclDataType outDataType = ACL_DT_UNDEFINED;
  bool hasQuantOffset = false;
  CompressType compressType = COMPRESS_TYPE_UNDEFINED;
  CalcType calcType = CALC_TYPE_UNDEFINED;
  ScaleType scaleType = SCALE_TYPE_TOR;
  InputLayout inputLayout = TYPE_BSND;
  uint32_t mlaVHeadSize = 0;
  float qScale = 0.0f;
  uint8_t rsv[64] = {0};
};

/* Attention of sequences. */
struct SelfAttentionParam {
  enum CalcType : int { UNDEFINED = 0, ENCODER = 1, DECODER = 2, PA_ENCODER = 3, PREFIX_ENCODER = 4 };
  enum KernelType : int { KERNELTYPE_DEFAULT = 0, KERNELTYPE_HIGH_PRECISION = 1, KERNELTYPE_EXP_M8V2 = 2 };
  enum ClampType : int { CLAMP_TYPE_UNDEFINED = 0, CLAMP_TYPE_MIN_MAX = 1 };
  enum MaskType : int {
    MASK_TYPE_UNDEFINED = 0,
    MASK_TYPE_NORM = 1,
    MASK_TYPE_ALIBI = 2,
    MASK_TYPE_NORM_COMPRESS = 3,
    MASK_TYPE_ALIBI_COMPRESS = 4,
    MASK_TYPE_ALIBI_COMPRESS_SQRT = 5,
    MASK_TYPE_ALIBI_COMPRESS_LEFT_ALIGN = 6,
    MASK_TYPE_SLIDING_WINDOW_NORM = 7,
    MASK_TYPE_SLIDING_WINDOW_COMPRESS = 8,
    MASK_TYPE_CAUSAL_MASK = 9
  };
  enum KvCacheCfg : int { K_CACHE_V_CACHE = 0, K_BYPASS_V_BYPASS = 1 };
  enum ScaleType : int { SCALE_TYPE_TOR = 0, SCALE_TYPE_LOGN = 1, SCALE_TYPE_MAX = 2 };
  enum QuantType : int {
    TYPE_QUANT_UNDEFINED = 0,
    TYPE_QUANT_UNQUANT = 0,
    TYPE_DEQUANT_FUSION = 1,
    TYPE_QUANT_QKV_OFFLINE = 2,
    TYPE_QUANT_QKV_ONLINE = 3
  };
  enum CacheType : int8_t { CACHE_TYPE_NORM = 0, CACHE_TYPE_SWA = 1 };
  QuantType quantType = TYPE_QUANT_UNDEFINED;
  aclDataType outDataType = ACL_DT_UNDEFINED;
  int32_t headNum = 0;
  int32_t kvHeadNum = 0;
  float qScale = 1.0f;
  float qkScale = 1.0f;
  bool batchRunStatusEnable = false;
  uint32_t isTriuMask = 0;
  CalcType calcType = UNDEFINED;
  KernelType kernelType = KERNELTYPE_DEFAULT;
  ClampType clampType = CLAMP_TYPE_UNDEFINED;
  float clampMin = 0.0f;
  float clampMax = 0.0f;
  MaskType maskType = MASK_TYPE_UNDEFINED;
  KvCacheCfg kvcacheCfg = K_CACHE_V_CACHE;
  ScaleType scaleType = SCALE_TYPE_TOR;
  InputLayout inputLayout = TYPE_BSND;
  uint32_t mlaVHeadSize = 0;
  CacheType cacheType = CACHE_TYPE_NORM;
  uint32_t windowSize = 0;
  uint8_t rsv[64] = {0};
};

/* Adds products of groups of the depth to matrices. */
struct GroupedMatmulInplaceAddParam {
  bool transposeA = false;
  bool transposeB = false;
  uint8_t rsv[22] = {0};
};

}  // namespace infer
}  // namespace atb
#endif
