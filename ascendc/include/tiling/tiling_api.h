// Tiling on the host: how a matrix product is cut into parts that fit into a core's memories.
#ifndef JUMAR_TILING_API_H
#define JUMAR_TILING_API_H

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "../ascendc/matmul_types.h"
#include "../kernel_tiling/kernel_tiling.h"
#include "../register/tilingdata_base.h"
#include "platform/platform_ascendc.h"
#include "tensor_shape.h"

#include "../ascendc/field_names_begin.h"

namespace optiling {

// The structures with the host's names: set_x, get_x, and their bytes.
#define JUMAR_FIELD(name)                                                                                                                            \
    template <typename TypeV> void set_##name(TypeV value) { data_.name = static_cast<decltype(data_.name)>(value); }                                \
    auto get_##name() const { return data_.name; }
#define JUMAR_HOST_TILING(Name, FIELDS)                                                                                                              \
    class Name {                                                                                                                                     \
    public:                                                                                                                                          \
        FIELDS(JUMAR_FIELD)                                                                                                                          \
        size_t GetDataSize() const { return sizeof data_; }                                                                                          \
        void SaveToBuffer(void* buffer, size_t capacity) const                                                                                       \
        {                                                                                                                                            \
            if (buffer && capacity >= sizeof data_) std::memcpy(buffer, &data_, sizeof data_);                                                       \
        }                                                                                                                                            \
        AscendC::tiling::Name& data() { return data_; }                                                                                              \
                                                                                                                                                     \
    private:                                                                                                                                         \
        AscendC::tiling::Name data_;                                                                                                                 \
    };
JUMAR_HOST_TILING(TCubeTiling, JUMAR_CUBE_TILING_FIELDS)
JUMAR_HOST_TILING(SoftMaxTiling, JUMAR_SOFTMAX_TILING_FIELDS)
JUMAR_HOST_TILING(LayerNormTiling, JUMAR_LAYER_NORM_TILING_FIELDS)
JUMAR_HOST_TILING(RmsNormTiling, JUMAR_RMS_NORM_TILING_FIELDS)
JUMAR_HOST_TILING(TopkTiling, JUMAR_TOPK_TILING_FIELDS)
JUMAR_HOST_TILING(LayerNormGradTiling, JUMAR_LAYER_NORM_GRAD_TILING_FIELDS)
JUMAR_HOST_TILING(LayerNormGradBetaTiling, JUMAR_LAYER_NORM_GRAD_BETA_TILING_FIELDS)
JUMAR_HOST_TILING(PadTiling, JUMAR_PAD_TILING_FIELDS)
JUMAR_HOST_TILING(UnPadTiling, JUMAR_UNPAD_TILING_FIELDS)
#undef JUMAR_HOST_TILING
#undef JUMAR_FIELD

} // namespace optiling

namespace AscendC {

// A shape of two dimensions or more; the last one is the row. Shapes are those of the Graph Engine: GetDimNum and GetDim.
template <typename Shape> inline uint32_t columns_of(const Shape& shape)
{
    return static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
}
template <typename Shape> inline uint32_t rows_of(const Shape& shape)
{
    int64_t rows = 1;
    for (size_t at = 0; at + 1 < shape.GetDimNum(); at++) rows *= shape.GetDim(at);
    return static_cast<uint32_t>(rows);
}
} // namespace AscendC

#include "buffer_sizes.h"

namespace AscendC {

// The functions of rows need no temporary buffer. The sizes are those of one row and of all.
template <typename Shape> void GetCumSumMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool, const bool, uint32_t& most, uint32_t& least)
{
    least = (columns_of(shape) * size + 31) / 32 * 32;
    most = least * std::max(rows_of(shape), 1u);
}
template <typename Shape> void GetDropOutMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
}
template <typename Shape> uint32_t GetDropOutMaxTmpSize(const Shape& shape, const uint32_t size, const bool)
{
    uint32_t most = 0, least = 0;
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
    return most;
}
template <typename Shape> uint32_t GetDropOutMinTmpSize(const Shape& shape, const uint32_t size, const bool)
{
    uint32_t most = 0, least = 0;
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
    return least;
}
template <typename Shape> void GetGeGLUMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
}
template <typename Shape> void GetReGluMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t, const uint32_t size, const bool, uint32_t& most, uint32_t& least)
{
    least = most = (n * size + 31) / 32 * 32 + 32;
}
template <typename Mode>
bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const int32_t inner, const int32_t outter, const bool, const bool, Mode, const bool,
                          const uint32_t size, uint32_t& most, uint32_t& least)
{
    if (inner <= 0 || outter <= 0 || inner % 32 != 0) return false;
    least = static_cast<uint32_t>(inner) * (size + 4) * 2;
    most = least * static_cast<uint32_t>(outter);
    return true;
}
template <typename Mode, typename Tiling>
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC& platform, const int32_t inner, const int32_t outter, const int32_t k, const uint32_t size,
                    const bool has_index, Mode mode, const bool is_largest, Tiling& tiling)
{
    uint32_t most = 0, least = 0;
    if (k <= 0 || k > inner || !GetTopKMaxMinTmpSize(platform, inner, outter, false, has_index, mode, is_largest, size, most, least)) return false;
    tiling::TopkTiling values;
    values.tmpLocalSize = most / size;
    values.allDataSize = static_cast<uint32_t>(inner * outter);
    values.innerDataSize = static_cast<uint32_t>(inner);
    if constexpr (std::is_same_v<Tiling, tiling::TopkTiling>) tiling = values;
    else tiling.data() = values;
    return true;
}
// The temporary buffer of a call holds at least one row, and at most all of them.
template <typename Shape> uint32_t GetSoftMaxMinTmpSize(const Shape& shape, const uint32_t, const bool)
{
    return (columns_of(shape) * 4 + 64 + 31) / 32 * 32;
}
template <typename Shape> uint32_t GetSoftMaxMaxTmpSize(const Shape& shape, const uint32_t size, const bool reuse)
{
    return GetSoftMaxMinTmpSize(shape, size, reuse) * std::max(rows_of(shape), 1u);
}
template <typename Shape> uint32_t GetSoftMaxFlashV2MinTmpSize(const Shape& shape, const uint32_t size, const uint32_t, const bool, const bool = false)
{
    return GetSoftMaxMinTmpSize(shape, size, false);
}
template <typename Shape> uint32_t GetSoftMaxFlashV2MaxTmpSize(const Shape& shape, const uint32_t size, const uint32_t, const bool, const bool = false)
{
    return GetSoftMaxMaxTmpSize(shape, size, false);
}
template <typename Shape> void SoftMaxTilingFunc(const Shape& shape, const uint32_t size, const uint32_t workspace, tiling::SoftMaxTiling& result)
{
    result = tiling::softmax_tiling(rows_of(shape), columns_of(shape), size, workspace);
}
template <typename Shape> void SoftMaxTilingFunc(const Shape& shape, const uint32_t size, const uint32_t workspace, optiling::SoftMaxTiling& result)
{
    SoftMaxTilingFunc(shape, size, workspace, result.data());
}
template <typename Shape, typename Tiling>
void SoftMaxFlashV2TilingFunc(const Shape& shape, const uint32_t, const uint32_t size, const uint32_t workspace, Tiling& result, const bool,
                              const bool = false, const bool = false)
{
    SoftMaxTilingFunc(shape, size, workspace, result);
}

template <typename Shape> uint32_t GetSoftMaxFlashMinTmpSize(const Shape& shape, const uint32_t size, const bool, const bool reuse)
{
    return GetSoftMaxMinTmpSize(shape, size, reuse);
}
template <typename Shape> uint32_t GetSoftMaxFlashMaxTmpSize(const Shape& shape, const uint32_t size, const bool, const bool reuse)
{
    return GetSoftMaxMaxTmpSize(shape, size, reuse);
}
template <typename Shape, typename Tiling>
void SoftMaxFlashTilingFunc(const Shape& shape, const uint32_t size, const uint32_t workspace, Tiling& result, const bool = false)
{
    SoftMaxTilingFunc(shape, size, workspace, result);
}
template <typename Shape> uint32_t GetSoftMaxGradMinTmpSize(const Shape& shape, const uint32_t size, const bool, const bool reuse)
{
    return GetSoftMaxMinTmpSize(shape, size, reuse);
}
template <typename Shape> uint32_t GetSoftMaxGradMaxTmpSize(const Shape& shape, const uint32_t size, const bool, const bool reuse)
{
    return GetSoftMaxMaxTmpSize(shape, size, reuse);
}
template <typename Shape, typename Tiling>
void SoftMaxGradTilingFunc(const Shape& shape, const uint32_t size, const uint32_t workspace, Tiling& result, const bool = false)
{
    SoftMaxTilingFunc(shape, size, workspace, result);
}
#define JUMAR_REDUCE_SIZE(Name)                                                                                                                      \
    template <typename Shape, typename Type>                                                                                                         \
    void Get##Name##MaxMinTmpSize(const Shape& shape, const Type, ReducePattern, bool, bool, uint32_t& most, uint32_t& least)                        \
    {                                                                                                                                                \
        GetCumSumMaxMinTmpSize(shape, 4, true, false, most, least);                                                                                  \
    }
JUMAR_REDUCE_SIZE(ReduceAll)
JUMAR_REDUCE_SIZE(ReduceAny)
JUMAR_REDUCE_SIZE(ReduceMax)
JUMAR_REDUCE_SIZE(ReduceMean)
JUMAR_REDUCE_SIZE(ReduceMin)
JUMAR_REDUCE_SIZE(ReduceProd)
JUMAR_REDUCE_SIZE(ReduceSum)
#undef JUMAR_REDUCE_SIZE
template <typename Shape> void GetPadMaxMinTmpSize(const Shape& shape, const uint32_t size, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
}
template <typename Shape>
void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const Shape& shape, const uint32_t size, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, size, true, false, most, least);
}
// `original` has the rows' own elements.
template <typename Shape, typename Tiling>
void PadTilingFunc(const Shape& shape, const Shape& original, const uint32_t, const uint32_t, Tiling& result)
{
    tiling::PadTiling values;
    values.srcHeight = rows_of(shape);
    values.srcWidth = columns_of(shape);
    values.srcOriWidth = columns_of(original);
    if constexpr (std::is_same_v<Tiling, tiling::PadTiling>) result = values;
    else result.data() = values;
}
template <typename Shape, typename Tiling> void UnPadTilingFunc(const Shape& shape, const uint32_t, const uint32_t, Tiling& result)
{
    tiling::UnPadTiling values;
    values.srcHeight = rows_of(shape);
    values.srcWidth = columns_of(shape);
    if constexpr (std::is_same_v<Tiling, tiling::UnPadTiling>) result = values;
    else result.data() = values;
}
template <typename Shape>
void GetNormalizeMaxMinTmpSize(const Shape& shape, const uint32_t, const uint32_t, const bool, const bool, const bool, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, 4, true, false, most, least);
}
template <typename Shape>
void GetWelfordUpdateMaxMinTmpSize(const Shape& shape, const uint32_t, const uint32_t, const bool, const bool, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, 4, true, false, most, least);
}
template <typename Shape> void GetWelfordFinalizeMaxMinTmpSize(const Shape& shape, const uint32_t, const bool, uint32_t& most, uint32_t& least)
{
    GetCumSumMaxMinTmpSize(shape, 4, true, false, most, least);
}
// A shape (B, S, H, H without padding).
template <typename Shape> void GetLayerNormGradMaxMinTmpSize(const Shape& shape, const uint32_t, const bool, uint32_t& most, uint32_t& least)
{
    least = GetSoftMaxMinTmpSize(shape, 4, false) * 4;
    most = least * std::max(static_cast<uint32_t>(shape.GetDim(0) * shape.GetDim(1)), 1u);
}
template <typename Shape> void GetLayerNormGradBetaMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool reuse, uint32_t& most, uint32_t& least)
{
    GetLayerNormGradMaxMinTmpSize(shape, size, reuse, most, least);
}
template <typename Values, typename Shape, typename Tiling> void fill_gradient_tiling(const Shape& shape, const uint32_t workspace, Tiling& result)
{
    Values values;
    values.stackBufferSize = workspace;
    values.bLength = static_cast<uint32_t>(shape.GetDim(0));
    values.sLength = static_cast<uint32_t>(shape.GetDim(1));
    values.hLength = static_cast<uint32_t>(shape.GetDim(2));
    values.originalHLength = static_cast<uint32_t>(shape.GetDim(3));
    if constexpr (std::is_same_v<Tiling, Values>) result = values;
    else result.data() = values;
}
template <typename Shape, typename Tiling>
void GetLayerNormGradNDTilingInfo(const Shape& shape, const uint32_t workspace, const uint32_t, const bool, Tiling& result)
{
    fill_gradient_tiling<tiling::LayerNormGradTiling>(shape, workspace, result);
}
template <typename Shape, typename Tiling>
void GetLayerNormGradBetaNDTilingInfo(const Shape& shape, const uint32_t workspace, const uint32_t, const bool, Tiling& result)
{
    fill_gradient_tiling<tiling::LayerNormGradBetaTiling>(shape, workspace, result);
}

// A shape (B, S, H); H is a multiple of 32 bytes, and `original` is the one without padding.
template <typename Shape> void GetLayerNormMaxMinTmpSize(const Shape& shape, const uint32_t, const bool, uint32_t& most, uint32_t& least)
{
    least = GetSoftMaxMinTmpSize(shape, 4, false) * 3;
    most = least * std::max(rows_of(shape), 1u);
}
template <typename Shape>
void GetLayerNormMaxMinTmpSize(const Shape& shape, const uint32_t size, const bool reuse, const bool, const bool, uint32_t& most, uint32_t& least)
{
    GetLayerNormMaxMinTmpSize(shape, size, reuse, most, least);
}
template <typename Shape> void GetLayerNormNDTilingInfo(const Shape& shape, const uint32_t workspace, const uint32_t, const bool, tiling::LayerNormTiling& result)
{
    result.bLength = static_cast<uint32_t>(shape.GetDim(0));
    result.sLength = static_cast<uint32_t>(shape.GetDim(1));
    result.hLength = result.originalHLength = static_cast<uint32_t>(shape.GetDim(2));
    result.inputXSize = rows_of(shape) * result.hLength;
    result.meanVarSize = rows_of(shape);
    result.tmpBufSize = workspace;
}
template <typename Shape>
void GetLayerNormNDTilingInfo(const Shape& shape, const uint32_t workspace, const uint32_t size, const bool reuse, optiling::LayerNormTiling& result)
{
    GetLayerNormNDTilingInfo(shape, workspace, size, reuse, result.data());
}
template <typename Shape> bool GetRmsNormMaxMinTmpSize(const Shape& shape, const uint32_t size, uint32_t& most, uint32_t& least, const bool = false)
{
    GetLayerNormMaxMinTmpSize(shape, size, false, most, least);
    return true;
}
// Returns false if the buffer has no space for a row.
template <typename Shape>
bool GetRmsNormTilingInfo(const Shape& shape, const Shape& original, const uint32_t workspace, const uint32_t, tiling::RmsNormTiling& result, const bool = false)
{
    if (workspace < columns_of(shape) * 4) return false;
    result.bLength = static_cast<uint32_t>(shape.GetDim(0));
    result.sLength = static_cast<uint32_t>(shape.GetDim(1));
    result.hLength = columns_of(shape);
    result.originalHLength = columns_of(original);
    result.mainBsLength = std::min(rows_of(shape), workspace / (columns_of(shape) * 4));
    result.mainBshLength = result.mainBsLength * result.hLength;
    result.loopRound = rows_of(shape) / std::max(result.mainBsLength, 1u);
    result.reciprocalOfHLength = 1.0f / static_cast<float>(std::max(result.originalHLength, 1u));
    result.mainBsLengthAlign = (result.mainBsLength + 7) / 8 * 8;
    result.inputTailPos = result.loopRound * result.mainBshLength;
    result.tailBsLength = rows_of(shape) - result.loopRound * result.mainBsLength;
    result.tailBshLength = result.tailBsLength * result.hLength;
    return true;
}
template <typename Shape>
bool GetRmsNormTilingInfo(const Shape& shape, const Shape& original, const uint32_t workspace, const uint32_t size, optiling::RmsNormTiling& result,
                          const bool basic = false)
{
    return GetRmsNormTilingInfo(shape, original, workspace, size, result.data(), basic);
}

} // namespace AscendC

namespace matmul_tiling {

using AscendC::TPosition;
using ::CubeFormat;
enum class DataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_BFLOAT16 = 27,
    DT_BF16 = 27,
    DT_INT4 = 29,
};
enum class MatrixTraverse { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType { SCALAR = 0, TENSOR = 1 };

// How a product is cut. Calls that set something return 0; GetTiling returns 0, or -1 if what was set does not fit.
class MatmulApiTilingBase {
public:
    MatmulApiTilingBase() : MatmulApiTilingBase(*platform_ascendc::PlatformAscendCManager::GetInstance()) {}
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) : platform_(platform) {}
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition position, CubeFormat format, DataType type, bool isTrans = false) { return set(a_, position, format, type, isTrans); }
    int32_t SetBType(TPosition position, CubeFormat format, DataType type, bool isTrans = false) { return set(b_, position, format, type, isTrans); }
    int32_t SetCType(TPosition position, CubeFormat format, DataType type) { return set(c_, position, format, type, false); }
    int32_t SetBiasType(TPosition position, CubeFormat format, DataType type) { return set(bias_, position, format, type, false); }
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k) { return set_sizes(single_, m, n, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb)
    {
        kb_ = kb;
        return set_sizes(full_, m, n, ka);
    }
    int32_t SetFixSplit(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        fixed_ = {m, n, k};
        return 0;
    }
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t ub = -1, int32_t bias = -1)
    {
        l1_ = l1;
        l0c_ = l0c;
        ub_ = ub;
        static_cast<void>(bias);
        return 0;
    }
    int32_t EnableBias(bool is_bias = false)
    {
        is_bias_ = is_bias;
        return 0;
    }
    int32_t SetBias(bool is_bias = false) { return EnableBias(is_bias); }
    int32_t SetTraverse(MatrixTraverse traverse)
    {
        traverse_ = traverse;
        return 0;
    }
    int32_t SetDequantType(DequantType) { return 0; }
    int32_t SetMadType(MatrixMadType) { return 0; }
    int32_t SetSplitRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t = -1, int32_t = -1, int32_t = -1)
    {
        most_ = {maxM, maxN, maxK};
        return 0;
    }
    int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
    // The layouts of a product of several matrices: their number, rows, heads, groups and columns.
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        layout_a_ = {b, s, n, g, d};
        return 0;
    }
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        layout_b_ = {b, s, n, g, d};
        return 0;
    }
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        layout_c_ = {b, s, n, g, d};
        return 0;
    }
    int32_t SetBatchNum(int32_t batch)
    {
        batch_ = batch;
        return 0;
    }
    // The numbers of matrices of layout NORMAL.
    int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k)
    {
        batch_ = std::max(batchA, batchB);
        SetOrgShape(m, n, k);
        return SetShape(m, n, k);
    }
    int32_t SetSparse(bool is_sparse = false) { return is_sparse ? -1 : 0; }
    // An option of the 950.
    bool EnableL1BankConflictOptimise() { return false; }
    void SetSplitK(bool) {}
    void SetMatmulConfigParams(int32_t = 1, bool = false, AscendC::ScheduleType = AscendC::ScheduleType::INNER_PRODUCT,
                               MatrixTraverse = MatrixTraverse::NOSET, bool = false)
    {
    }
    int32_t GetBaseM() const { return result_.baseM; }
    int32_t GetBaseN() const { return result_.baseN; }
    int32_t GetBaseK() const { return result_.baseK; }

    virtual int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling)
    {
        if (!resolve_shapes() || !cut_base(single_)) return -1;
        result_.usedCoreNum = 1;
        tiling = result_;
        return 0;
    }
    int64_t GetTiling(optiling::TCubeTiling& tiling) { return GetTiling(tiling.data()); }

protected:
    struct Sizes {
        int32_t m = -1, n = -1, k = -1;
    };
    struct Operand {
        TPosition position = TPosition::GM;
        CubeFormat format = CubeFormat::ND;
        DataType type = DataType::DT_FLOAT16;
        bool is_transposed = false;
    };

    static int32_t set(Operand& operand, TPosition position, CubeFormat format, DataType type, bool is_transposed)
    {
        operand = {position, format, type, is_transposed};
        return 0;
    }
    static int32_t set_sizes(Sizes& sizes, int32_t m, int32_t n, int32_t k)
    {
        sizes = {m, n, k};
        return 0;
    }
    static int32_t up(int32_t value, int32_t by) { return (value + by - 1) / by * by; }
    // Half bytes of an element.
    static int64_t nibbles(DataType type)
    {
        switch (type) {
        case DataType::DT_INT4: return 1;
        case DataType::DT_INT8:
        case DataType::DT_UINT8: return 2;
        case DataType::DT_FLOAT:
        case DataType::DT_INT32:
        case DataType::DT_UINT32: return 8;
        case DataType::DT_INT64:
        case DataType::DT_UINT64: return 16;
        default: return 4;
        }
    }
    int64_t memory(platform_ascendc::CoreMemType type, int32_t limit) const
    {
        uint64_t bytes = 0;
        platform_.GetCoreMemSize(type, bytes);
        return limit > 0 ? std::min<int64_t>(limit, static_cast<int64_t>(bytes)) : static_cast<int64_t>(bytes);
    }

    // The full product and the part of a core stand for each other if one of them was not set.
    bool resolve_shapes()
    {
        if (full_.m <= 0) {
            full_ = single_;
            kb_ = single_.k;
        }
        if (single_.m <= 0) single_.m = full_.m;
        if (single_.n <= 0) single_.n = full_.n;
        if (single_.k <= 0) single_.k = full_.k;
        return full_.m > 0 && full_.n > 0 && full_.k > 0;
    }

    // Chooses the base block of a core's part, so that L0A and L0B hold two blocks and L0C one.
    bool cut_base(const Sizes& part)
    {
        using platform_ascendc::CoreMemType;
        const int64_t l0a = memory(CoreMemType::L0_A, -1), l0b = memory(CoreMemType::L0_B, -1), l0c = memory(CoreMemType::L0_C, l0c_),
                      l1 = memory(CoreMemType::L1, l1_);
        const int64_t size = std::max(nibbles(a_.type), nibbles(b_.type));
        const int32_t c0 = static_cast<int32_t>(64 / size);
        auto limited = [](int32_t value, int32_t most) { return most > 0 ? std::min(value, most) : value; };
        int32_t m = fixed_.m > 0 ? fixed_.m : limited(std::min(up(part.m, 16), 128), most_.m);
        int32_t n = fixed_.n > 0 ? fixed_.n : limited(std::min(up(part.n, 16), 256), most_.n);
        if (fixed_.n <= 0) {
            const bool in_ub = c_.position != TPosition::GM;
            const int64_t ub = in_ub ? memory(CoreMemType::UB, ub_) / 4 : 0;
            while (n > 16 && (int64_t(m) * n * 4 > l0c || (in_ub && int64_t(m) * n * nibbles(c_.type) / 2 > ub))) n -= 16;
        }
        if (fixed_.m <= 0)
            while (m > 16 && int64_t(m) * n * 4 > l0c) m -= 16;
        int32_t k = fixed_.k > 0 ? fixed_.k : limited(up(part.k, c0), most_.k);
        if (fixed_.k <= 0)
            while (k > c0 && (int64_t(up(m, 16)) * k * size > l0a || int64_t(up(n, 16)) * k * size > l0b)) k -= c0;
        if (int64_t(up(m, 16)) * up(n, 16) * 4 > l0c || int64_t(up(m, 16)) * up(k, c0) * size / 2 > l0a || int64_t(up(n, 16)) * up(k, c0) * size / 2 > l0b) return false;
        const int64_t a_block = int64_t(up(m, 16)) * up(k, c0) * size / 2, b_block = int64_t(up(n, 16)) * up(k, c0) * size / 2;
        if (a_block + b_block > l1) return false;
        const int32_t k_blocks = (part.k + k - 1) / k;
        int32_t step = 1;
        while (step < k_blocks && (a_block + b_block) * 2 * (step + 1) <= l1) step++;
        const int32_t buffers = (a_block + b_block) * 2 * step <= l1 ? 2 : 1;

        result_ = {};
        result_.M = full_.m;
        result_.N = full_.n;
        result_.Ka = full_.k;
        result_.Kb = kb_ > 0 ? kb_ : full_.k;
        result_.singleCoreM = part.m;
        result_.singleCoreN = part.n;
        result_.singleCoreK = part.k;
        result_.baseM = m;
        result_.baseN = n;
        result_.baseK = k;
        result_.stepM = result_.stepN = 1;
        result_.stepKa = result_.stepKb = step;
        result_.depthA1 = result_.depthB1 = step * buffers;
        result_.isBias = is_bias_;
        result_.iterateOrder = traverse_ == MatrixTraverse::FIRSTN ? 1 : 0;
        result_.shareL1Size = static_cast<int32_t>((a_block + b_block) * step * buffers);
        result_.shareL0CSize = static_cast<int32_t>(int64_t(m) * n * 4);
        result_.shareUbSize = 0;
        result_.batchM = result_.batchN = result_.singleBatchM = result_.singleBatchN = 1;
        result_.dbL0A = result_.dbL0B = 2;
        result_.dbL0C = 1;
        result_.ALayoutInfoB = layout_a_.b;
        result_.ALayoutInfoS = layout_a_.s;
        result_.ALayoutInfoN = layout_a_.n;
        result_.ALayoutInfoG = layout_a_.g;
        result_.ALayoutInfoD = layout_a_.d;
        result_.BLayoutInfoB = layout_b_.b;
        result_.BLayoutInfoS = layout_b_.s;
        result_.BLayoutInfoN = layout_b_.n;
        result_.BLayoutInfoG = layout_b_.g;
        result_.BLayoutInfoD = layout_b_.d;
        result_.CLayoutInfoB = layout_c_.b;
        result_.CLayoutInfoS1 = layout_c_.s;
        result_.CLayoutInfoN = layout_c_.n;
        result_.CLayoutInfoG = layout_c_.g;
        result_.CLayoutInfoS2 = layout_c_.d;
        result_.BatchNum = batch_;
        return true;
    }

    platform_ascendc::PlatformAscendC platform_;
    Operand a_, b_, c_, bias_;
    Sizes full_, single_, fixed_, most_;
    struct BatchLayout {
        int32_t b = 0, s = 0, n = 0, g = 0, d = 0;
    };
    BatchLayout layout_a_, layout_b_, layout_c_;
    int32_t batch_ = 0;
    int32_t kb_ = -1;
    int32_t l1_ = -1, l0c_ = -1, ub_ = -1;
    bool is_bias_ = false;
    MatrixTraverse traverse_ = MatrixTraverse::NOSET;
    AscendC::tiling::TCubeTiling result_;
};

class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

// A product of several matrices on one core.
class BatchMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

// Memory that a product uses. Temporary buffers in UB are not needed.
struct SysTilingTempBufSize {
    int32_t ubSize = 0;
    int32_t l1Size = 0;
    int32_t l0cSize = 0;
};
inline int32_t MatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& sizes)
{
    sizes = {tiling.shareUbSize, tiling.shareL1Size, tiling.shareL0CSize};
    return 0;
}
inline int32_t MatmulGetTmpBufSize(optiling::TCubeTiling& tiling, SysTilingTempBufSize& sizes)
{
    return MatmulGetTmpBufSizeV2(tiling.data(), sizes);
}
inline int32_t BatchMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& sizes)
{
    return MatmulGetTmpBufSizeV2(tiling, sizes);
}
inline int32_t BatchMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, SysTilingTempBufSize& sizes)
{
    return MatmulGetTmpBufSizeV2(tiling.data(), sizes);
}
inline int32_t MultiCoreMatmulGetTmpBufSizeV2(AscendC::tiling::TCubeTiling& tiling, SysTilingTempBufSize& sizes)
{
    return MatmulGetTmpBufSizeV2(tiling, sizes);
}
inline int32_t MultiCoreMatmulGetTmpBufSize(optiling::TCubeTiling& tiling, SysTilingTempBufSize& sizes)
{
    return MatmulGetTmpBufSizeV2(tiling.data(), sizes);
}

// Cuts M and N between cores. A core's part is a multiple of 16 rows and columns, except for the last ones.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::GetTiling;
    using MatmulApiTilingBase::MatmulApiTilingBase;

    int32_t SetDim(int32_t cores)
    {
        cores_ = cores;
        return 0;
    }
    int32_t SetShape(int32_t m, int32_t n, int32_t k) override { return set_sizes(shape_, m, n, k); }
    int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1) { return set_sizes(wanted_, m, n, k); }
    int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t = -1, int32_t = -1, int32_t = -1)
    {
        return set_sizes(range_, maxM, maxN, maxK);
    }
    int32_t SetAlignSplit(int32_t m, int32_t n, int32_t)
    {
        align_m_ = m > 0 ? m : 16;
        align_n_ = n > 0 ? n : 16;
        return 0;
    }
    void EnableMultiCoreSplitK(bool) {}
    int32_t GetCoreNum(int32_t& cores, int32_t& along_m, int32_t& along_n) const
    {
        cores = result_.usedCoreNum;
        along_m = along_m_;
        along_n = along_n_;
        return 0;
    }
    int32_t GetSingleShape(int32_t& m, int32_t& n, int32_t& k) const
    {
        m = result_.singleCoreM;
        n = result_.singleCoreN;
        k = result_.singleCoreK;
        return 0;
    }

    int64_t GetTiling(AscendC::tiling::TCubeTiling& tiling) override
    {
        single_ = shape_;
        if (!resolve_shapes() || cores_ < 1) return -1;
        const Sizes product = single_;
        Sizes part = {wanted_.m > 0 ? std::min(wanted_.m, product.m) : product.m, wanted_.n > 0 ? std::min(wanted_.n, product.n) : product.n, product.k};
        // The split with the least work for the busiest core; with equal work the one of fewer cores.
        int64_t least = -1;
        int32_t fewest = 0;
        for (int32_t rows = 1; rows <= cores_; rows++) {
            for (int32_t columns = 1; columns <= cores_ / rows; columns++) {
                const int32_t m = wanted_.m > 0 ? part.m : std::min(product.m, up((product.m + rows - 1) / rows, align_m_));
                const int32_t n = wanted_.n > 0 ? part.n : std::min(product.n, up((product.n + columns - 1) / columns, align_n_));
                const int32_t used = ((product.m + m - 1) / m) * ((product.n + n - 1) / n);
                if (used > cores_ || (range_.m > 0 && m > range_.m) || (range_.n > 0 && n > range_.n)) continue;
                // Rows and columns that a core reads count as well, so that parts are close to squares.
                const int64_t work = int64_t(m) * n * 64 + int64_t(m) + n;
                if (least >= 0 && (work > least || (work == least && used >= fewest))) continue;
                least = work;
                fewest = used;
                part.m = m;
                part.n = n;
            }
        }
        if (least < 0 || !cut_base(part)) return -1;
        along_m_ = (product.m + part.m - 1) / part.m;
        along_n_ = (product.n + part.n - 1) / part.n;
        result_.usedCoreNum = along_m_ * along_n_;
        tiling = result_;
        return 0;
    }

private:
    Sizes shape_, wanted_, range_;
    int32_t cores_ = 1;
    int32_t align_m_ = 16, align_n_ = 16;
    int32_t along_m_ = 1, along_n_ = 1;
};

} // namespace matmul_tiling

#include "../ascendc/field_names_end.h"

#endif
