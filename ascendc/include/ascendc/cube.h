// The cube core: loads into L0A and L0B, and the matrix product.
#ifndef JUMAR_ASCENDC_CUBE_H
#define JUMAR_ASCENDC_CUBE_H

#include <vector>

#include "copy.h"
#include "cube_params.h"
#include "group.h"

namespace jumar {
namespace ascendc {

constexpr uint32_t FRACTAL = 512;
// Columns of a fractal of 16 rows.
template <typename TypeT> constexpr uint32_t fractal_columns = static_cast<uint32_t>(elements_in<TypeT>(32));
template <typename TypeT> constexpr uint32_t fractal_elements = static_cast<uint32_t>(elements_in<TypeT>(FRACTAL));

constexpr uint32_t divided_up(uint32_t value, uint32_t by)
{
    return (value + by - 1) / by;
}

template <typename TypeT>
inline void need_memory([[maybe_unused]] const AscendC::LocalTensor<TypeT>& tensor, [[maybe_unused]] Memory one, [[maybe_unused]] Memory other,
                        [[maybe_unused]] const char* operand, [[maybe_unused]] const Call& call)
{
#if JUMAR_ASCENDC_CHECK
    if (!tensor.buffer()) fail(call.site, "%s: %s has no memory", call.name, operand);
    const Memory memory = memory_of(tensor.buffer()->position);
    if (memory != one && memory != other)
        fail(call.site, "%s: %s is in %s, and has to be in %s%s%s", call.name, operand, memory_info(memory).name, memory_info(one).name,
             one == other ? "" : " or ", one == other ? "" : memory_info(other).name);
#endif
}

// Element (row, column) of a fractal or matrix whose elements may be half bytes.
template <typename TypeT> inline TypeT element_at(const TypeT* from, uint64_t index)
{
    if constexpr (is_int4<TypeT>) return TypeT(index % 2 ? from[index / 2].pair >> 4 : from[index / 2].pair);
    else return from[index];
}
template <typename TypeT> inline void put_element(TypeT* to, uint64_t index, TypeT value)
{
    if constexpr (is_int4<TypeT>) {
        uint8_t& pair = to[index / 2].pair;
        pair = static_cast<uint8_t>(index % 2 ? (pair & 15) | value.pair << 4 : (pair & 0xf0) | (value.pair & 15));
    } else {
        to[index] = value;
    }
}

// The number that the matrix product calculates with.
template <typename TypeT, typename TypeC> inline TypeC factor(const TypeT* from, uint64_t index)
{
    if constexpr (is_int4<TypeT>) {
        const int value = element_at(from, index).pair;
        return static_cast<TypeC>(value >= 8 ? value - 16 : value);
    } else {
        return static_cast<TypeC>(from[index]);
    }
}

// Copies fractals. `source` are bytes, `last_source` checks the index of the fractal furthest away.
template <typename TypeT, typename Check>
inline void load_fractals(const AscendC::LocalTensor<TypeT>& dst, const uint8_t* source, const AscendC::LoadData2DParams& params, const Call& call,
                          Check check_source)
{
    if (params.repeatTimes == 0) return;
    if (params.ifTranspose && sizeof(TypeT) != 2)
        fail(call.site, "LoadData: ifTranspose is possible for elements of 16 bits; LoadDataWithTranspose transposes those of 8 and 32 bits");
    const int64_t step = params.addrMode == 0 ? params.srcStride : -static_cast<int64_t>(params.srcStride);
    const int64_t last = params.startIndex + (params.repeatTimes - 1) * step;
    if (last < 0) fail(call.site, "LoadData: fractal %lld is in front of src", static_cast<long long>(last));
    check_source(static_cast<uint64_t>(last > params.startIndex ? last : params.startIndex));
    const uint64_t gap = 1 + static_cast<uint64_t>(params.dstGap);
    const uint32_t alignment = memory_of(dst.buffer()->position) == MEMORY_L1 ? 32 : FRACTAL;
    check_access(dst, ((params.repeatTimes - 1) * gap + 1) * FRACTAL, "dst", call, alignment);
    for (int64_t repeat = 0; repeat < params.repeatTimes; repeat++) {
        const uint8_t* from = source + (params.startIndex + repeat * step) * FRACTAL;
        uint8_t* to = bytes_at(dst) + static_cast<uint64_t>(repeat) * gap * FRACTAL;
        if (call.pipe == PIPE_MTE2) record_access(dst, static_cast<uint64_t>(repeat) * gap * FRACTAL, FRACTAL, true, "dst", call);
        if (!params.ifTranspose) {
            std::memcpy(to, from, FRACTAL);
            continue;
        }
        for (uint32_t row = 0; row < 16; row++)
            for (uint32_t column = 0; column < 16; column++) std::memcpy(to + (column * 16 + row) * 2, from + (row * 16 + column) * 2, 2);
    }
}

// The convolution that a 3D load unfolds: a feature map in NC1HWC0, and a filter that slides over it.
struct Unfolding {
    uint32_t height, width, channels;
    uint32_t pad_left, pad_right, pad_top, pad_bottom;
    uint32_t filter_w, filter_h, stride_w, stride_h, dilation_w, dilation_h;

    uint32_t out_width() const { return steps(width + pad_left + pad_right, filter_w, dilation_w, stride_w); }
    uint32_t out_height() const { return steps(height + pad_top + pad_bottom, filter_h, dilation_h, stride_h); }

private:
    static uint32_t steps(uint32_t extent, uint32_t filter, uint32_t dilation, uint32_t stride)
    {
        const uint32_t reach = (filter - 1) * dilation + 1;
        return extent < reach || stride == 0 ? 0 : (extent - reach) / stride + 1;
    }
};

// Writes rows and columns of the unfolded matrix: a row is a position of the filter, a column is (C1, filter row, filter column, C0).
template <typename TypeT>
inline void load_unfolded(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeT>& src, const Unfolding& map, uint32_t row_begin,
                          uint32_t rows, uint32_t column_begin, uint32_t columns, bool transpose, TypeT padding, const Call& call)
{
    need_memory(dst, MEMORY_L0A, MEMORY_L0B, "dst", call);
    need_memory(src, MEMORY_L1, MEMORY_L1, "src", call);
    if (rows == 0 || columns == 0) return;
    constexpr uint32_t c0 = fractal_columns<TypeT>;
    const bool is_right = memory_of(dst.buffer()->position) == MEMORY_L0B;
    const uint32_t out_width = map.out_width(), out_rows = out_width * map.out_height();
    if (out_rows == 0)
        fail(call.site, "LoadData: a filter of %u x %u does not fit into a map of %u x %u with its padding", map.filter_h, map.filter_w, map.height,
             map.width);
    check_access(src, static_cast<uint64_t>(divided_up(map.channels, c0)) * map.height * map.width * 32, "src", call);
    // L0A has 16 rows in a fractal; a column of fractals of L0B has 16 columns of the matrix.
    const uint32_t outer = transpose && !is_right ? columns : rows, inner = transpose && !is_right ? rows : columns;
    const uint32_t across = is_right ? divided_up(inner, 16) : divided_up(inner, c0);
    const uint32_t down = is_right ? divided_up(outer, c0) : divided_up(outer, 16);
    check_access(dst, static_cast<uint64_t>(down) * across * FRACTAL, "dst", call, FRACTAL);
    const TypeT* from = src.raw();
    TypeT* to = dst.raw();
    const uint32_t filter = map.filter_w * map.filter_h;
    const uint32_t all_rows = divided_up(rows, 16) * 16, all_columns = divided_up(columns, c0) * c0;
    for (uint32_t row = 0; row < all_rows; row++) {
        const uint32_t position = row_begin + row;
        for (uint32_t column = 0; column < all_columns; column++) {
            TypeT value = TypeT{};
            const uint32_t tap = (column_begin + column) / c0, channel = (column_begin + column) % c0;
            const uint32_t c1 = tap / filter, filter_y = tap % filter / map.filter_w, filter_x = tap % map.filter_w;
            if (position < out_rows && c1 * c0 + channel < divided_up(map.channels, c0) * c0) {
                const int64_t y = static_cast<int64_t>(position / out_width) * map.stride_h + filter_y * map.dilation_h - map.pad_top;
                const int64_t x = static_cast<int64_t>(position % out_width) * map.stride_w + filter_x * map.dilation_w - map.pad_left;
                const bool is_inside = y >= 0 && y < map.height && x >= 0 && x < map.width;
                value = !is_inside ? padding
                                   : element_at(from, ((static_cast<uint64_t>(c1) * map.height + static_cast<uint64_t>(y)) * map.width +
                                                       static_cast<uint64_t>(x)) * c0 + channel);
            }
            uint64_t fractal, within;
            const uint32_t r = transpose && !is_right ? column : row, c = transpose && !is_right ? row : column;
            if (is_right) {
                fractal = static_cast<uint64_t>(r / c0) * across + c / 16;
                within = c % 16 * c0 + r % c0;
                if (r / c0 >= down || c / 16 >= across) continue;
            } else {
                fractal = static_cast<uint64_t>(r / 16) * across + c / c0;
                within = r % 16 * c0 + c % c0;
                if (r / 16 >= down || c / c0 >= across) continue;
            }
            put_element(to, fractal * fractal_elements<TypeT> + within, value);
        }
    }
}

// C = initial value + A * B. A is in Zz, or a plain row if m is 1; B is in Zn; C is in columns of fractals.
template <typename TypeT, typename TypeU, typename TypeS, typename Initial>
inline void multiply(const AscendC::LocalTensor<TypeT>& dst, const AscendC::LocalTensor<TypeU>& fm, const AscendC::LocalTensor<TypeS>& filter,
                     const AscendC::MmadParams& params, const Call& call, Initial initial)
{
    using Accumulator = std::conditional_t<is_float<TypeU>, float, uint32_t>;
    static_assert(sizeof(TypeU) == sizeof(TypeS), "Mmad: the elements of both matrices have the same size");
    need_cube("Mmad", call.site);
    need_memory(dst, MEMORY_L0C, MEMORY_L0C, "dst", call);
    need_memory(fm, MEMORY_L0A, MEMORY_L0A, "fm", call);
    need_memory(filter, MEMORY_L0B, MEMORY_L0B, "filter", call);
    const uint32_t m = params.m, n = params.n, k = params.k;
    if (m > 4095 || n > 4095 || k > 4095) fail(call.site, "Mmad: m, n and k are %u, %u and %u, and can be 4095 at most", m, n, k);
    if (m == 0 || n == 0 || k == 0) return;
    // With a unit flag the product and Fixpipe wait for each other fractal by fractal.
    if (PipeOrder* order = params.unitFlag ? pipe_order(core()) : nullptr) order->acquire(PIPE_M, order->release(PIPE_FIX));
    constexpr uint32_t c0 = fractal_columns<TypeU>;
    const bool is_row = m == 1;
    uint32_t k_blocks = divided_up(k, c0);
    if (sizeof(TypeU) == 4 && params.kDirectionAlign) k_blocks = divided_up(k, 16) * 2;
    const uint32_t m_blocks = divided_up(m, 16), n_blocks = divided_up(n, 16);
    const uint64_t c_bytes = static_cast<uint64_t>(m_blocks) * n_blocks * 256 * sizeof(TypeT);
    check_access(fm, is_row ? bytes_of<TypeU>(k + (is_int4<TypeU> ? k % 2 : 0)) : static_cast<uint64_t>(m_blocks) * k_blocks * FRACTAL, "fm", call, FRACTAL);
    check_access(filter, static_cast<uint64_t>(divided_up(k, c0)) * n_blocks * FRACTAL, "filter", call, FRACTAL);
    check_access(dst, c_bytes, "dst", call, 64);
    const TypeU* a = fm.raw();
    const TypeS* b = filter.raw();
    TypeT* c = dst.raw();
    std::vector<Accumulator> right(static_cast<size_t>(k) * n), left(k), sums(n);
    for (uint32_t at = 0; at < k; at++)
        for (uint32_t column = 0; column < n; column++)
            right[static_cast<size_t>(at) * n + column] =
                factor<TypeS, Accumulator>(b, (static_cast<uint64_t>(at / c0) * n_blocks + column / 16) * fractal_elements<TypeU> + column % 16 * c0 + at % c0);
    for (uint32_t row = 0; row < m; row++) {
        for (uint32_t at = 0; at < k; at++)
            left[at] = factor<TypeU, Accumulator>(
                a, is_row ? at : (static_cast<uint64_t>(row / 16) * k_blocks + at / c0) * fractal_elements<TypeU> + row % 16 * c0 + at % c0);
        auto index = [&](uint32_t column) { return static_cast<uint64_t>(column / 16) * m_blocks * 256 + row * 16 + column % 16; };
        for (uint32_t column = 0; column < n; column++) sums[column] = static_cast<Accumulator>(initial(column, index(column)));
        for (uint32_t at = 0; at < k; at++) {
            const Accumulator value = left[at];
            const Accumulator* line = right.data() + static_cast<size_t>(at) * n;
            for (uint32_t column = 0; column < n; column++) sums[column] += value * line[column];
        }
        for (uint32_t column = 0; column < n; column++) c[index(column)] = static_cast<TypeT>(sums[column]);
    }
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

template <typename TypeT>
void LoadData(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LoadData2DParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"LoadData", site, PIPE_MTE1};
    need_cube(call.name, site);
    need_memory(dst, MEMORY_L0A, MEMORY_L0B, "dst", call);
    need_memory(src, MEMORY_L1, MEMORY_L1, "src", call);
    load_fractals(dst, bytes_at(src), params, call, [&](uint64_t last) { check_access(src, (last + 1) * FRACTAL, "src", call); });
}
template <typename TypeT>
void LoadData(const LocalTensor<TypeT>& dst, const GlobalTensor<TypeT>& src, const LoadData2DParams& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"LoadData", site, PIPE_MTE2};
    need_cube(call.name, site);
    if (params.ifTranspose) fail(site, "LoadData: ifTranspose is possible from L1 alone");
    load_fractals(dst, bytes_at(src), params, call, [&](uint64_t last) { src.check(0, elements_in<TypeT>((last + 1) * FRACTAL), call.name, site); });
}

template <typename TypeT, const IsResetLoad3dConfig& config = IS_RESER_LOAD3D_DEFAULT_CONFIG>
void LoadData(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LoadData3DParamsV2<jumar::ascendc::AsIs<TypeT>>& params,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    need_cube("LoadData", site);
    const Cube& cube = core().registers.cube;
    const size_t side = params.fMatrixCtrl ? 1 : 0;
    const uint8_t* pads = config.isSetFMatrix ? params.padList : cube.map_padding[side];
    const Unfolding map{config.isSetFMatrix ? params.l1H : cube.map_height[side],
                        config.isSetFMatrix ? params.l1W : cube.map_width[side],
                        params.channelSize,
                        pads[0],
                        pads[1],
                        pads[2],
                        pads[3],
                        params.filterW + (params.filterSizeW ? 256u : 0),
                        params.filterH + (params.filterSizeH ? 256u : 0),
                        params.strideW,
                        params.strideH,
                        params.dilationFilterW,
                        params.dilationFilterH};
    TypeT padding = params.padValue;
    if (!config.isSetPadding) std::memcpy(static_cast<void*>(&padding), &cube.padding, sizeof padding);
    load_unfolded(dst, src, map, params.mStartPt, params.mExtension, params.kStartPt, params.kExtension, params.enTranspose, padding,
                  Call{"LoadData", site, PIPE_MTE1, true});
}

// Forms that are not supported fail when they run.
template <typename TypeT, typename Source>
void LoadData(const LocalTensor<TypeT>&, const Source&, const LoadData2DParamsV2&, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::fail(site, "LoadData with LoadData2DParamsV2, a form of the 950, is not supported by Jumar; LoadData2DParams is");
}
template <typename TypeT>
void LoadData(const LocalTensor<TypeT>&, const LocalTensor<TypeT>&, const LoadData3DParamsV2Pro&,
              jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    jumar::ascendc::fail(site, "LoadData with LoadData3DParamsV2Pro is not supported by Jumar; LoadData3DParamsV2 is");
}

// Transposes squares: one fractal of 16-bit elements, two adjacent ones of 8-bit and 32-bit elements.
template <typename TypeT>
void LoadDataWithTranspose(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LoadData2dTransposeParamsV2& params,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    static_assert(!is_int4<TypeT>, "LoadDataWithTranspose of 4-bit elements is not supported by Jumar; docs/ascendc.md lists what is");
    Call call{"LoadDataWithTranspose", site, PIPE_MTE1};
    need_cube(call.name, site);
    need_memory(dst, MEMORY_L0A, MEMORY_L0B, "dst", call);
    need_memory(src, MEMORY_L1, MEMORY_L1, "src", call);
    if (params.repeatTimes == 0) return;
    constexpr uint32_t c0 = fractal_columns<TypeT>, parts = sizeof(TypeT) == 2 ? 1 : 2, side = sizeof(TypeT) == 1 ? 32 : 16;
    const int64_t square = static_cast<int64_t>(parts + (parts - 1) * params.srcFracGap);
    const int64_t step = params.addrMode == 0 ? params.srcStride : -static_cast<int64_t>(params.srcStride);
    const int64_t last = params.startIndex + (params.repeatTimes - 1) * step;
    if (last < 0) fail(site, "LoadDataWithTranspose: square %lld is in front of src", static_cast<long long>(last));
    const int64_t furthest = last > params.startIndex ? last : params.startIndex;
    check_access(src, static_cast<uint64_t>(furthest * parts + square) * FRACTAL, "src", call);
    const uint64_t next = 1 + static_cast<uint64_t>(params.dstGap), part_step = parts == 1 ? 0 : 1 + static_cast<uint64_t>(params.dstFracGap);
    check_access(dst, ((params.repeatTimes - 1) * next + part_step + 1) * FRACTAL, "dst", call, FRACTAL);
    for (int64_t repeat = 0; repeat < params.repeatTimes; repeat++) {
        const TypeT* from = src.raw() + (params.startIndex + repeat * step) * static_cast<int64_t>(parts * fractal_elements<TypeT>);
        TypeT* to = dst.raw() + static_cast<uint64_t>(repeat) * next * fractal_elements<TypeT>;
        for (uint32_t row = 0; row < side; row++)
            for (uint32_t column = 0; column < side; column++) {
                // Two fractals of 8-bit elements lie one below the other, those of 32-bit elements side by side.
                const uint32_t source_part = sizeof(TypeT) == 1 ? row / 16 : column / c0, target_part = sizeof(TypeT) == 1 ? column / 16 : row / c0;
                to[target_part * part_step * fractal_elements<TypeT> + column % 16 * c0 + row % c0] =
                    from[source_part * (1 + params.srcFracGap) * fractal_elements<TypeT> + row % 16 * c0 + column % c0];
            }
    }
}
template <typename TypeT>
void LoadDataWithTranspose(const LocalTensor<TypeT>& dst, const LocalTensor<TypeT>& src, const LoadData2dTransposeParams& params,
                           jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    LoadDataWithTranspose(dst, src,
                          LoadData2dTransposeParamsV2(params.startIndex, params.repeatTimes, params.srcStride, params.dstGap, params.dstFracGap, 0,
                                                      params.addrMode),
                          site);
}

// The initial value is a row in the bias table, or a matrix in L0C.
template <typename TypeT, typename TypeU, typename TypeS, typename TypeV>
void Mmad(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& fm, const LocalTensor<TypeS>& filter, const LocalTensor<TypeV>& bias, const MmadParams& params,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"Mmad", site, PIPE_M};
    need_cube(call.name, site);
    need_memory(bias, MEMORY_BIAS, MEMORY_L0C, "bias", call);
    const bool is_row = memory_of(bias.buffer()->position) == MEMORY_BIAS;
    const uint64_t elements = is_row ? params.n : static_cast<uint64_t>(divided_up(params.m, 16)) * divided_up(params.n, 16) * 256;
    check_access(bias, elements * sizeof(TypeV), "bias", call, 64);
    const TypeV* values = bias.raw();
    multiply(dst, fm, filter, params, call, [&](uint32_t column, uint64_t index) { return values[is_row ? column : index]; });
}
template <typename TypeT, typename TypeU, typename TypeS>
void Mmad(const LocalTensor<TypeT>& dst, const LocalTensor<TypeU>& fm, const LocalTensor<TypeS>& filter, const MmadParams& params,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    const bool accumulates = params.isBias || !params.cmatrixInitVal;
    if (accumulates && params.cmatrixSource) {
        // The initial value is the row at the start of the bias table (inferred: no address is passed).
        need_cube("Mmad", site);
        bool has_bias = false;
        for (const Buffer& buffer : core().buffers) has_bias = has_bias || memory_of(buffer.position) == MEMORY_BIAS;
        if (!has_bias)
            fail(site, "Mmad: cmatrixSource is true, and the kernel has no tensor in the bias table; copy the bias there, or pass it as a tensor");
        const LocalTensor<TypeT> table(TPosition::C2, 0, static_cast<uint32_t>(memory_info(MEMORY_BIAS).bytes / sizeof(TypeT)), site);
        Mmad(dst, fm, filter, table, params, site);
        return;
    }
    const TypeT* c = dst.raw();
    multiply(dst, fm, filter, params, Call{"Mmad", site, PIPE_M}, [&](uint32_t, uint64_t index) { return accumulates ? c[index] : TypeT(0); });
}

// Fills fractals of L0A and L0B, or blocks of 32 bytes of L1.
template <typename TypeT>
void InitConstValue(const LocalTensor<TypeT>& dst, const InitConstValueParams<jumar::ascendc::AsIs<TypeT>>& params,
                    jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    using namespace jumar::ascendc;
    Call call{"InitConstValue", site, dst.buffer() && memory_of(dst.buffer()->position) == MEMORY_L1 ? PIPE_MTE2 : PIPE_MTE1};
    need_cube(call.name, site);
    if (!dst.buffer()) fail(site, "InitConstValue: dst has no memory");
    const uint64_t unit = memory_of(dst.buffer()->position) == MEMORY_L1 ? 32 : FRACTAL;
    const uint64_t length = params.blockNum * unit, step = length + params.dstGap * unit;
    if (params.repeatTimes == 0 || length == 0) return;
    check_access(dst, (params.repeatTimes - 1) * step + length, "dst", call, static_cast<uint32_t>(unit));
    if (call.pipe == PIPE_MTE2)
        for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++) record_access(dst, repeat * step, length, true, "dst", call);
    for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++)
        for (uint64_t at = 0; at < length / sizeof(TypeT); at++) dst.raw()[repeat * step / sizeof(TypeT) + at] = params.initValue;
}
template <typename TypeT>
void Fill(const LocalTensor<TypeT>& dst, const InitConstValueParams<jumar::ascendc::AsIs<TypeT>>& params,
          jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    InitConstValue(dst, params, site);
}

template <typename TypeT> void SetLoadDataPaddingValue(const TypeT value)
{
    std::memcpy(&jumar::ascendc::core().registers.cube.padding, &value, sizeof value);
}
inline void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode& mode)
{
    jumar::ascendc::Cube& cube = jumar::ascendc::core().registers.cube;
    const size_t side = mode == FmatrixMode::FMATRIX_RIGHT ? 1 : 0;
    cube.map_height[side] = l1H;
    cube.map_width[side] = l1W;
    std::memcpy(cube.map_padding[side], padList, 4);
}
inline void SetLoadDataBoundary(uint32_t boundary, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (boundary != 0) jumar::ascendc::fail(site, "SetLoadDataBoundary: a ring of %u bytes in L1 is not supported; 0 means all of L1", boundary);
}
inline void SetLoadDataRepeat(const LoadDataRepeatParam& params, jumar::ascendc::Site site = jumar::ascendc::Site::here())
{
    if (params.repeatTime > 1) jumar::ascendc::fail(site, "SetLoadDataRepeat: %u repeats are not supported; 1 is", params.repeatTime);
}
// Float inputs are multiplied in full precision in every mode, and the order of the product has no effect on its result.
inline void SetHF32Mode(HF32Mode) {}
inline void SetHF32Mode(bool) {}
inline void SetHF32TransMode(HF32TransMode) {}
inline void SetHF32TransMode(bool) {}
inline void SetMMLayoutTransform(bool) {}
inline void SetMMRowMajor() {}
inline void SetMMColumnMajor() {}

} // namespace AscendC

#endif
