// The Matmul object and its tiling on the host. References are plain loops over matrices.
#include "check.h"

#include "lib/matmul_intf.h"
#include "tiling/tiling_api.h"

namespace {

template <typename T> std::vector<T> small_integers(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<T> all(count);
    for (T& value : all) value = static_cast<T>(static_cast<float>(static_cast<int>(random() % 9) - 4));
    return all;
}

template <typename T> double number(T value)
{
    if constexpr (jumar::ascendc::is_float<T>) return static_cast<double>(static_cast<float>(value));
    else return static_cast<double>(value);
}

// A matrix of rows and columns, and how it lies in memory.
template <typename T> struct Matrix {
    uint32_t rows, columns;
    bool is_transposed, is_fractal;
    std::vector<T> memory;

    Matrix(uint32_t r, uint32_t c, bool transposed, bool fractal, uint32_t seed) : rows(r), columns(c), is_transposed(transposed), is_fractal(fractal)
    {
        memory = small_integers<T>(index(rows - 1, columns - 1) + 1, seed);
    }
    size_t index(uint32_t row, uint32_t column) const
    {
        const uint32_t r = is_transposed ? column : row, c = is_transposed ? row : column, stored_rows = is_transposed ? columns : rows;
        const uint32_t c0 = 32 / sizeof(T);
        return is_fractal ? c / c0 * ((stored_rows + 15) / 16 * 16) * c0 + r * c0 + c % c0 : r * (is_transposed ? rows : columns) + c;
    }
    double at(uint32_t row, uint32_t column) const { return number(memory[index(row, column)]); }
};

// A tiling of one core.
TCubeTiling tiling_of(int m, int n, int k, int base_m, int base_n, int order = 0)
{
    TCubeTiling tiling;
    tiling.usedCoreNum = 1;
    tiling.M = tiling.singleCoreM = m;
    tiling.N = tiling.singleCoreN = n;
    tiling.Ka = tiling.Kb = tiling.singleCoreK = k;
    tiling.baseM = base_m;
    tiling.baseN = base_n;
    tiling.baseK = 32;
    tiling.iterateOrder = order;
    return tiling;
}

template <typename T> GlobalTensor<T> global(std::vector<T>& values)
{
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(values.data(), values.size());
    return tensor;
}

template <typename T, typename C, CubeFormat a_format, CubeFormat b_format> void check_product(bool a_transposed, bool b_transposed, int order)
{
    const uint32_t m = 37, n = 70, k = 45;
    Matrix<T> a(m, k, a_transposed, a_format == CubeFormat::NZ, 1), b(k, n, b_transposed, b_format == CubeFormat::NZ, 2);
    std::vector<C> bias = small_integers<C>(n, 3), all(m * n, C(-99)), parts(m * n, C(-99)), wanted(m * n);
    const std::string said = check::run([&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
        TPipe pipe;
        Matmul<MatmulType<TPosition::GM, a_format, T, true>, MatmulType<TPosition::GM, b_format, T, true>, MatmulType<TPosition::GM, CubeFormat::ND, C>,
               MatmulType<TPosition::GM, CubeFormat::ND, C>>
            mm;
        const TCubeTiling tiling = tiling_of(m, n, k, 16, 32, order);
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
        mm.SetTensorA(global(a.memory), a_transposed);
        mm.SetTensorB(global(b.memory), b_transposed);
        mm.SetBias(global(bias));
        mm.IterateAll(global(all));
        int blocks = 0;
        while (mm.Iterate()) {
            mm.GetTensorC(global(parts));
            blocks++;
        }
        EXPECT(blocks == 9);
        mm.End();
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            double sum = number(bias[column]);
            for (uint32_t at = 0; at < k; at++) sum += a.at(row, at) * b.at(at, column);
            wanted[row * n + column] = static_cast<C>(static_cast<float>(sum));
        }
    EXPECT_EQUAL(all, wanted);
    EXPECT_EQUAL(parts, wanted);
}

template <typename T, typename C> void check_products()
{
    for (bool a_transposed : {false, true})
        for (bool b_transposed : {false, true}) {
            check_product<T, C, CubeFormat::ND, CubeFormat::ND>(a_transposed, b_transposed, 0);
            check_product<T, C, CubeFormat::NZ, CubeFormat::ND>(a_transposed, b_transposed, 1);
            check_product<T, C, CubeFormat::ND, CubeFormat::NZ>(a_transposed, b_transposed, 0);
        }
}

using A = MatmulType<TPosition::GM, CubeFormat::ND, half>;
using F = MatmulType<TPosition::GM, CubeFormat::ND, float>;

} // namespace

TEST(products_of_all_types_formats_and_transpositions)
{
    check_products<half, float>();
    check_products<half, half>();
    check_products<bfloat16_t, float>();
    check_products<float, float>();
    check_products<int8_t, int32_t>();
}

TEST(products_in_batches)
{
    const uint32_t m = 20, n = 35, k = 24, products = 4;
    for (uint32_t batches_b : {4u, 2u, 1u}) {
        std::vector<half> a, b;
        for (half value : small_integers<half>(products * m * k, 8)) a.push_back(value);
        for (half value : small_integers<half>(batches_b * k * n, 9)) b.push_back(value);
        std::vector<float> c(products * m * n, -1), spread(products * (m * n + 16), -1), wanted(products * m * n), wanted_spread(products * (m * n + 16), -1);
        const std::string said = check::run([&] {
            KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
            TPipe pipe;
            using N = MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::NORMAL>;
            using O = MatmulType<TPosition::GM, CubeFormat::ND, float, false, LayoutMode::NORMAL>;
            Matmul<N, N, O, O> mm;
            const TCubeTiling tiling = tiling_of(m, n, k, 16, 32);
            REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
            mm.SetTensorA(global(a));
            mm.SetTensorB(global(b));
            mm.IterateBatch(global(c), products, batches_b, false);
            mm.SetBatchNum(products, static_cast<int32_t>(batches_b));
            mm.IterateBatch(global(spread), false, 0, false, 0, 0, m * n + 16);
            mm.WaitIterateBatch();
            mm.End();
        });
        EXPECT(said.empty());
        for (uint32_t product = 0; product < products; product++)
            for (uint32_t row = 0; row < m; row++)
                for (uint32_t column = 0; column < n; column++) {
                    const half* left = a.data() + product * m * k;
                    const half* right = b.data() + product * batches_b / products * k * n;
                    double sum = 0;
                    for (uint32_t at = 0; at < k; at++) sum += double(left[row * k + at]) * double(right[at * n + column]);
                    wanted[product * m * n + row * n + column] = wanted_spread[product * (m * n + 16) + row * n + column] = static_cast<float>(sum);
                }
        EXPECT_EQUAL(c, wanted);
        EXPECT_EQUAL(spread, wanted_spread);
    }
}

TEST(parts_of_a_matrix_with_tails_and_atomic_additions)
{
    const uint32_t m = 50, n = 90, k = 40;
    Matrix<half> a(m, k, false, false, 4), b(k, n, false, false, 5);
    std::vector<float> c(m * n, 100), wanted(m * n);
    const std::string said = check::run(
        [&] {
            KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
            TPipe pipe;
            MatmulImpl<A, A, F, F, CFG_MDL> mm;
            TCubeTiling tiling = tiling_of(m, n, k, 16, 16);
            tiling.singleCoreM = 32;
            tiling.singleCoreN = 48;
            REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
            const uint32_t block = static_cast<uint32_t>(GetBlockIdx()), row = block % 2 * 32, column = block / 2 * 48;
            mm.SetTail(static_cast<int>(std::min(32u, m - row)), static_cast<int>(std::min(48u, n - column)));
            mm.SetTensorA(global(a.memory)[row * k]);
            mm.SetTensorB(global(b.memory)[column]);
            mm.IterateAll<false>(global(c)[row * n + column], 1);
            mm.WaitIterateAll();
            // The first half of K again.
            mm.SetSingleShape(static_cast<int>(std::min(32u, m - row)), static_cast<int>(std::min(48u, n - column)), k / 2);
            mm.IterateAll(global(c)[row * n + column], 1);
        },
        // Four vector cores: a block of a 310P has one.
        JUMAR_ASCENDC_CHIP == 2002 ? 4 : 2);
    EXPECT(said.empty());
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            double sum = 100;
            for (uint32_t at = 0; at < k; at++) sum += a.at(row, at) * b.at(at, column) * (at < k / 2 ? 2 : 1);
            wanted[row * n + column] = static_cast<float>(sum);
        }
    EXPECT_EQUAL(c, wanted);
}

TEST(results_in_ub_and_in_fractals)
{
    const uint32_t m = 32, n = 64, k = 32;
    Matrix<half> a(m, k, false, false, 6), b(k, n, false, false, 7);
    std::vector<float> ub(m * n), wanted(m * n), fractals(m * n), wanted_fractals(m * n), partial(16 * 32), wanted_partial(16 * 32);
    const std::string said = check::run([&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer, left;
        pipe.InitBuffer(buffer, 16 * 32 * 4);
        pipe.InitBuffer(left, m * k * 2);
        Matmul<MatmulType<TPosition::VECOUT, CubeFormat::ND, half>, A, MatmulType<TPosition::VECIN, CubeFormat::ND, float>> mm;
        Matmul<A, A, MatmulType<TPosition::GM, CubeFormat::NZ, float>> mz;
        const TCubeTiling tiling = tiling_of(m, n, k, 16, 32);
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling, mz, &tiling);
        auto in_ub = left.Get<half>();
        std::copy(a.memory.begin(), a.memory.end(), in_ub.GetPhyAddr());
        mm.SetTensorA(in_ub);
        mm.SetTensorB(global(b.memory));
        auto block = buffer.Get<float>();
        // Blocks follow each other along M.
        for (uint32_t at = 0; mm.Iterate(); at++) {
            mm.GetTensorC(block, false, true);
            for (uint32_t row = 0; row < 16; row++)
                for (uint32_t column = 0; column < 32; column++) ub[(at % 2 * 16 + row) * n + at / 2 * 32 + column] = block.GetPhyAddr()[row * 32 + column];
        }
        mm.Iterate<false>();
        for (uint32_t at = 0; at < 2; at++) mm.GetTensorC<false>(block, false, true);
        std::copy(block.GetPhyAddr(), block.GetPhyAddr() + 16 * 32, partial.begin());
        mz.SetTensorA(global(a.memory));
        mz.SetTensorB(global(b.memory));
        mz.IterateAll(global(fractals));
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            double sum = 0;
            for (uint32_t at = 0; at < k; at++) sum += a.at(row, at) * b.at(at, column);
            wanted[row * n + column] = wanted_fractals[column / 16 * m * 16 + row * 16 + column % 16] = static_cast<float>(sum);
            if (row >= 16 && column < 32) wanted_partial[(row - 16) * 32 + column] = static_cast<float>(sum);
        }
    EXPECT_EQUAL(ub, wanted);
    EXPECT_EQUAL(fractals, wanted_fractals);
    EXPECT_EQUAL(partial, wanted_partial);
}

TEST(sums_over_several_products_and_quantised_results)
{
    const uint32_t m = 16, n = 32, k = 32;
    Matrix<int8_t> a(m, k, false, false, 8), b(k, n, false, false, 9);
    std::vector<half> scaled(m * n), wanted_scaled(m * n);
    std::vector<int8_t> bytes(m * n), wanted_bytes(m * n);
    std::vector<int32_t> sums(m * n), wanted_sums(m * n);
    std::vector<uint64_t> scales(n);
    for (uint32_t column = 0; column < n; column++) {
        const float scale = column % 2 ? 0.5f : 2.0f;
        std::memcpy(&scales[column], &scale, sizeof scale);
    }
    using B8 = MatmulType<TPosition::GM, CubeFormat::ND, int8_t>;
    const std::string said = check::run([&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
        TPipe pipe;
        Matmul<B8, B8, MatmulType<TPosition::GM, CubeFormat::ND, half>> to_half;
        Matmul<B8, B8, B8, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>> to_bytes;
        Matmul<B8, B8, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>> to_sums;
        const TCubeTiling tiling = tiling_of(m, n, k, 16, 32);
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), to_half, &tiling, to_bytes, &tiling, to_sums, &tiling);
        to_half.SetTensorA(global(a.memory));
        to_half.SetTensorB(global(b.memory));
        to_half.SetQuantVector(global(scales));
        to_half.IterateAll(global(scaled));
        to_bytes.SetTensorA(global(a.memory));
        to_bytes.SetTensorB(int8_t(1));
        to_bytes.SetQuantScalar(scales[0]);
        to_bytes.IterateAll(global(bytes));
        to_sums.SetTensorA(global(a.memory));
        to_sums.SetTensorB(global(b.memory));
        for (int round = 0; round < 3; round++) {
            to_sums.Iterate(round > 0);
            to_sums.Iterate();
        }
        to_sums.Iterate(true);
        to_sums.GetTensorC(global(sums));
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            double sum = 0, line = 0;
            for (uint32_t at = 0; at < k; at++) {
                sum += a.at(row, at) * b.at(at, column);
                line += a.at(row, at);
            }
            wanted_scaled[row * n + column] = static_cast<half>(static_cast<float>(sum * (column % 2 ? 0.5 : 2)));
            wanted_bytes[row * n + column] = static_cast<int8_t>(std::max(-128.0, std::min(127.0, line * 2)));
            wanted_sums[row * n + column] = static_cast<int32_t>(sum * 4);
        }
    EXPECT_EQUAL(scaled, wanted_scaled);
    EXPECT_EQUAL(bytes, wanted_bytes);
    EXPECT_EQUAL(sums, wanted_sums);
}

#if __NPU_ARCH__ == 2201
TEST(the_cores_that_call_an_object)
{
    Matrix<half> a(16, 16, false, false, 10), b(16, 16, false, false, 11);
    std::vector<float> c(512);
    for (bool on_cube : {false, true}) {
        int cubes = 0, vectors = 0;
        const std::string said = check::run([&] {
            TPipe pipe;
            Matmul<A, A, F> mm;
            const TCubeTiling tiling = tiling_of(16, 16, 16, 16, 16);
            if (on_cube) jumar::ascendc::MatmulRegistration<true>::run(&pipe, nullptr, mm, &tiling);
            else jumar::ascendc::MatmulRegistration<false>::run(&pipe, nullptr, mm, &tiling);
            mm.SetTensorA(global(a.memory));
            mm.SetTensorB(global(b.memory));
            mm.IterateAll(global(c)[static_cast<uint64_t>(GetSubBlockIdx()) * 256]);
            cubes += g_coreType == AIC;
            vectors += g_coreType == AIV;
        });
        EXPECT(said.empty());
        EXPECT(cubes == (on_cube ? 1 : 0) && vectors == (on_cube ? 0 : 2));
    }
}
#endif

namespace {

constexpr MatmulConfig NORMAL = GetNormalConfig(true, false, true), SEVERAL = GetMDLConfig(true), SHARED = GetIBShareNormConfig(),
                       BASIC = GetBasicConfig(32, 16, 32);

// A product with the base blocks of the tiling, or of the configuration, with a bias and without it. Returns the number of blocks.
template <const MatmulConfig& config> int configured(Matrix<half>& a, Matrix<half>& b, std::vector<float>& bias, std::vector<float>& with, std::vector<float>& without)
{
    int blocks = 0;
    const std::string said = check::run([&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
        if ASCEND_IS_AIC return;
        TPipe pipe;
        Matmul<A, A, F, F, config> mm;
        const TCubeTiling tiling = tiling_of(static_cast<int>(a.rows), static_cast<int>(b.columns), static_cast<int>(a.columns), 16, 32);
        mm.Init(&tiling, &pipe);
        mm.SetTensorA(global(a.memory));
        mm.SetTensorB(global(b.memory));
        mm.SetBias(global(bias));
        mm.IterateAll(global(with));
        mm.ClearBias();
        while (mm.Iterate()) {
            mm.GetTensorC(global(without));
            blocks++;
        }
        mm.End();
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    return blocks;
}

} // namespace

TEST(configurations_change_the_blocks_and_no_values)
{
    Matrix<half> a(37, 45, false, false, 21), b(45, 70, false, false, 22);
    std::vector<float> bias = small_integers<float>(70, 23), wanted(37 * 70), wanted_with(37 * 70);
    for (uint32_t row = 0; row < 37; row++)
        for (uint32_t column = 0; column < 70; column++) {
            double sum = 0;
            for (uint32_t at = 0; at < 45; at++) sum += a.at(row, at) * b.at(at, column);
            wanted[row * 70 + column] = static_cast<float>(sum);
            wanted_with[row * 70 + column] = static_cast<float>(sum + bias[column]);
        }
    const auto run = [&](auto function) {
        std::vector<float> with(37 * 70, -99), without(37 * 70, -99);
        const int blocks = function(a, b, bias, with, without);
        EXPECT_EQUAL(with, wanted_with);
        EXPECT_EQUAL(without, wanted);
        return blocks;
    };
    // Blocks of 16 x 32 of the tiling: 3 x 3 of them; of 32 x 16: 2 x 5.
    EXPECT(run(&configured<NORMAL>) == 9 && run(&configured<SEVERAL>) == 9 && run(&configured<SHARED>) == 9);
    EXPECT(run(&configured<BASIC>) == 10);
    EXPECT(NORMAL.doNorm && NORMAL.intrinsicsCheck && NORMAL.enVecND2NZ && !SEVERAL.doNorm && SEVERAL.doMultiDataLoad && SEVERAL.intrinsicsCheck);
    EXPECT(SHARED.doIBShareNorm && SHARED.enUnitFlag && BASIC.doBasicBlock && BASIC.basicM == 32 && BASIC.basicN == 16 && BASIC.basicK == 32);
}

TEST(mistakes_with_objects_are_named)
{
    Matrix<half> a(16, 16, false, false, 12), b(16, 16, false, false, 13);
    std::vector<float> c(256), small(255);
    auto product = [&](bool has_a, int k, std::vector<float>& out) {
        TPipe pipe;
        Matmul<A, A, F> mm;
        const TCubeTiling tiling = tiling_of(16, 16, k, 16, 16);
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
        if (has_a) mm.SetTensorA(global(a.memory));
        mm.SetTensorB(global(b.memory));
        mm.IterateAll(global(out));
    };
    EXPECT_FAILS(([&] { product(false, 16, c); }), "IterateAll: the matrix A was not set");
    EXPECT_FAILS(([&] { product(true, 17, c); }), "the read of A of elements 0 to 271 leaves a GlobalTensor that has 256 elements there");
    EXPECT_FAILS(([&] { product(true, 16, small); }), "IterateAll of elements 240 to 255 leaves a GlobalTensor that has 255 elements there");
}

TEST(tilings_cover_the_product_and_fit_into_the_memories)
{
    using namespace matmul_tiling;
    for (int m : {1, 16, 100, 1024, 4096})
        for (int n : {1, 48, 640, 2048})
            for (int k : {16, 256, 5000})
                for (int cores : {1, 2, 20}) {
                    MultiCoreMatmulTiling cut(*platform_ascendc::PlatformAscendCManager::GetInstance("Ascend910B3"));
                    cut.SetDim(cores);
                    cut.SetAType(matmul_tiling::TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
                    cut.SetBType(matmul_tiling::TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
                    cut.SetCType(matmul_tiling::TPosition::GM, CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT);
                    cut.SetOrgShape(m, n, k);
                    cut.SetShape(m, n, k);
                    cut.EnableBias(true);
                    cut.SetBufferSpace(-1, -1, -1);
                    optiling::TCubeTiling host;
                    EXPECT(cut.GetTiling(host) == 0);
                    TCubeTiling tiling;
                    EXPECT(host.GetDataSize() == sizeof tiling);
                    host.SaveToBuffer(&tiling, sizeof tiling);
                    EXPECT(tiling.M == m && tiling.N == n && tiling.Ka == k && tiling.Kb == k && tiling.isBias == 1);
                    const int rows = (m + tiling.singleCoreM - 1) / tiling.singleCoreM, columns = (n + tiling.singleCoreN - 1) / tiling.singleCoreN;
                    EXPECT(rows * columns == tiling.usedCoreNum && tiling.usedCoreNum <= cores && tiling.usedCoreNum >= 1);
                    EXPECT(tiling.singleCoreK == k && host.get_baseM() == tiling.baseM);
                    EXPECT(tiling.baseM > 0 && tiling.baseM % 16 == 0 && tiling.baseN % 16 == 0 && tiling.baseK % 16 == 0);
                    EXPECT(tiling.baseM * tiling.baseN * 4 <= 128 * 1024);
                    EXPECT(tiling.baseM * tiling.baseK * 4 <= 64 * 1024 && tiling.baseN * tiling.baseK * 4 <= 64 * 1024);
                    EXPECT((tiling.depthA1 * tiling.baseM + tiling.depthB1 * tiling.baseN) * tiling.baseK * 2 <= 512 * 1024);
                }
    // A product that is large enough uses every core.
    MultiCoreMatmulTiling cut;
    TCubeTiling tiling;
    cut.SetDim(20);
    cut.SetShape(1024, 2560, 512);
    EXPECT(cut.GetTiling(tiling) == 0 && tiling.usedCoreNum == 20);

    MatmulApiTiling one(*platform_ascendc::PlatformAscendCManager::GetInstance());
    one.SetShape(128, 128, 256);
    one.SetFixSplit(64, 32, -1);
    one.SetTraverse(MatrixTraverse::FIRSTN);
    EXPECT(one.GetTiling(tiling) == 0 && tiling.baseM == 64 && tiling.baseN == 32 && tiling.iterateOrder == 1 && tiling.usedCoreNum == 1);
    one.SetFixSplit(512, 256, -1);
    EXPECT(one.GetTiling(tiling) == -1);
    EXPECT(MatmulApiTiling().GetTiling(tiling) == -1);
    EXPECT(platform_ascendc::PlatformAscendCManager::GetInstance("Ascend950") == nullptr);
}

int main()
{
    return check::finish("matmul");
}
