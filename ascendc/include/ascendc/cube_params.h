// Parameter structures of the cube core's functions.
#ifndef JUMAR_ASCENDC_CUBE_PARAMS_H
#define JUMAR_ASCENDC_CUBE_PARAMS_H

#include "constants.h"

// How Fixpipe converts: a scalar or, with V, a value for each column.
enum QuantMode_t : uint8_t { NoQuant = 0, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8_PRE, VQF322B8_PRE, REQ8, VREQ8 };

namespace AscendC {
using ::QuantMode_t;

constexpr uint32_t BLOCK_CUBE = 16;
constexpr uint32_t CUBE_MAX_SIZE = 256;
constexpr uint32_t PAD_SIZE = 4;

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT };
enum class HF32Mode { ENABLE = 0, DISABLE };
enum class HF32TransMode { NEAREST_ZERO = 0, NEAREST_EVEN };

struct LoadData2DParams {
    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = false;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;

    LoadData2DParams() = default;
    LoadData2DParams(uint16_t start, uint8_t repeat, uint16_t src_stride, uint8_t stream, uint16_t dst_gap, bool transpose, uint8_t mode)
        : startIndex(start), dstGap(dst_gap), srcStride(src_stride), ifTranspose(transpose), repeatTimes(repeat), sid(stream), addrMode(mode)
    {
    }
};
using LoadData2dParams = LoadData2DParams;

// Of the 950: a rectangle of fractals.
struct LoadData2DParamsV2 {
    uint32_t mStartPosition = 0;
    uint32_t kStartPosition = 0;
    uint16_t mStep = 0;
    uint16_t kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;

    LoadData2DParamsV2() = default;
    LoadData2DParamsV2(uint32_t m_start, uint32_t k_start, uint16_t m_step, uint16_t k_step, int32_t src_stride, uint16_t dst_stride, bool transpose,
                       uint8_t stream)
        : mStartPosition(m_start), kStartPosition(k_start), mStep(m_step), kStep(k_step), srcStride(src_stride), dstStride(dst_stride),
          ifTranspose(transpose), sid(stream)
    {
    }
};

struct LoadData2dTransposeParams {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;

    LoadData2dTransposeParams() = default;
    LoadData2dTransposeParams(uint16_t start, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap, uint16_t dst_fractal_gap, uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeat), srcStride(src_stride), dstGap(dst_gap), dstFracGap(dst_fractal_gap), addrMode(mode)
    {
    }
};

struct LoadData2dTransposeParamsV2 {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint16_t srcFracGap = 0;
    uint8_t addrMode = 0;

    LoadData2dTransposeParamsV2() = default;
    LoadData2dTransposeParamsV2(uint16_t start, uint8_t repeat, uint16_t src_stride, uint16_t dst_gap, uint16_t dst_fractal_gap,
                                uint16_t src_fractal_gap, uint8_t mode = 0)
        : startIndex(start), repeatTimes(repeat), srcStride(src_stride), dstGap(dst_gap), dstFracGap(dst_fractal_gap),
          srcFracGap(src_fractal_gap), addrMode(mode)
    {
    }
};

template <typename TypeT> struct LoadData3DParamsV2 {
    uint8_t padList[PAD_SIZE] = {0, 0, 0, 0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    TypeT padValue = TypeT(0);
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;

    LoadData3DParamsV2() = default;
    LoadData3DParamsV2(const uint8_t pads[PAD_SIZE], uint16_t height, uint16_t width, uint16_t channels, uint16_t k_extension, uint16_t m_extension,
                       uint16_t k_start, uint16_t m_start, uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h,
                       uint8_t dilation_w, uint8_t dilation_h, bool transpose, bool small_k, TypeT pad_value, bool filter_size_w = false,
                       bool filter_size_h = false, bool right_matrix = false)
        : padList{pads[0], pads[1], pads[2], pads[3]}, l1H(height), l1W(width), channelSize(channels), kExtension(k_extension),
          mExtension(m_extension), kStartPt(k_start), mStartPt(m_start), strideW(stride_w), strideH(stride_h), filterW(filter_w),
          filterH(filter_h), dilationFilterW(dilation_w), dilationFilterH(dilation_h), enTranspose(transpose), enSmallK(small_k),
          padValue(pad_value), filterSizeW(filter_size_w), filterSizeH(filter_size_h), fMatrixCtrl(right_matrix)
    {
    }
};

// The parameters of a 3D load in two words.
struct LoadData3DParamsV2Pro {
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;
    uint64_t filterConfig = 0x10101010101;

    LoadData3DParamsV2Pro() = default;
    LoadData3DParamsV2Pro(uint16_t channels, bool transpose, bool small_k, bool filter_size_w, bool filter_size_h, bool right_matrix, uint64_t extension,
                          uint64_t filter)
        : channelSize(channels), enTranspose(transpose), enSmallK(small_k), filterSizeW(filter_size_w), filterSizeH(filter_size_h),
          fMatrixCtrl(right_matrix), extConfig(extension), filterConfig(filter)
    {
    }
};

// What a 3D load sets by itself before it runs. Otherwise SetFmatrix and SetLoadDataPaddingValue count.
struct IsResetLoad3dConfig {
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG{true, true};

struct LoadDataRepeatParam {
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
    uint16_t dstStride = 0;

    LoadDataRepeatParam() = default;
    LoadDataRepeatParam(uint16_t stride, uint8_t times, uint8_t mode, uint16_t dst_stride = 0)
        : repeatStride(stride), repeatTime(times), repeatMode(mode), dstStride(dst_stride)
    {
    }
};

struct MmadParams {
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;

    MmadParams() = default;
    MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, bool bias, int32_t offset, bool sparse, bool winograd_a, bool winograd_b)
        : m(rows), n(columns), k(depth), isBias(bias), fmOffset(offset), enSsparse(sparse), enWinogradA(winograd_a), enWinogradB(winograd_b)
    {
    }
    MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, uint8_t unit_flag, bool source, bool init)
        : m(rows), n(columns), k(depth), unitFlag(unit_flag), cmatrixSource(source), cmatrixInitVal(init)
    {
    }
};

struct FixpipeConfig {
    CO2Layout format = CO2Layout::ROW_MAJOR;
    bool isToUB = false;

    constexpr FixpipeConfig(CO2Layout layout) : format(layout) {}
    constexpr FixpipeConfig(CO2Layout layout, bool to_ub) : format(layout), isToUB(to_ub) {}
};
inline constexpr FixpipeConfig CFG_NZ{CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR{CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;

    FixpipeParamsV220() = default;
    FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t src_stride, uint32_t dst_stride, bool relu)
        : nSize(n), mSize(m), srcStride(src_stride), dstStride(dst_stride), reluEn(relu)
    {
    }
    FixpipeParamsV220(uint16_t n, uint16_t m, uint16_t src_stride, uint32_t dst_stride, bool relu, QuantMode_t mode, int64_t scalar, uint16_t matrices,
                      uint16_t src_matrix_stride, uint16_t dst_matrix_stride, uint8_t unit_flag, bool split = false)
        : nSize(n), mSize(m), srcStride(src_stride), dstStride(dst_stride), quantPre(mode), deqScalar(static_cast<uint64_t>(scalar)), ndNum(matrices),
          srcNdStride(src_matrix_stride), dstNdStride(dst_matrix_stride), reluEn(relu), unitFlag(unit_flag), isChannelSplit(split)
    {
    }
};

struct DataCopyCO12DstParams {
    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = DEFAULT_DATA_COPY_STRIDE;
    uint16_t srcStride = DEFAULT_DATA_COPY_STRIDE;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;

    DataCopyCO12DstParams() = default;
    DataCopyCO12DstParams(uint16_t n, uint16_t m, uint32_t dst_stride, uint16_t src_stride, QuantMode_t mode, uint8_t relu, bool split, bool nz2nd)
        : nSize(n), mSize(m), dstStride(dst_stride), srcStride(src_stride), quantPre(mode), reluPre(relu), channelSplit(split), nz2ndEn(nz2nd)
    {
    }
};

struct Nz2NdParamsFull {
    uint16_t ndNum = 1;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 1;
    uint16_t srcNStride = 0;
    uint16_t dstDStride = 0;
    uint16_t dstNdMatrixStride = 1;

    Nz2NdParamsFull() = default;
    Nz2NdParamsFull(uint16_t matrices, uint16_t n, uint16_t d, uint16_t src_matrix, uint16_t src_n, uint16_t dst_d, uint16_t dst_matrix)
        : ndNum(matrices), nValue(n), dValue(d), srcNdMatrixStride(src_matrix), srcNStride(src_n), dstDStride(dst_d), dstNdMatrixStride(dst_matrix)
    {
    }
};

template <typename TypeT> struct InitConstValueParams {
    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    TypeT initValue = TypeT(0);

    InitConstValueParams() = default;
    InitConstValueParams(uint16_t repeat, uint16_t blocks, uint16_t gap, TypeT value) : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
    InitConstValueParams(uint16_t repeat, TypeT value) : repeatTimes(repeat), blockNum(1), initValue(value) {}
};

} // namespace AscendC

#endif
