// Results of the cube core: from L0C to global memory, L1 and UB, with conversion, ReLU and changes of format.
#ifndef JUMAR_ASCENDC_FIXPIPE_H
#define JUMAR_ASCENDC_FIXPIPE_H

#include "cube.h"

namespace jumar {
namespace ascendc {

// A word of a quantisation: the scale is a float without its lowest 13 bits, the offset has 9 bits from bit 37 on.
struct Quantisation {
    float scale;
    int32_t offset;

    explicit Quantisation(uint64_t word)
    {
        const uint32_t bits = static_cast<uint32_t>(word) & 0xffffe000;
        std::memcpy(&scale, &bits, sizeof scale);
        offset = static_cast<int32_t>(word >> 37 & 0x1ff);
        if (offset >= 256) offset -= 512;
    }
};

constexpr bool is_vector_mode(QuantMode_t mode)
{
    return mode == VDEQF16 || mode == VQF322B8_PRE || mode == VREQ8;
}

// Whether a mode converts elements of L0C to elements of T.
template <typename TypeT, typename TypeU> constexpr bool converts(QuantMode_t mode)
{
    switch (mode) {
    case NoQuant: return std::is_same_v<TypeT, TypeU>;
    case F322F16: return is_half<TypeT> && std::is_same_v<TypeU, float>;
    case F322BF16: return is_bfloat16<TypeT> && std::is_same_v<TypeU, float>;
    case DEQF16:
    case VDEQF16: return is_half<TypeT> && std::is_same_v<TypeU, int32_t>;
    case QF322B8_PRE:
    case VQF322B8_PRE: return sizeof(TypeT) == 1 && !is_int4<TypeT> && std::is_same_v<TypeU, float>;
    case REQ8:
    case VREQ8: return sizeof(TypeT) == 1 && !is_int4<TypeT> && std::is_same_v<TypeU, int32_t>;
    }
    return false;
}

// Converts an element. The mode is one that converts U to T.
template <typename TypeT, typename TypeU> inline TypeT requantised(TypeU value, uint64_t word, bool relu)
{
    if (relu && value < TypeU(0)) value = TypeU(0);
    if constexpr (std::is_same_v<TypeT, TypeU>) {
        return value;
    } else if constexpr (std::is_same_v<TypeU, float> && sizeof(TypeT) == 2) {
        return static_cast<TypeT>(value);
    } else {
        const Quantisation quantisation(word);
        const float scaled = static_cast<float>(value) * quantisation.scale;
        if constexpr (is_float<TypeT>) {
            return static_cast<TypeT>(scaled);
        } else {
            constexpr float lowest = static_cast<float>(std::numeric_limits<TypeT>::lowest()), highest = static_cast<float>(std::numeric_limits<TypeT>::max());
            if (scaled != scaled) return TypeT(0);
            const float shifted = std::nearbyint(scaled) + static_cast<float>(quantisation.offset);
            return static_cast<TypeT>(shifted < lowest ? lowest : shifted > highest ? highest : shifted);
        }
    }
}

// A copy of matrices out of L0C. Strides: of the source in rows of 16 elements and matrices of 256, of the target in elements.
struct ResultCopy {
    uint32_t columns, rows;
    uint64_t source_stride, target_stride;
    QuantMode_t mode;
    uint64_t word;
    const uint64_t* words;
    bool relu, splits, is_row_major, has_unit_flag;
    uint32_t matrices;
    uint64_t source_matrix, target_matrix;

    // Calls emit(target index, elements, count) for each run of elements that are contiguous in the target.
    template <typename TypeT, typename TypeU, typename Emit> void run(const AscendC::LocalTensor<TypeU>& src, const Call& call, Emit emit) const
    {
        need_cube(call.name, call.site);
        need_memory(src, MEMORY_L0C, MEMORY_L0C, "src", call);
        if (!converts<TypeT, TypeU>(mode))
            fail(call.site, "%s: the mode of quantisation is %d, which does not convert %s to %s", call.name, static_cast<int>(mode), type_name<TypeU>(),
                 type_name<TypeT>());
        if (is_vector_mode(mode) && !words) fail(call.site, "%s: the mode of quantisation needs a tensor of scales", call.name);
        if (rows == 0 || columns == 0 || matrices == 0) return;
        if (PipeOrder* order = has_unit_flag ? pipe_order(core()) : nullptr) order->acquire(PIPE_FIX, order->release(PIPE_M));
        const uint32_t blocks = divided_up(columns, 16);
        check_access(src, ((matrices - 1) * source_matrix * 256 + (blocks - 1) * source_stride * 16 + rows * 16ull) * sizeof(TypeU), "src", call, 64);
        for (uint32_t matrix = 0; matrix < matrices; matrix++) {
            const TypeU* from = src.raw() + matrix * source_matrix * 256;
            auto element = [&](uint32_t row, uint32_t column) {
                const uint64_t at = column / 16 * source_stride * 16 + row * 16ull + column % 16;
                return requantised<TypeT>(from[at], is_vector_mode(mode) ? words[column] : word, relu);
            };
            const uint64_t begin = matrix * target_matrix;
            std::vector<TypeT> line(is_row_major ? columns : 32);
            if (is_row_major) {
                for (uint32_t row = 0; row < rows; row++) {
                    for (uint32_t column = 0; column < columns; column++) line[column] = element(row, column);
                    emit(begin + row * target_stride, line.data(), columns);
                }
                continue;
            }
            // Columns of fractals: 16 wide, 32 for bytes, 8 for floats that are split.
            const uint32_t width = sizeof(TypeT) == 1 ? 32 : splits ? 8 : 16;
            for (uint32_t block = 0; block < divided_up(columns, width); block++)
                for (uint32_t row = 0; row < rows; row++) {
                    for (uint32_t at = 0; at < width; at++) {
                        const uint32_t column = block * width + at;
                        line[at] = column < columns ? element(row, column) : TypeT(0);
                    }
                    emit(begin + block * target_stride + row * static_cast<uint64_t>(width), line.data(), width);
                }
        }
    }

    template <typename TypeT, typename TypeU> void to_global(const AscendC::GlobalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeU>& src, const Call& call) const
    {
        run<TypeT>(src, call, [&](uint64_t at, const TypeT* values, uint32_t count) {
            dst.check(at, count, call.name, call.site);
            store_global<TypeT>(bytes_at(dst) + at * sizeof(TypeT), reinterpret_cast<const uint8_t*>(values), count * sizeof(TypeT), call);
        });
    }
    template <typename TypeT, typename TypeU> void to_local(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeU>& src, const Call& call) const
    {
        need_memory(dst, MEMORY_L1, MEMORY_UB, "dst", call);
        check_access(dst, 0, "dst", call);
        run<TypeT>(src, call, [&](uint64_t at, const TypeT* values, uint32_t count) {
            check_access(dst, (at + count) * sizeof(TypeT), "dst", call);
            std::memcpy(static_cast<void*>(dst.raw() + at), static_cast<const void*>(values), count * sizeof(TypeT));
        });
    }
};

template <typename TypeT> inline ResultCopy result_copy(const AscendC::FixpipeParamsV220& params, AscendC::CO2Layout format, const uint64_t* words)
{
    const bool is_row_major = format == AscendC::CO2Layout::ROW_MAJOR;
    return {params.nSize,   params.mSize,       params.srcStride,   is_row_major ? params.dstStride : params.dstStride * 32ull / sizeof(TypeT),
            params.quantPre, params.deqScalar,  words,              params.reluEn,
            params.isChannelSplit && sizeof(TypeT) == 4, is_row_major, params.unitFlag != 0, is_row_major ? params.ndNum : 1u, params.srcNdStride,
            params.dstNdStride};
}
template <typename TypeT> inline ResultCopy result_copy(const AscendC::DataCopyCO12DstParams& params)
{
    const Cube& cube = core().registers.cube;
    const bool is_row_major = params.nz2ndEn;
    return {params.nSize,    params.mSize,      params.srcStride,   is_row_major ? params.dstStride : params.dstStride * 32ull / sizeof(TypeT),
            params.quantPre, cube.quantisation, cube.quantisations, params.reluPre != 0,
            params.channelSplit && sizeof(TypeT) == 4, is_row_major, params.unitFlag != 0, is_row_major ? cube.matrices : 1u, cube.source_stride,
            cube.target_stride};
}

// The scales of a vector mode: one for each column.
inline const uint64_t* quantisation_words(const AscendC::LocalTensor<uint64_t>& words, uint32_t columns, const Call& call)
{
    need_memory(words, MEMORY_L1, MEMORY_FIXPIPE, "the tensor of scales", call);
    check_access(words, columns * sizeof(uint64_t), "the tensor of scales", call, 32);
    return words.raw();
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT, typename TypeU, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const FixpipeParamsV220& params,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    result_copy<TypeT>(params, config.format, nullptr).to_global(dst, src, Call{"Fixpipe", site, PIPE_FIX});
}
template <typename TypeT, typename TypeU, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const LocalTensor<uint64_t>& scales, const FixpipeParamsV220& params,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Fixpipe", site, PIPE_FIX};
    result_copy<TypeT>(params, config.format, quantisation_words(scales, params.nSize, call)).to_global(dst, src, call);
}
template <typename TypeT, typename TypeU, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const FixpipeParamsV220& params,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    result_copy<TypeT>(params, config.format, nullptr).to_local(dst, src, Call{"Fixpipe", site, PIPE_FIX});
}
template <typename TypeT, typename TypeU, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const LocalTensor<uint64_t>& scales, const FixpipeParamsV220& params,
             jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"Fixpipe", site, PIPE_FIX};
    result_copy<TypeT>(params, config.format, quantisation_words(scales, params.nSize, call)).to_local(dst, src, call);
}

// The same as a DataCopy, whose other parameters are registers.
template <typename TypeT, typename TypeU>
void DataCopy(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const DataCopyCO12DstParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    result_copy<TypeT>(params).to_global(dst, src, Call{"DataCopy", site, PIPE_FIX});
}
template <typename TypeT, typename TypeU>
void DataCopy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const DataCopyCO12DstParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    result_copy<TypeT>(params).to_local(dst, src, Call{"DataCopy", site, PIPE_FIX});
}
inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint32_t dstNdStride)
{
    jumar::ascendc::Cube& cube = jumar::ascendc::core().registers.cube;
    cube.matrices = ndNum;
    cube.source_stride = srcNdStride;
    cube.target_stride = dstNdStride;
}
inline void SetFixpipePreQuantFlag(uint64_t config)
{
    jumar::ascendc::core().registers.cube.quantisation = config;
}
template <typename TypeT, bool setRelu = false>
void SetFixPipeConfig(const LocalTensor<TypeT>& scales, bool = false, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    if (setRelu) fail(site, "SetFixPipeConfig: a tensor of ReLU slopes is not supported by Jumar; docs/ascendc.md lists what is");
    // The words have 64 bits, whatever type the tensor has.
    core().registers.cube.quantisations = quantisation_words(scales.template ReinterpretCast<uint64_t>(), 1, Call{"SetFixPipeConfig", site, PIPE_FIX});
}
// The first tensor is reserved and has no memory.
template <typename TypeT>
void SetFixPipeConfig(const LocalTensor<TypeT>& slopes, const LocalTensor<TypeT>& scales, bool isUnitFlag = false,
                      jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (slopes.buffer()) jumar::ascendc::fail(site, "SetFixPipeConfig: a tensor of ReLU slopes is not supported by Jumar; docs/ascendc.md lists what is");
    SetFixPipeConfig<TypeT>(scales, isUnitFlag, site);
}

// A row of biases from L1 to the bias table: lengths in units of 64 bytes there. Halves become floats.
template <typename TypeT, typename TypeU, typename = std::enable_if_t<!std::is_same_v<TypeT, TypeU>>>
void DataCopy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const DataCopyParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(std::is_same_v<TypeT, float> && (is_half<TypeU> || is_bfloat16<TypeU>), "DataCopy between types converts half and bfloat16_t to float alone");
    const Call call{"DataCopy", site, PIPE_MTE1};
    need_cube(call.name, site);
    need_memory(dst, MEMORY_BIAS, MEMORY_BIAS, "dst", call);
    need_memory(src, MEMORY_L1, MEMORY_L1, "src", call);
    const uint64_t elements = params.blockLen * 64ull / sizeof(TypeT);
    const uint64_t to = elements + params.dstGap * 64ull / sizeof(TypeT), from = elements + params.srcGap * 32ull / sizeof(TypeU);
    if (params.blockCount == 0 || elements == 0) return;
    check_access(dst, span_of(params.blockCount, elements, static_cast<int64_t>(to)) * sizeof(TypeT), "dst", call, 64);
    check_access(src, span_of(params.blockCount, elements, static_cast<int64_t>(from)) * sizeof(TypeU), "src", call);
    for (uint64_t block = 0; block < params.blockCount; block++)
        for (uint64_t at = 0; at < elements; at++)
            dst.raw()[block * to + at] = static_cast<TypeT>(static_cast<float>(src.raw()[block * from + at]));
}

// 310P: fractals of 16 x 16 elements between L0C and UB. Gaps are in units of 32 bytes.
template <typename TypeT, typename TypeU>
void DataCopy(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& src, const DataCopyParams& params, const DataCopyEnhancedParams& enhanced,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"DataCopy", site};
    if (enhanced.blockMode == BlockMode::BLOCK_MODE_NORMAL) {
        if constexpr (std::is_same_v<TypeT, TypeU>) return DataCopy(dst, src, params, site);
        else fail(site, "DataCopy: BLOCK_MODE_NORMAL does not convert %s to %s", type_name<TypeU>(), type_name<TypeT>());
    }
    if (enhanced.blockMode != BlockMode::BLOCK_MODE_MATRIX)
        fail(site, "DataCopy: block mode %d is not supported; BLOCK_MODE_NORMAL and BLOCK_MODE_MATRIX are", static_cast<int>(enhanced.blockMode));
    need_memory(dst, MEMORY_UB, MEMORY_L0C, "dst", call);
    need_memory(src, MEMORY_L0C, MEMORY_UB, "src", call);
    const QuantMode_t mode = std::is_same_v<TypeT, TypeU> ? NoQuant : std::is_same_v<TypeU, float> ? F322F16 : DEQF16;
    if (!converts<TypeT, TypeU>(mode)) fail(site, "DataCopy: %s is not converted to %s", type_name<TypeU>(), type_name<TypeT>());
    const uint64_t elements = params.blockLen * 256ull;
    const uint64_t to = elements + params.dstGap * 32ull / sizeof(TypeT), from = elements + params.srcGap * 32ull / sizeof(TypeU);
    if (params.blockCount == 0 || elements == 0) return;
    check_access(dst, span_of(params.blockCount, elements, static_cast<int64_t>(to)) * sizeof(TypeT), "dst", call);
    check_access(src, span_of(params.blockCount, elements, static_cast<int64_t>(from)) * sizeof(TypeU), "src", call);
    for (uint64_t block = 0; block < params.blockCount; block++)
        for (uint64_t at = 0; at < elements; at++)
            dst.raw()[block * to + at] = requantised<TypeT>(src.raw()[block * from + at], enhanced.deqValue, enhanced.isRelu);
}

// Columns of fractals 16 wide in UB to row-major matrices.
template <typename TypeT>
void DataCopy(const GlobalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const Nz2NdParamsFull& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const Call call{"DataCopy", site, PIPE_MTE3};
    if (params.ndNum == 0 || params.nValue == 0 || params.dValue == 0) return;
    const uint32_t blocks = divided_up(params.dValue, 16);
    check_access(src, ((params.ndNum - 1u) * params.srcNdMatrixStride * 256ull + (blocks - 1u) * params.srcNStride * 16ull + params.nValue * 16ull) * sizeof(TypeT),
                 "src", call);
    for (uint64_t matrix = 0; matrix < params.ndNum; matrix++)
        for (uint64_t row = 0; row < params.nValue; row++)
            for (uint32_t block = 0; block < blocks; block++) {
                const uint64_t count = params.dValue - block * 16u < 16u ? params.dValue - block * 16u : 16u;
                const uint64_t to = matrix * params.dstNdMatrixStride + row * params.dstDStride + block * 16u;
                const TypeT* from = src.raw() + matrix * params.srcNdMatrixStride * 256 + block * static_cast<uint64_t>(params.srcNStride) * 16 + row * 16;
                dst.check(to, count, call.name, site);
                store_global<TypeT>(bytes_at(dst) + to * sizeof(TypeT), reinterpret_cast<const uint8_t*>(from), count * sizeof(TypeT), call);
            }
}

} // namespace AscendC

#endif
