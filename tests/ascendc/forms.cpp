// Forms of calls and names that public programs use: literals, types of options, layouts, and functions of the host's tiling.
#include "check.h"

#include "lib/matmul_intf.h"
#include "tiling/tiling_api.h"
#include "utils/debug/asc_assert.h"
#include "utils/debug/asc_printf.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(FormsTiling)
TILING_DATA_FIELD_DEF(uint32_t, length);
TILING_DATA_FIELD_DEF_ARR(int64_t, 2, sizes);
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, product);
END_TILING_DATA_DEF;
} // namespace optiling

namespace {

TEST(bfloat16_padding_is_made_from_a_literal)
{
    std::vector<bfloat16_t> from(32), got(48);
    for (size_t at = 0; at < from.size(); at++) from[at] = bfloat16_t(static_cast<float>(at));
    const std::string said = check::run([&] {
        TPipe pipe;
        GlobalTensor<bfloat16_t> source;
        source.SetGlobalBuffer(from.data(), from.size());
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 96);
        auto target = buffer.Get<bfloat16_t>();
        DataCopyPadExtParams<bfloat16_t> padding{true, 0, 3, 7};
        DataCopyPad(target, source, DataCopyExtParams{1, 26, 0, 0, 0}, padding);
        got = check::get(target, 16);
    });
    EXPECT_RUNS(said);
    for (size_t at = 0; at < 16; at++) EXPECT(static_cast<float>(got[at]) == (at < 13 ? static_cast<float>(at) : 7.0f));
}

TEST(the_type_of_a_pad_value_is_deduced)
{
    std::vector<half> from(16, half(1)), got;
    const std::string said = check::run([&] {
        TPipe pipe;
        GlobalTensor<half> source;
        source.SetGlobalBuffer(from.data(), from.size());
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 32);
        auto target = buffer.Get<half>();
        SetPadValue(half(2.5));
        DataCopyPad(target, source, DataCopyExtParams{1, 10, 0, 0, 0}, DataCopyPadExtParams<half>{false, 0, 0, 0});
        got = check::get(target, 16);
    });
    EXPECT_RUNS(said);
    for (size_t at = 0; at < 16; at++) EXPECT(got[at] == (at < 5 ? half(1) : half(2.5)));
}

TEST(integers_of_4_bits_are_made_from_integers)
{
    EXPECT(int4b_t(5).pair == 5 && int4b_t(-1).pair == 15 && int4b_t(-8).pair == 8);
    static_assert(std::is_trivially_default_constructible_v<int4b_t> && sizeof(int4b_t) == 1);
}

TEST(type_traits_are_those_of_the_language)
{
    static_assert(AscendC::Std::is_void<void>::value && !AscendC::Std::is_void_v<int>);
    static_assert(AscendC::Std::is_same_v<AscendC::Std::conditional_t<true, half, float>, half>);
    static_assert(AscendC::Std::is_same_v<AscendC::Std::remove_cvref_t<const int&>, int>);
    static_assert(AscendC::Std::max(3, 4u) == 4 && AscendC::Std::min(int64_t(-2), 1) == -2);
    EXPECT(AscendC::Std::abs(-3) == 3 && AscendC::Std::abs(half(-2)) == half(2) && AscendC::Std::sqrt(9.0f) == 3.0f);
}

TEST(the_pipe_is_found_without_the_namespace)
{
    const std::string said = check::run([] {
        TPipe pipe;
        EXPECT(::GetTPipePtr() == &pipe);
    });
    EXPECT_RUNS(said);
}

TEST(a_pool_lies_over_another_one_of_its_pool)
{
    std::vector<float> got;
    const std::string said = check::run([&] {
        TPipe pipe;
        TBufPool<TPosition::VECCALC> outer, one, other;
        pipe.InitBufPool(outer, 4096);
        outer.InitBufPool(one, 1024);
        outer.InitBufPool(other, 512, one);
        TBuf<TPosition::VECCALC> first, second;
        one.InitBuffer(first, 256);
        auto x = first.Get<float>();
        Duplicate(x, 3.0f, 64);
        EXPECT(other.InitBuffer(second, 256));
        auto y = second.Get<float>();
        Duplicate(y, 4.0f, 64);
        got = check::get(x, 64);
    });
    EXPECT_RUNS(said);
    EXPECT_EQUAL(got, std::vector<float>(64, 4.0f));
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBufPool<TPosition::VECCALC> outer, one, other;
                     pipe.InitBufPool(outer, 4096);
                     outer.InitBufPool(one, 64);
                     outer.InitBufPool(other, 128, one);
                 }),
                 "InitBufPool: 128 bytes do not fit over the other pool, which has 64");
}

#if __NPU_ARCH__ == 2201
// 16 x 16 ones in L0A, 16 x 32 twos in L0B, and a row of biases.
template <typename Product> void with_bias(Product product)
{
    constexpr uint32_t m = 16, n = 32;
    TPipe pipe;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    TBuf<TPosition::C1> c1;
    TBuf<TPosition::C2> c2;
    pipe.InitBuffer(a2, 512);
    pipe.InitBuffer(b2, 1024);
    pipe.InitBuffer(co1, m * n * 4);
    pipe.InitBuffer(c1, n * 4);
    auto ones = a2.Get<half>();
    auto twos = b2.Get<half>();
    InitConstValue(ones, {1, 1, 0, half(1)});
    Fill(twos, {2, 1, 0, half(2)});
    auto row = c1.Get<float>();
    for (uint32_t at = 0; at < n; at++) row.GetPhyAddr()[at] = static_cast<float>(at) + 0.5f;
    auto copy_bias = [&] {
        pipe.InitBuffer(c2, n * 4);
        DataCopy(c2.Get<float>(), row, DataCopyParams(1, n * 4 / 64, 0, 0));
        SetFlag<HardEvent::MTE1_M>(0);
        WaitFlag<HardEvent::MTE1_M>(0);
    };
    product(co1.Get<float>(), ones, twos, copy_bias);
}

TEST(a_product_without_a_bias_tensor_starts_from_the_bias_table)
{
    constexpr uint32_t m = 16, n = 32, k = 16;
    std::vector<float> got, wanted(m * n);
    const std::string said = check::run([&] {
        with_bias([&](LocalTensor<float> c, LocalTensor<half> a, LocalTensor<half> b, auto copy_bias) {
            copy_bias();
            Mmad(c, a, b, MmadParams(m, n, k, 0, true, false));
            got = check::get(c, m * n);
        });
    });
    EXPECT_RUNS(said);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++)
            wanted[column / 16 * m * 16 + row * 16 + column % 16] = 2 * k + static_cast<float>(column) + 0.5f;
    EXPECT_EQUAL(got, wanted);
    EXPECT_FAILS(([] {
                     with_bias([&](LocalTensor<float> c, LocalTensor<half> a, LocalTensor<half> b, auto) {
                         Mmad(c, a, b, MmadParams(m, n, k, 0, true, false));
                     });
                 }),
                 "Mmad: cmatrixSource is true, and the kernel has no tensor in the bias table");
}

// The memory's end limits what is written, and not the length that the program has declared.
TEST(a_transposed_3d_load_may_write_behind_the_length_of_a_fixed_tensor)
{
    constexpr uint32_t rows = 32, columns = 16;
    std::vector<half> matrix(rows * columns), got, wanted(rows * columns);
    for (uint32_t at = 0; at < rows * columns; at++) matrix[at] = static_cast<half>(static_cast<float>(at));
    const std::string said = check::run([&] {
        LocalTensor<half> source(TPosition::A1, 0, rows * columns);
        LocalTensor<half> target(TPosition::A2, 0, 64);
        std::copy(matrix.begin(), matrix.end(), source.GetPhyAddr());
        const uint8_t pads[4] = {0, 0, 0, 0};
        LoadData(target, source, LoadData3DParamsV2<half>(pads, rows, 1, columns, columns, rows, 0, 0, 1, 1, 1, 1, 1, 1, true, false, half(0)));
        LocalTensor<half> all(TPosition::A2, 0, rows * columns);
        got = check::get(all, rows * columns);
    });
    EXPECT_RUNS(said);
    // Columns become rows: two fractals side by side, element (column, row) of the transposed matrix.
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < columns; column++) wanted[row / 16 * 256 + column * 16 + row % 16] = matrix[row * columns + column];
    EXPECT_EQUAL(got, wanted);
    EXPECT_FAILS(([] {
                     LocalTensor<half> source(TPosition::A1, 0, rows * columns);
                     LocalTensor<half> target(TPosition::A2, 65536 - 512, 64);
                     const uint8_t pads[4] = {0, 0, 0, 0};
                     LoadData(target, source, LoadData3DParamsV2<half>(pads, rows, 1, columns, columns, rows, 0, 0, 1, 1, 1, 1, 1, 1, true, false, half(0)));
                 }),
                 "of its buffer in L0A, which has 512 bytes");
}

TEST(scales_are_words_of_64_bits_in_a_tensor_of_any_type)
{
    constexpr uint32_t n = 16, m = 16;
    std::vector<int32_t> sums(m * n);
    std::vector<half> got(m * n), wanted(m * n);
    for (uint32_t at = 0; at < m * n; at++) {
        sums[at] = static_cast<int32_t>(at);
        wanted[at] = static_cast<half>(static_cast<float>(at * (1u << at % n % 4)));
    }
    // With and without the reserved tensor.
    for (bool has_both : {false, true}) {
        const std::string said = check::run([&] {
            TPipe pipe;
            TBuf<TPosition::CO1> co1;
            TBuf<TPosition::C2PIPE2GM> scales;
            pipe.InitBuffer(co1, m * n * 4);
            pipe.InitBuffer(scales, n * 8);
            auto result = co1.Get<int32_t>();
            std::copy(sums.begin(), sums.end(), result.GetPhyAddr());
            auto words = scales.Get<uint64_t>();
            for (uint32_t at = 0; at < n; at++) {
                const float scale = static_cast<float>(1u << at % 4);
                uint32_t bits;
                std::memcpy(&bits, &scale, sizeof bits);
                words.GetPhyAddr()[at] = bits;
            }
            if (has_both) SetFixPipeConfig<int32_t>(LocalTensor<int32_t>(), scales.Get<int32_t>());
            else SetFixPipeConfig<float>(scales.Get<float>());
            GlobalTensor<half> target;
            target.SetGlobalBuffer(got.data(), got.size());
            DataCopyCO12DstParams params(n, m, n, m, VDEQF16, 0, false, true);
            SetFixpipeNz2ndFlag(1, 0, 0);
            DataCopy(target, result, params);
        });
        EXPECT_RUNS(said);
        EXPECT_EQUAL(got, wanted);
        std::fill(got.begin(), got.end(), half(0));
    }
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<TPosition::C2PIPE2GM> scales;
                     pipe.InitBuffer(scales, 128);
                     SetFixPipeConfig(scales.Get<uint64_t>(), scales.Get<uint64_t>(), false);
                 }),
                 "SetFixPipeConfig: a tensor of ReLU slopes is not supported");
}

TEST(forms_of_loads_that_are_not_supported_are_named)
{
    EXPECT_FAILS(([] {
                     LocalTensor<half> source(TPosition::A1, 0, 256), target(TPosition::A2, 0, 256);
                     LoadData(target, source, LoadData2DParamsV2(0, 0, 1, 1, 1, 1, false, 0));
                 }),
                 "LoadData with LoadData2DParamsV2, a form of the 950, is not supported");
    EXPECT_FAILS(([] {
                     LocalTensor<half> source(TPosition::A1, 0, 256), target(TPosition::A2, 0, 256);
                     LoadData(target, source, LoadData3DParamsV2Pro());
                 }),
                 "LoadData with LoadData3DParamsV2Pro is not supported");
}
#endif

TEST(blocks_take_turns_and_groups_wait_for_groups)
{
    constexpr uint32_t blocks = 6, arriving = 2, rounds = 3;
    std::vector<int32_t> order, workspace(256);
    const std::string said = check::run(
        [&] {
            TPipe pipe;
            TBuf<TPosition::VECCALC> buffer;
            pipe.InitBuffer(buffer, 1024);
            auto unused = buffer.Get<int32_t>();
            GlobalTensor<int32_t> global;
            global.SetGlobalBuffer(workspace.data(), workspace.size());
            InitDetermineComputeWorkspace(global, unused);
            for (uint32_t round = 0; round < 2; round++) {
                WaitPreBlock(global, unused);
                order.push_back(static_cast<int32_t>(GetBlockIdx()));
                NotifyNextBlock(global, unused);
            }
        },
        blocks, true);
    EXPECT_RUNS(said);
    EXPECT_EQUAL(order, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));

    alignas(512) static uint8_t lines[512 * (blocks - arriving)];
    std::memset(lines, 0, sizeof lines);
    uint32_t arrived = 0;
    bool waited = true;
    const std::string groups = check::run(
        [&] {
            GroupBarrier<PipeMode::MTE3_MODE> barrier(lines, arriving, blocks - arriving);
            // The groups are those of the highest and of the lower numbers, so that the ones that wait start first.
            const uint32_t id = static_cast<uint32_t>(GetBlockIdx()), waiting = blocks - arriving;
            for (uint32_t round = 1; round <= rounds; round++) {
                if (id >= waiting) {
                    arrived++;
                    barrier.Arrive(id - waiting);
                } else {
                    barrier.Wait(id);
                    waited = waited && arrived >= round * arriving;
                }
            }
        },
        blocks, true);
    EXPECT_RUNS(groups);
    EXPECT(waited && arrived == arriving * rounds);
    EXPECT_FAILS(([] { GroupBarrier<PipeMode::MTE3_MODE> barrier(lines + 64, 1, 1); }), "has to begin at a multiple of 512 bytes");
    EXPECT_FAILS(([] { GroupBarrier<PipeMode::MTE3_MODE>(lines, 1, 1).Arrive(1); }), "GroupBarrier::Arrive: the index is 1, and the group has 1 cores");
    EXPECT_FAILS(([] {
                     std::memset(lines, 0, 512);
                     GroupBarrier<PipeMode::MTE3_MODE>(lines, 1, 1).Wait(0);
                 },
                  2, true),
                 "GroupBarrier::Wait waits for blocks that have ended or wait themselves: a deadlock");
}

TEST(options_of_products_are_given_in_groups)
{
    constexpr MatmulShapeParams shape{128, 256, 64, 64, 32, 16};
    constexpr MatmulConfig norm = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(shape, MatmulQuantParams{true, false});
    static_assert(norm.singleCoreN == 256 && norm.basicM == 64 && norm.isPerTensor && norm.doNorm);
    constexpr MatmulConfig mdl = GetMMConfig<MatmulConfigMode::CONFIG_MDL>(MatmulBatchParams{true, BatchMode::BATCH_LESS_THAN_L1});
    static_assert(mdl.doMultiDataLoad && mdl.isNBatch && mdl.batchMode == BatchMode::BATCH_LESS_THAN_L1);
    constexpr MatmulConfig listed = GetMDLConfig(false, false, 0, false, false, false, false, true, true, false, false, true);
    static_assert(listed.enableKdimReorderLoad && !listed.enableMixDualMaster && listed.doMultiDataLoad);
    // Older programs find every name in this namespace.
    static_assert(std::is_same_v<matmul::LocalTensor<half>, LocalTensor<half>> && matmul::CFG_NORM.doNorm);
}

TEST(shapes_and_sizes_of_the_tiling_library)
{
    const std::vector<int64_t> dims{4, 3, 40};
    AscendC::TensorShape shape(dims);
    const AscendC::TensorShape listed({4, 3, 40});
    EXPECT(shape.GetDimNum() == 3 && shape.GetDim(2) == 40 && shape.GetShapeSize() == 480 && listed.GetDims() == dims);
    EXPECT(shape.SetDim(2, 64) && !shape.SetDim(3, 1) && shape.GetShapeSize() == 768 && AscendC::TensorShape().GetShapeSize() == 0);
    struct Other {
        size_t GetDimNum() const { return 2; }
        int64_t GetDim(size_t at) const { return at == 0 ? 8 : 16; }
    };
    EXPECT(AscendC::TensorShape(Other()).GetShapeSize() == 128);

    uint32_t most = 0, least = 1, live = 0, extra = 1;
    GetXorMaxMinTmpSize(shape, 2, false, most, least);
    EXPECT(least > 0 && least % 32 == 0 && most >= least);
    GetXorTmpBufferFactorSize(2, live, extra);
    EXPECT(live > 0 && most >= 768 * 2 * live + extra);
    GetTanhMaxMinTmpSize(Other(), 4, true, most, least);
    EXPECT(most >= least && least > 0);
    const platform_ascendc::PlatformAscendC& chip = *platform_ascendc::PlatformAscendCManager::GetInstance();
    GetRoundMaxMinTmpSize(chip, shape, 4, false, most, least);
    EXPECT(most >= least && least > 0);
    GetPowerMaxMinTmpSize(shape, listed, false, 4, false, most, least);
    EXPECT(most >= 768 * 4);
    GetBroadCastMaxMinTmpSize(chip, AscendC::TensorShape({8, 1}), AscendC::TensorShape({8, 512}), 4, false, most, least);
    EXPECT(most >= 8 * 512 * 4);
    GetReduceSumMaxMinTmpSize(shape, AscendC::TensorDataType::DT_FLOAT, ReducePattern::AR, true, false, most, least);
    EXPECT(most >= least && least > 0);
    GetLayerNormMaxMinTmpSize(shape, 4, false, true, false, most, least);
    EXPECT(most >= least && GetExpMaxMinTmpSize(shape, 4, false, most, least));
    optiling::SoftMaxTiling gradient;
    EXPECT(GetSoftMaxGradMaxTmpSize(shape, 2, false, false) >= GetSoftMaxGradMinTmpSize(shape, 2, false, false));
    SoftMaxGradTilingFunc(shape, 2, 4096, gradient, false);
    EXPECT(gradient.get_srcM() == 12 && gradient.get_srcK() == 64);
    GetAscendDequantTmpBufferFactorSize(shape, live, extra);
    EXPECT(live > 0 && GetSelectMaxTmpSize(shape, listed, 4, shape, 1, true) >= GetSelectMinTmpSize(shape, listed, 4, shape, 1, true));
    EXPECT(GetSortTmpSize(chip, 100, 4) >= 128 * 8 && GetGeluMaxTmpSize(shape, 4) >= GetGeluMinTmpSize(shape, 4));
}

TEST(the_tiling_of_rms_norm_has_the_documented_fields)
{
    const AscendC::TensorShape shape({2, 5, 64}), original({2, 5, 50});
    AscendC::tiling::RmsNormTiling tiling;
    EXPECT(GetRmsNormTilingInfo(shape, original, 64 * 4 * 4, 4, tiling));
    EXPECT(tiling.hLength == 64 && tiling.originalHLength == 50 && tiling.reciprocalOfHLength == 1.0f / 50);
    EXPECT(tiling.mainBsLength == 4 && tiling.mainBsLengthAlign == 8 && tiling.loopRound == 2 && tiling.inputTailPos == 8 * 64);
    EXPECT(tiling.tailBsLength == 2 && tiling.tailBshLength == 128 && sizeof tiling == 48);
    optiling::RmsNormTiling host;
    EXPECT(GetRmsNormTilingInfo(shape, original, 64 * 4 * 4, 4, host) && host.get_inputTailPos() == 512 && host.get_reciprocalOfHLength() == 1.0f / 50);
}

TEST(layouts_of_batches_are_in_the_tiling)
{
    matmul_tiling::MultiCoreMatmulTiling cores(*platform_ascendc::PlatformAscendCManager::GetInstance());
    cores.SetDim(1);
    cores.SetAType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cores.SetBType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cores.SetCType(TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
    cores.SetShape(32, 64, 16);
    cores.SetOrgShape(32, 64, 16);
    cores.SetALayout(2, 32, 3, 1, 16);
    cores.SetBLayout(2, 64, 3, 1, 16);
    cores.SetCLayout(2, 32, 3, 1, 64);
    cores.SetBatchNum(3);
    optiling::FormsTiling data;
    EXPECT(cores.GetTiling(data.product) != -1);
    EXPECT(data.product.get_ALayoutInfoS() == 32 && data.product.get_BLayoutInfoS() == 64 && data.product.get_CLayoutInfoS2() == 64);
    EXPECT(data.product.get_BatchNum() == 3 && data.product.get_ALayoutInfoN() == 3);
    // What the macros declare is laid out as a structure with these fields.
    struct Plain {
        uint32_t length;
        int64_t sizes[2];
        ::TCubeTiling product;
    } plain;
    const int64_t sizes[2] = {7, 8};
    data.set_length(5);
    data.set_sizes(sizes);
    EXPECT(data.GetDataSize() == sizeof plain);
    data.SaveToBuffer(&plain, sizeof plain);
    EXPECT(plain.length == 5 && plain.sizes[1] == 8 && plain.product.ALayoutInfoS == 32 && plain.product.M == 32);
    matmul_tiling::SysTilingTempBufSize space;
    EXPECT(matmul_tiling::MatmulGetTmpBufSize(data.product, space) == 0 && space.l1Size > 0 && space.l0cSize > 0);
}

TEST(the_console_comes_with_the_headers)
{
    std::cout.flush();
    EXPECT(std::cout.good());
    KERNEL_LOG(KERNEL_ERROR, "%d is not logged on a card", 1);
}

} // namespace

int main()
{
    return check::finish("forms");
}
