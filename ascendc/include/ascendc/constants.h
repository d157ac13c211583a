// Enumerations and parameter structures of the interface.
#ifndef JUMAR_ASCENDC_CONSTANTS_H
#define JUMAR_ASCENDC_CONSTANTS_H

#include "numbers.h"

enum pipe_t { PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4, PIPE_MTE5, PIPE_V2, PIPE_FIX };
enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace AscendC {

using TEventID = int8_t;

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX,
};
using QuePosition = TPosition;

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

// clang-format off
enum class HardEvent : uint8_t {
    MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, M_V, V_M, V_V, MTE3_MTE1, MTE1_MTE3, MTE1_V, MTE2_M,
    M_MTE2, V_MTE1, M_FIX, FIX_M, MTE3_MTE2, MTE2_MTE3, S_V, V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S, MTE2_FIX, FIX_MTE2, FIX_S,
    M_S, FIX_MTE3, MTE1_FIX, FIX_MTE1, FIX_FIX, FIX_V, S_FIX, S_M, MAX,
};
// clang-format on
using HardEventAic = HardEvent;

enum class RoundMode { CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD, CAST_HYBRID };
enum class CMPMODE { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class ReduceType { SUM = 0, MAX, MIN };
enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };
enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT };
enum class CacheRwMode { READ = 1, WRITE, RW };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint64_t { ALL = 0, DDR, UB, SEQ };
enum class BlockMode : uint8_t { BLOCK_MODE_NORMAL = 0, BLOCK_MODE_MATRIX, BLOCK_MODE_VECTOR, BLOCK_MODE_SMALL_CHANNEL, BLOCK_MODE_DEPTHWISE };
enum class DeqScale : uint8_t { DEQ_NONE = 0, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 };
enum class SaturationMode { FLOAT = 0, INTEGER };
enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };
enum CoreType { AIC = 1, AIV = 2 };
enum class KernelMode { AIV_MODE, AIC_MODE, MIX_MODE };

enum KernelMetaType {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE,
    KERNEL_TYPE_MAX,
};

constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t ONE_REPEAT_SORT_NUM = 32;
constexpr uint16_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint16_t ONE_BLK_HALF_NUM = 16;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr uint16_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint8_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr int32_t MRG_SORT_ELEMENT_LEN = 4;
constexpr int32_t VDEQ_TENSOR_SIZE = 16;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t FULL_MASK = ~static_cast<uint64_t>(0);
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};

#if JUMAR_ASCENDC_CHIP == 2002
constexpr uint64_t ASC_UB_SIZE = 256 * 1024;
constexpr uint64_t ASC_L1_SIZE = 1024 * 1024;
constexpr uint64_t ASC_L0C_SIZE = 256 * 1024;
#else
constexpr uint64_t ASC_UB_SIZE = 192 * 1024 - 256;
constexpr uint64_t ASC_L1_SIZE = 512 * 1024 - 256;
constexpr uint64_t ASC_L0C_SIZE = 128 * 1024;
#endif
constexpr uint64_t ASC_L0A_SIZE = 64 * 1024;
constexpr uint64_t ASC_L0B_SIZE = 64 * 1024;
constexpr uint64_t ASC_BT_SIZE = 1024;
constexpr uint64_t TOTAL_UB_SIZE = ASC_UB_SIZE;
constexpr uint64_t TMP_UB_SIZE = 8 * 1024;
#if JUMAR_ASCENDC_CHIP == 2002
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 248 * 1024;
#else
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
#endif

template <typename TypeT, typename TypeU> struct IsSameType : std::is_same<TypeT, TypeU> {};
template <typename TypeT, typename TypeU> constexpr TypeT DivCeil(TypeT value, TypeU by)
{
    return static_cast<TypeT>((value + by - 1) / by);
}
template <typename TypeT, typename TypeU> constexpr TypeT AlignUp(TypeT value, TypeU by)
{
    return static_cast<TypeT>((value + by - 1) / by * by);
}

struct UnaryRepeatParams {
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;

    UnaryRepeatParams() = default;
    UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat, bool half_block = false)
        : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat), halfBlock(half_block)
    {
    }
};

struct BinaryRepeatParams {
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;

    BinaryRepeatParams() = default;
    BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat)
        : dstBlkStride(dst_block), src0BlkStride(src0_block), src1BlkStride(src1_block), dstRepStride(dst_repeat), src0RepStride(src0_repeat),
          src1RepStride(src1_repeat)
    {
    }
};

struct BrcbRepeatParams {
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;

    BrcbRepeatParams() = default;
    BrcbRepeatParams(uint16_t dst_block, uint16_t dst_repeat) : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
};

struct CopyRepeatParams {
    uint16_t dstStride = 0;
    uint16_t srcStride = 0;
    uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
    uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;

    CopyRepeatParams() = default;
    CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dst_repeat, uint16_t src_repeat)
        : dstStride(dst), srcStride(src), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat)
    {
    }
};

struct GatherRepeatParams {
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;

    GatherRepeatParams() = default;
    GatherRepeatParams(uint8_t dst_block, uint8_t dst_repeat) : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
};

struct GatherMaskParams {
    uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;

    GatherMaskParams() = default;
    GatherMaskParams(uint8_t block, uint16_t repeat, uint16_t src0_repeat, uint8_t src1_repeat)
        : src0BlockStride(block), repeatTimes(repeat), src0RepeatStride(src0_repeat), src1RepeatStride(src1_repeat)
    {
    }
};

struct DataCopyParams {
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint16_t blockLen = 0;
    union {
        uint16_t srcGap = 0;
        uint16_t srcStride;
    };
    union {
        uint16_t dstGap = 0;
        uint16_t dstStride;
    };

    DataCopyParams() = default;
    DataCopyParams(uint16_t count, uint16_t length, uint16_t src, uint16_t dst) : blockCount(count), blockLen(length), srcGap(src), dstGap(dst) {}
};

struct DataCopyExtParams {
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint32_t blockLen = 0;
    int64_t srcStride = 0;
    int64_t dstStride = 0;
    uint32_t rsv = 0;

    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, int64_t src, int64_t dst, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(src), dstStride(dst), rsv(reserved)
    {
    }
};

struct DataCopyPadParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;

    DataCopyPadParams() = default;
    DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value) : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
};

template <typename TypeT> struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    TypeT paddingValue = TypeT(0);

    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, TypeT value) : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
    // A literal of another type: bfloat16_t is made from numbers explicitly alone.
    template <typename TypeV, typename = std::enable_if_t<std::is_arithmetic_v<TypeV>>>
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, TypeV value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(static_cast<TypeT>(value))
    {
    }
};

struct DataCopyEnhancedParams {
    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
    DeqScale deqScale = DeqScale::DEQ_NONE;
    uint64_t deqValue = 0;
    uint8_t sidStoreMode = 0;
    bool isRelu = false;
};

struct SliceInfo {
    uint32_t startIndex = 0;
    uint32_t endIndex = ONE_BLK_SIZE - 1;
    uint32_t stride = 0;
    uint32_t burstLen = ONE_BLK_SIZE;
    uint32_t shapeValue = 0;

    SliceInfo() = default;
    SliceInfo(uint32_t start, uint32_t end, uint32_t step, uint32_t burst, uint32_t shape = 0)
        : startIndex(start), endIndex(end), stride(step), burstLen(burst), shapeValue(shape)
    {
    }
};

struct Nd2NzParams {
    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint32_t dValue = 0;
    uint64_t srcNdMatrixStride = 0;
    uint64_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint32_t dstNzMatrixStride = 0;

    Nd2NzParams() = default;
    Nd2NzParams(uint16_t matrices, uint16_t n, uint32_t d, uint64_t src_matrix, uint64_t src_row, uint16_t dst_c0, uint16_t dst_n, uint32_t dst_matrix)
        : ndNum(matrices), nValue(n), dValue(d), srcNdMatrixStride(src_matrix), srcDValue(src_row), dstNzC0Stride(dst_c0), dstNzNStride(dst_n),
          dstNzMatrixStride(dst_matrix)
    {
    }
};

struct TransDataTo5HDParams {
    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;

    TransDataTo5HDParams() = default;
    TransDataTo5HDParams(bool dst_high, bool src_high, uint8_t repeat, uint16_t dst_repeat, uint16_t src_repeat)
        : dstHighHalf(dst_high), srcHighHalf(src_high), repeatTimes(repeat), dstRepStride(dst_repeat), srcRepStride(src_repeat)
    {
    }
};

constexpr uint8_t K_MAX_SHAPE_DIM = 8;
struct ShapeInfo {
    uint8_t shapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {};
    uint8_t originalShapeDim = 0;
    uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
    DataFormat dataFormat = DataFormat::ND;

    ShapeInfo() = default;
    ShapeInfo(uint8_t dims, const uint32_t sizes[], DataFormat format = DataFormat::ND) : shapeDim(dims), originalShapeDim(dims), dataFormat(format)
    {
        for (uint8_t at = 0; at < dims && at < K_MAX_SHAPE_DIM; at++) shape[at] = originalShape[at] = sizes[at];
    }
    ShapeInfo(uint8_t original_dims, const uint32_t original[], uint8_t dims, const uint32_t sizes[], DataFormat format)
        : shapeDim(dims), originalShapeDim(original_dims), dataFormat(format)
    {
        for (uint8_t at = 0; at < dims && at < K_MAX_SHAPE_DIM; at++) shape[at] = sizes[at];
        for (uint8_t at = 0; at < original_dims && at < K_MAX_SHAPE_DIM; at++) originalShape[at] = original[at];
    }
};

} // namespace AscendC

#endif
