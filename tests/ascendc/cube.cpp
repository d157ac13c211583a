// The cube core: loads, products, results, and kernels that run on cube and vector cores. References are plain loops over matrices.
#include "check.h"

namespace {

template <typename T> std::vector<T> small_integers(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<T> all(count);
    for (T& value : all) value = static_cast<T>(static_cast<float>(static_cast<int>(random() % 17) - 8));
    return all;
}

template <typename T> double number(T value)
{
    if constexpr (jumar::ascendc::is_float<T>) return static_cast<double>(static_cast<float>(value));
    else return static_cast<double>(value);
}

// C = A * B with a and b as they lie in memory, transposed or not.
template <typename T>
std::vector<double> product(const std::vector<T>& a, const std::vector<T>& b, uint32_t m, uint32_t k, uint32_t n, bool a_transposed, bool b_transposed)
{
    std::vector<double> c(m * n);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++)
            for (uint32_t at = 0; at < k; at++)
                c[row * n + column] +=
                    number(a[a_transposed ? at * m + row : row * k + at]) * number(b[b_transposed ? column * k + at : at * n + column]);
    return c;
}

constexpr uint32_t up(uint32_t value, uint32_t by)
{
    return (value + by - 1) / by * by;
}

template <typename T> LocalTensor<T> local(TPipe& pipe, TBuf<TPosition::A1>& buffer, uint32_t elements)
{
    pipe.InitBuffer(buffer, elements * static_cast<uint32_t>(sizeof(T)));
    return buffer.Get<T>();
}

template <typename T> Nd2NzParams to_nz(uint32_t rows, uint32_t columns, uint32_t rows_in_l1)
{
    return Nd2NzParams(1, static_cast<uint16_t>(rows), columns, 0, columns, static_cast<uint16_t>(rows_in_l1), 1, 0);
}

// A product as kernels write it: ND to NZ in L1, NZ to ZZ and ZN in L0A and L0B, Mmad, Fixpipe.
template <typename T, typename C>
void multiply(std::vector<T>& a, std::vector<T>& b, std::vector<C>& c, uint32_t m, uint32_t k, uint32_t n, bool a_transposed, bool b_transposed)
{
    constexpr uint32_t c0 = 32 / sizeof(T), fractal = 512 / sizeof(T), pair = sizeof(T) == 1 ? 2 : 1;
    GlobalTensor<T> a_global, b_global;
    GlobalTensor<C> c_global;
    a_global.SetGlobalBuffer(a.data(), a.size());
    b_global.SetGlobalBuffer(b.data(), b.size());
    c_global.SetGlobalBuffer(c.data(), c.size());
    TPipe pipe;
    TQue<TPosition::A1, 1> a1;
    TQue<TPosition::B1, 1> b1;
    TQue<TPosition::A2, 1> a2;
    TQue<TPosition::B2, 1> b2;
    TQue<TPosition::CO1, 1> co1;
    const uint32_t a_rows = a_transposed ? k : m, a_columns = a_transposed ? m : k, b_rows = b_transposed ? n : k, b_columns = b_transposed ? k : n;
    const uint32_t a_rows_l1 = up(a_rows, 16 * (a_transposed ? pair : 1)), b_rows_l1 = up(b_rows, 16 * (b_transposed ? 1 : pair));
    pipe.InitBuffer(a1, 1, a_rows_l1 * up(a_columns, c0) * static_cast<uint32_t>(sizeof(T)));
    pipe.InitBuffer(b1, 1, b_rows_l1 * up(b_columns, c0) * static_cast<uint32_t>(sizeof(T)));
    pipe.InitBuffer(a2, 1, up(m, 32) * up(k, 32) * static_cast<uint32_t>(sizeof(T)));
    pipe.InitBuffer(b2, 1, up(n, 32) * up(k, 32) * static_cast<uint32_t>(sizeof(T)));
    pipe.InitBuffer(co1, 1, up(m, 16) * up(n, 32) * static_cast<uint32_t>(sizeof(C)));
    auto a_l1 = a1.template AllocTensor<T>();
    auto b_l1 = b1.template AllocTensor<T>();
    DataCopy(a_l1, a_global, to_nz<T>(a_rows, a_columns, a_rows_l1));
    DataCopy(b_l1, b_global, to_nz<T>(b_rows, b_columns, b_rows_l1));
    a1.EnQue(a_l1);
    b1.EnQue(b_l1);
    a_l1 = a1.template DeQue<T>();
    b_l1 = b1.template DeQue<T>();
    auto a_l0 = a2.template AllocTensor<T>();
    auto b_l0 = b2.template AllocTensor<T>();
    MmadParams mmad;
    mmad.m = static_cast<uint16_t>(m);
    mmad.n = static_cast<uint16_t>(n);
    mmad.k = static_cast<uint16_t>(k);
    LoadData3DParamsV2<T> unfold;
    unfold.l1W = 1;
    if (!a_transposed) {
        LoadData2DParams params;
        params.repeatTimes = static_cast<uint8_t>(up(k, c0) / c0);
        params.srcStride = static_cast<uint16_t>(a_rows_l1 / 16);
        for (uint32_t row = 0; row < up(m, 16) / 16; row++) LoadData(a_l0[row * params.repeatTimes * fractal], a_l1[row * fractal], params);
    } else if constexpr (sizeof(T) == 1) {
        LoadData2dTransposeParams params(0, static_cast<uint8_t>(up(k, 32) / 32), 1, 0, static_cast<uint16_t>(up(k, c0) / c0 - 1));
        for (uint32_t column = 0; column < up(m, 32) / 32; column++)
            LoadDataWithTranspose(a_l0[column * up(k, c0) * 32], a_l1[column * a_rows_l1 * 32], params);
    } else {
        unfold.l1H = static_cast<uint16_t>(a_rows_l1);
        unfold.channelSize = unfold.kExtension = static_cast<uint16_t>(up(m, c0));
        unfold.mExtension = static_cast<uint16_t>(a_rows_l1);
        unfold.enTranspose = true;
        LoadData(a_l0, a_l1, unfold);
        mmad.kDirectionAlign = sizeof(T) == 4;
    }
    if (b_transposed) {
        LoadData2DParams params;
        params.repeatTimes = static_cast<uint8_t>(b_rows_l1 / 16);
        params.srcStride = 1;
        for (uint32_t at = 0; at < up(k, c0) / c0; at++) LoadData(b_l0[at * b_rows_l1 * c0], b_l1[at * b_rows_l1 * c0], params);
    } else if constexpr (sizeof(T) == 1) {
        LoadData2dTransposeParams params(0, static_cast<uint8_t>(up(n, 32) / 32), static_cast<uint16_t>(up(k, 32) / 32), 1, 0);
        for (uint32_t at = 0; at < up(k, 32) / 32; at++) LoadDataWithTranspose(b_l0[at * up(n, 32) * 32], b_l1[at * 2 * fractal], params);
        mmad.n = static_cast<uint16_t>(up(n, 32));
    } else if constexpr (sizeof(T) == 2) {
        LoadData2DParams params(0, static_cast<uint8_t>(up(n, 16) / 16), static_cast<uint16_t>(up(k, 16) / 16), 0, 0, true, 0);
        for (uint32_t at = 0; at < up(k, 16) / 16; at++) LoadData(b_l0[at * up(n, 16) * 16], b_l1[at * fractal], params);
    } else {
        unfold.l1H = unfold.mExtension = static_cast<uint16_t>(b_rows_l1);
        unfold.channelSize = unfold.kExtension = static_cast<uint16_t>(up(n, c0));
        LoadData(b_l0, b_l1, unfold);
    }
    a2.EnQue(a_l0);
    b2.EnQue(b_l0);
    a1.FreeTensor(a_l1);
    b1.FreeTensor(b_l1);
    a_l0 = a2.template DeQue<T>();
    b_l0 = b2.template DeQue<T>();
    auto c_l0 = co1.template AllocTensor<C>();
    Mmad(c_l0, a_l0, b_l0, mmad);
    co1.EnQue(c_l0);
    c_l0 = co1.template DeQue<C>();
    Fixpipe(c_global, c_l0, FixpipeParamsV220(static_cast<uint16_t>(n), static_cast<uint16_t>(m), static_cast<uint16_t>(up(m, 16)), n, false));
    co1.FreeTensor(c_l0);
    a2.FreeTensor(a_l0);
    b2.FreeTensor(b_l0);
}

template <typename T, typename C> void check_products()
{
    for (bool a_transposed : {false, true})
        for (bool b_transposed : {false, true}) {
            const uint32_t m = 30, k = 70, n = 50;
            auto a = small_integers<T>(m * k, 1), b = small_integers<T>(k * n, 2);
            std::vector<C> c(m * n, C(-1)), wanted;
            EXPECT(check::run([&] { multiply(a, b, c, m, k, n, a_transposed, b_transposed); }).empty());
            for (double value : product(a, b, m, k, n, a_transposed, b_transposed)) wanted.push_back(static_cast<C>(value));
            EXPECT_EQUAL(c, wanted);
        }
}

// L0C holds values; `copy` brings them out.
template <typename U, typename Copy> std::string with_result(const std::vector<U>& fractals, Copy copy)
{
    return check::run([&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
        TPipe pipe;
        TBuf<TPosition::CO1> buffer;
        pipe.InitBuffer(buffer, static_cast<uint32_t>(fractals.size() * sizeof(U)));
        LocalTensor<U> result = buffer.Get<U>();
        std::copy(fractals.begin(), fractals.end(), result.GetPhyAddr());
        copy(pipe, result);
    });
}

// Element (row, column) of a matrix in L0C.
template <typename U> U in_fractals(const std::vector<U>& fractals, uint32_t rows, uint32_t row, uint32_t column)
{
    return fractals[column / 16 * rows * 16 + row * 16 + column % 16];
}

uint64_t scale_word(float scale, int offset)
{
    uint32_t bits;
    std::memcpy(&bits, &scale, sizeof bits);
    return bits | static_cast<uint64_t>(offset & 0x1ff) << 37 | 1ull << 46;
}

template <typename T, typename U> void check_conversion(QuantMode_t mode, bool relu)
{
    constexpr uint32_t rows = 32, columns = 32;
    std::mt19937 random(7);
    std::vector<U> fractals(rows * columns);
    for (U& value : fractals) value = static_cast<U>(static_cast<int>(random() % 4001) - 2000) / (std::is_same_v<U, float> ? U(8) : U(1));
    const bool is_vector = mode == VDEQF16 || mode == VQF322B8_PRE || mode == VREQ8;
    std::vector<uint64_t> words(columns);
    for (uint32_t column = 0; column < columns; column++) words[column] = scale_word(0.0625f * static_cast<float>(column % 4 + 1), static_cast<int>(column) - 16);
    const uint64_t word = scale_word(0.125f, 3);
    std::vector<T> got(20 * 27), wanted(20 * 27);
    const std::string said = with_result(fractals, [&](TPipe& pipe, LocalTensor<U>& result) {
        GlobalTensor<T> global;
        global.SetGlobalBuffer(got.data(), got.size());
        FixpipeParamsV220 params(27, 20, rows, 27, relu, mode, static_cast<int64_t>(word), 1, 0, 0, 0);
        TBuf<TPosition::C1> buffer;
        pipe.InitBuffer(buffer, columns * 8);
        LocalTensor<uint64_t> scales = buffer.Get<uint64_t>();
        std::copy(words.begin(), words.end(), scales.GetPhyAddr());
        if (is_vector) Fixpipe(global, result, scales, params);
        else Fixpipe(global, result, params);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    for (uint32_t row = 0; row < 20; row++)
        for (uint32_t column = 0; column < 27; column++) {
            double value = static_cast<double>(in_fractals(fractals, rows, row, column));
            if (relu && value < 0) value = 0;
            const double scale = is_vector ? 0.0625 * (column % 4 + 1) : 0.125;
            T& out = wanted[row * 27 + column];
            if (mode == NoQuant || mode == F322F16 || mode == F322BF16) out = static_cast<T>(static_cast<float>(value));
            else if (mode == DEQF16 || mode == VDEQF16) out = static_cast<T>(static_cast<float>(value * scale));
            else {
                const double shifted = std::nearbyint(value * scale) + (is_vector ? static_cast<int>(column) - 16 : 3);
                const double low = std::is_signed_v<T> ? -128 : 0, high = std::is_signed_v<T> ? 127 : 255;
                out = static_cast<T>(shifted < low ? low : shifted > high ? high : shifted);
            }
        }
    EXPECT_EQUAL(got, wanted);
}

} // namespace

TEST(products_of_all_types_and_transpositions)
{
    check_products<half, float>();
    check_products<bfloat16_t, float>();
    check_products<float, float>();
    check_products<int8_t, int32_t>();
}

TEST(a_row_times_a_matrix_reads_the_row_as_it_is)
{
    const uint32_t k = 48, n = 32;
    auto a = small_integers<half>(k, 3), b = small_integers<half>(k * n, 4);
    std::vector<float> c(n), wanted;
    const std::string said = check::run([&] {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
        TPipe pipe;
        TBuf<TPosition::A2> a2;
        TBuf<TPosition::B2> b2;
        TBuf<TPosition::CO1> co1;
        pipe.InitBuffer(a2, 512);
        pipe.InitBuffer(b2, k * n * 2);
        pipe.InitBuffer(co1, n * 16 * 4);
        auto row = a2.Get<half>();
        auto matrix = b2.Get<half>();
        for (uint32_t at = 0; at < k; at++) {
            row.GetPhyAddr()[at] = a[at];
            for (uint32_t column = 0; column < n; column++)
                matrix.GetPhyAddr()[(at / 16 * (n / 16) + column / 16) * 256 + column % 16 * 16 + at % 16] = b[at * n + column];
        }
        auto result = co1.Get<float>();
        MmadParams params(1, n, k, 0, false, true);
        Mmad(result, row, matrix, params);
        params.cmatrixInitVal = false;
        Mmad(result, row, matrix, params);
        for (uint32_t column = 0; column < n; column++) c[column] = result.GetPhyAddr()[column / 16 * 256 + column % 16];
    });
    EXPECT(said.empty());
    for (double value : product(a, b, 1, k, n, false, false)) wanted.push_back(static_cast<float>(2 * value));
    EXPECT_EQUAL(c, wanted);
}

TEST(a_bias_comes_from_the_bias_table_or_from_l0c)
{
    constexpr uint32_t m = 16, k = 16, n = 32;
    std::vector<float> table(m * n), matrix(m * n), wanted_table(m * n), wanted_matrix(m * n);
    const std::string said = check::run([&] {
        TPipe pipe;
        TBuf<TPosition::A2> a2;
        TBuf<TPosition::B2> b2;
        TBuf<TPosition::CO1> co1, start;
        TBuf<TPosition::C1> c1;
        TBuf<TPosition::C2> c2;
        pipe.InitBuffer(a2, 512);
        pipe.InitBuffer(b2, 1024);
        pipe.InitBuffer(co1, m * n * 4);
        pipe.InitBuffer(start, m * n * 4);
        pipe.InitBuffer(c1, n * 2);
        pipe.InitBuffer(c2, n * 4);
        auto ones = a2.Get<half>();
        auto twos = b2.Get<half>();
        InitConstValue(ones, {1, 1, 0, half(1)});
        Fill(twos, {2, 1, 0, half(2)});
        auto row = c1.Get<half>();
        for (uint32_t at = 0; at < n; at++) row.GetPhyAddr()[at] = static_cast<half>(static_cast<float>(at));
        auto bias = c2.Get<float>();
        DataCopy(bias, row, DataCopyParams(1, n * 4 / 64, 0, 0));
        auto result = co1.Get<float>(), initial = start.Get<float>();
        for (uint32_t at = 0; at < m * n; at++) initial.GetPhyAddr()[at] = static_cast<float>(at);
        SetFlag<HardEvent::MTE1_M>(0);
        WaitFlag<HardEvent::MTE1_M>(0);
        const MmadParams params(m, n, k, 0, false, false);
        Mmad(result, ones, twos, bias, params);
        for (uint32_t at = 0; at < m * n; at++) table[at] = result.GetPhyAddr()[at];
        Mmad(result, ones, twos, initial, params);
        for (uint32_t at = 0; at < m * n; at++) matrix[at] = result.GetPhyAddr()[at];
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            const uint32_t at = column / 16 * m * 16 + row * 16 + column % 16;
            wanted_table[at] = 2 * k + static_cast<float>(column);
            wanted_matrix[at] = 2 * k + static_cast<float>(at);
        }
    EXPECT_EQUAL(table, wanted_table);
    EXPECT_EQUAL(matrix, wanted_matrix);
}

TEST(a_3d_load_unfolds_a_convolution)
{
    constexpr uint32_t height = 7, width = 6, channels = 32, c0 = 16, filter_h = 3, filter_w = 2, stride_h = 2, stride_w = 1, dilation = 2;
    constexpr uint32_t left = 1, right = 2, top = 2, bottom = 1;
    constexpr uint32_t out_h = (height + top + bottom - (filter_h - 1) * dilation - 1) / stride_h + 1;
    constexpr uint32_t out_w = (width + left + right - (filter_w - 1) * dilation - 1) / stride_w + 1;
    constexpr uint32_t k = channels * filter_h * filter_w, k_begin = 16, k_count = k - 32, m_begin = 16, m_count = out_h * out_w - 16;
    auto map = small_integers<half>(channels * height * width, 9);
    std::vector<half> got(up(m_count, 16) * k_count), wanted(got.size(), half(0));
    const std::string said = check::run([&] {
        TPipe pipe;
        TBuf<TPosition::A1> a1;
        TBuf<TPosition::A2> a2;
        auto source = local<half>(pipe, a1, channels * height * width);
        std::copy(map.begin(), map.end(), source.GetPhyAddr());
        pipe.InitBuffer(a2, static_cast<uint32_t>(got.size() * 2));
        auto target = a2.Get<half>();
        const uint8_t pads[4] = {left, right, top, bottom};
        LoadData(target, source,
                 LoadData3DParamsV2<half>(pads, height, width, channels, k_count, m_count, k_begin, m_begin, stride_w, stride_h, filter_w, filter_h,
                                          dilation, dilation, false, false, half(5)));
        std::copy(target.GetPhyAddr(), target.GetPhyAddr() + got.size(), got.begin());
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < m_count; row++)
        for (uint32_t column = 0; column < k_count; column++) {
            const uint32_t position = m_begin + row, tap = k_begin + column;
            const uint32_t c = tap / (filter_h * filter_w * c0) * c0 + tap % c0, fy = tap / c0 / filter_w % filter_h, fx = tap / c0 % filter_w;
            const int y = static_cast<int>(position / out_w * stride_h + fy * dilation) - static_cast<int>(top);
            const int x = static_cast<int>(position % out_w * stride_w + fx * dilation) - static_cast<int>(left);
            half value = half(5);
            if (y >= 0 && y < static_cast<int>(height) && x >= 0 && x < static_cast<int>(width))
                value = map[((c / c0 * height + static_cast<uint32_t>(y)) * width + static_cast<uint32_t>(x)) * c0 + c % c0];
            if (position >= out_h * out_w) value = half(0);
            wanted[(row / 16 * (k_count / 16) + column / 16) * 256 + row % 16 * 16 + column % 16] = value;
        }
    EXPECT_EQUAL(got, wanted);
}

TEST(squares_of_floats_are_transposed)
{
    std::vector<float> got(1024), wanted(1024);
    const std::string said = check::run([&] {
        TPipe pipe;
        TBuf<TPosition::A1> b1;
        TBuf<TPosition::B2> b2;
        auto source = local<float>(pipe, b1, 1024);
        for (uint32_t at = 0; at < 1024; at++) source.GetPhyAddr()[at] = static_cast<float>(at);
        pipe.InitBuffer(b2, 4096);
        auto target = b2.Get<float>();
        // 16 rows of K and 64 columns of N: four squares, whose halves are rows of fractals of L0B.
        LoadDataWithTranspose(target, source, LoadData2dTransposeParams(0, 4, 1, 0, 3));
        std::copy(target.GetPhyAddr(), target.GetPhyAddr() + 1024, got.begin());
    });
    EXPECT(said.empty());
    for (uint32_t k = 0; k < 16; k++)
        for (uint32_t n = 0; n < 64; n++) wanted[(k / 8 * 4 + n / 16) * 128 + n % 16 * 8 + k % 8] = static_cast<float>(n / 8 * 128 + k * 8 + n % 8);
    EXPECT_EQUAL(got, wanted);
}

TEST(fixpipe_converts_in_each_mode)
{
    for (bool relu : {false, true}) {
        check_conversion<float, float>(NoQuant, relu);
        check_conversion<int32_t, int32_t>(NoQuant, relu);
        check_conversion<half, float>(F322F16, relu);
        check_conversion<bfloat16_t, float>(F322BF16, relu);
        check_conversion<half, int32_t>(DEQF16, relu);
        check_conversion<half, int32_t>(VDEQF16, relu);
        check_conversion<int8_t, float>(QF322B8_PRE, relu);
        check_conversion<uint8_t, float>(VQF322B8_PRE, relu);
        check_conversion<uint8_t, int32_t>(REQ8, relu);
        check_conversion<int8_t, int32_t>(VREQ8, relu);
    }
}

TEST(fixpipe_writes_fractals_and_several_matrices)
{
    std::vector<float> fractals(2 * 32 * 32);
    for (size_t at = 0; at < fractals.size(); at++) fractals[at] = static_cast<float>(at % 1999);
    std::vector<float> split(32 * 32), wanted_split(32 * 32), matrices(2 * 16 * 40, -1), wanted_matrices(2 * 16 * 40, -1);
    std::vector<int8_t> bytes(32 * 32), wanted_bytes(32 * 32);
    const std::string said = with_result(fractals, [&](TPipe&, LocalTensor<float>& result) {
        GlobalTensor<float> to_split, to_matrices;
        to_split.SetGlobalBuffer(split.data(), split.size());
        FixpipeParamsV220 params(32, 32, 32, 32, false, NoQuant, 0, 1, 0, 0, 0, true);
        Fixpipe<float, float, CFG_NZ>(to_split, result, params);
        to_matrices.SetGlobalBuffer(matrices.data(), matrices.size());
        Fixpipe(to_matrices, result, FixpipeParamsV220(32, 16, 32, 40, false, NoQuant, 0, 2, 4, 640, 0));
        GlobalTensor<int8_t> to_bytes;
        to_bytes.SetGlobalBuffer(bytes.data(), bytes.size());
        Fixpipe<int8_t, float, CFG_NZ>(to_bytes, result, FixpipeParamsV220(32, 32, 32, 32, false, QF322B8_PRE, static_cast<int64_t>(scale_word(0.0625f, 0)), 1, 0, 0, 0));
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t column = 0; column < 32; column++) {
            const float value = in_fractals(fractals, 32, row, column);
            wanted_split[column / 8 * 256 + row * 8 + column % 8] = value;
            const float scaled = std::nearbyint(value * 0.0625f);
            wanted_bytes[row * 32 + column] = static_cast<int8_t>(scaled > 127 ? 127 : scaled);
            for (uint32_t matrix = 0; matrix < 2 && row < 16; matrix++)
                wanted_matrices[matrix * 640 + row * 40 + column] = fractals[matrix * 1024 + column / 16 * 512 + row * 16 + column % 16];
        }
    EXPECT_EQUAL(split, wanted_split);
    EXPECT_EQUAL(matrices, wanted_matrices);
    EXPECT_EQUAL(bytes, wanted_bytes);
}

TEST(fractals_of_ub_become_rows)
{
    std::vector<half> got(20 * 30), wanted(20 * 30);
    const std::string said = check::run([&] {
        TPipe pipe;
        std::vector<half> values(32 * 32);
        for (uint32_t at = 0; at < 1024; at++) values[at] = static_cast<half>(static_cast<float>(at));
        auto source = check::put(pipe, values);
        GlobalTensor<half> global;
        global.SetGlobalBuffer(got.data(), got.size());
        DataCopy(global, source, Nz2NdParamsFull(1, 20, 30, 1, 32, 30, 1));
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < 20; row++)
        for (uint32_t column = 0; column < 30; column++)
            wanted[row * 30 + column] = static_cast<half>(static_cast<float>(column / 16 * 512 + row * 16 + column % 16));
    EXPECT_EQUAL(got, wanted);
}

TEST(copies_from_l0c_take_scales_and_matrices_from_registers)
{
    std::vector<int32_t> fractals(2 * 32 * 32);
    for (size_t at = 0; at < fractals.size(); at++) fractals[at] = static_cast<int32_t>(at % 1999) - 1000;
    std::vector<uint64_t> words(32);
    for (uint32_t column = 0; column < 32; column++) words[column] = scale_word(0.25f * static_cast<float>(column % 3 + 1), 0);
    std::vector<half> scaled(20 * 27), by_column(20 * 27), wanted_scaled(20 * 27), wanted_by_column(20 * 27);
    std::vector<int32_t> matrices(2 * 16 * 40, -1), wanted_matrices(2 * 16 * 40, -1), columns(32 * 32), wanted_columns(32 * 32);
    const std::string said = with_result(fractals, [&](TPipe& pipe, LocalTensor<int32_t>& result) {
        GlobalTensor<half> to;
        GlobalTensor<int32_t> same;
        DataCopyCO12DstParams params(27, 20, 27, 32, DEQF16, 1, false, true);
        SetFixpipeNz2ndFlag(1, 0, 0);
        SetFixpipePreQuantFlag(scale_word(0.5f, 0));
        to.SetGlobalBuffer(scaled.data(), scaled.size());
        DataCopy(to, result, params);
        TBuf<TPosition::C1> buffer;
        pipe.InitBuffer(buffer, 32 * 8);
        LocalTensor<uint64_t> scales = buffer.Get<uint64_t>();
        std::copy(words.begin(), words.end(), scales.GetPhyAddr());
        SetFixPipeConfig(scales);
        params.quantPre = VDEQF16;
        params.reluPre = 0;
        to.SetGlobalBuffer(by_column.data(), by_column.size());
        DataCopy(to, result, params);
        // Two matrices of 16 rows: 4 fractals apart in L0C, and 640 elements apart in global memory.
        SetFixpipeNz2ndFlag(2, 4, 640);
        same.SetGlobalBuffer(matrices.data(), matrices.size());
        DataCopy(same, result, DataCopyCO12DstParams(32, 16, 40, 32, NoQuant, 0, false, true));
        // Without the conversion to rows the columns of fractals stay; one is 64 units of 32 bytes behind the other.
        same.SetGlobalBuffer(columns.data(), columns.size());
        DataCopy(same, result, DataCopyCO12DstParams(32, 32, 64, 32, NoQuant, 1, false, false));
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t column = 0; column < 32; column++) {
            const int32_t value = in_fractals(fractals, 32, row, column);
            wanted_columns[column / 16 * 512 + row * 16 + column % 16] = value < 0 ? 0 : value;
            for (uint32_t matrix = 0; matrix < 2 && row < 16; matrix++)
                wanted_matrices[matrix * 640 + row * 40 + column] = fractals[matrix * 1024 + column / 16 * 512 + row * 16 + column % 16];
            if (row >= 20 || column >= 27) continue;
            wanted_scaled[row * 27 + column] = static_cast<half>(value < 0 ? 0.0f : static_cast<float>(value) * 0.5f);
            wanted_by_column[row * 27 + column] = static_cast<half>(static_cast<float>(value) * 0.25f * static_cast<float>(column % 3 + 1));
        }
    EXPECT_EQUAL(scaled, wanted_scaled);
    EXPECT_EQUAL(by_column, wanted_by_column);
    EXPECT_EQUAL(matrices, wanted_matrices);
    EXPECT_EQUAL(columns, wanted_columns);
}

static constexpr IsResetLoad3dConfig FROM_REGISTERS{false, false};

TEST(a_3d_load_takes_its_map_from_registers)
{
    // A map of 4 x 5 positions with one column of padding on the left and two rows below; a filter of one position shows it as it is.
    constexpr uint32_t height = 4, width = 5, c0 = 16, positions = (height + 2) * (width + 1);
    auto map = small_integers<half>(height * width * c0, 15);
    for (const bool is_right : {false, true}) {
        std::vector<half> got(up(positions, 16) * c0), wanted(got.size(), half(0));
        const std::string said = check::run([&] {
            TPipe pipe;
            TBuf<TPosition::A1> a1;
            TBuf<TPosition::A2> a2;
            auto source = local<half>(pipe, a1, height * width * c0);
            std::copy(map.begin(), map.end(), source.GetPhyAddr());
            pipe.InitBuffer(a2, static_cast<uint32_t>(got.size() * 2));
            auto target = a2.Get<half>();
            const uint8_t pads[4] = {1, 0, 0, 2}, others[4] = {0, 0, 0, 0};
            SetFmatrix(height, width, pads, is_right ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT);
            SetFmatrix(1, 1, others, is_right ? FmatrixMode::FMATRIX_LEFT : FmatrixMode::FMATRIX_RIGHT);
            SetLoadDataPaddingValue(half(-3));
            SetLoadDataBoundary(0);
            SetLoadDataRepeat(LoadDataRepeatParam(0, 1, 0));
            LoadData3DParamsV2<half> params;
            params.channelSize = params.kExtension = c0;
            params.mExtension = positions;
            params.fMatrixCtrl = is_right;
            LoadData<half, FROM_REGISTERS>(target, source, params);
            std::copy(target.GetPhyAddr(), target.GetPhyAddr() + got.size(), got.begin());
        });
        if (!said.empty()) check::report(__FILE__, __LINE__, said);
        for (uint32_t at = 0; at < positions; at++)
            for (uint32_t channel = 0; channel < c0; channel++) {
                const uint32_t y = at / (width + 1), x = at % (width + 1);
                wanted[at * c0 + channel] = x >= 1 && y < height ? map[(y * width + x - 1) * c0 + channel] : half(-3);
            }
        EXPECT_EQUAL(got, wanted);
    }
    EXPECT_FAILS(([] { SetLoadDataBoundary(1024); }), "SetLoadDataBoundary: a ring of 1024 bytes in L1 is not supported");
    EXPECT_FAILS(([] { SetLoadDataRepeat(LoadDataRepeatParam(1, 2, 0)); }), "SetLoadDataRepeat: 2 repeats are not supported");
}

TEST(orders_and_modes_of_products_do_not_change_small_integers)
{
    const uint32_t m = 20, k = 24, n = 40;
    auto a = small_integers<float>(m * k, 5), b = small_integers<float>(k * n, 6);
    std::vector<float> wanted;
    for (double value : product(a, b, m, k, n, false, false)) wanted.push_back(static_cast<float>(value));
    const std::function<void()> modes[] = {[] { SetHF32Mode(true); },
                                           [] {
                                               SetHF32Mode(HF32Mode::ENABLE);
                                               SetHF32TransMode(HF32TransMode::NEAREST_EVEN);
                                           },
                                           [] {
                                               SetHF32Mode(HF32Mode::DISABLE);
                                               SetHF32TransMode(false);
                                           },
                                           [] { SetMMColumnMajor(); }, [] { SetMMRowMajor(); }, [] { SetMMLayoutTransform(true); }};
    for (const auto& set_mode : modes) {
        std::vector<float> c(m * n, -1);
        EXPECT(check::run([&] {
                   set_mode();
                   multiply(a, b, c, m, k, n, false, false);
               }).empty());
        EXPECT_EQUAL(c, wanted);
    }
}

TEST(limits_and_memories_of_the_cube_core_are_checked)
{
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<TPosition::A2> a2;
                     pipe.InitBuffer(a2, 64 * 1024 + 32);
                 }),
                 "do not fit into L0A");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<TPosition::CO1> co1;
                     pipe.InitBuffer(co1, static_cast<uint32_t>(ASC_L0C_SIZE) + 32);
                 }),
                 "do not fit into L0C");
    auto product_of = [](uint16_t m, uint32_t a_offset) {
        TPipe pipe;
        TBuf<TPosition::A2> a2;
        TBuf<TPosition::B2> b2;
        TBuf<TPosition::CO1> co1;
        pipe.InitBuffer(a2, 1024);
        pipe.InitBuffer(b2, 512);
        pipe.InitBuffer(co1, 2048);
        auto a = a2.Get<half>();
        Mmad(co1.Get<float>(), a[a_offset], b2.Get<half>(), MmadParams(m, 16, 16, 0, false, true));
    };
    EXPECT_FAILS(([&] { product_of(33, 0); }), "Mmad: fm reaches bytes 0 to 1535 of its buffer in L0A, which has 1024 bytes");
    EXPECT_FAILS(([&] { product_of(16, 16); }), "has to be aligned to 512 bytes");
    EXPECT_FAILS(([&] { product_of(4096, 0); }), "can be 4095 at most");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<TPosition::A1> a1;
                     TBuf<TPosition::VECCALC> ub;
                     pipe.InitBuffer(a1, 512);
                     pipe.InitBuffer(ub, 512);
                     LoadData(ub.Get<half>(), a1.Get<half>(), LoadData2DParams(0, 1, 1, 0, 0, false, 0));
                 }),
                 "LoadData: dst is in UB, and has to be in L0A or L0B");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<TPosition::CO1> co1;
                     pipe.InitBuffer(co1, 1024);
                     half out[256];
                     GlobalTensor<half> global;
                     global.SetGlobalBuffer(out, 256);
                     Fixpipe(global, co1.Get<float>(), FixpipeParamsV220(16, 16, 16, 16, false));
                 }),
                 "Fixpipe: the mode of quantisation is 0, which does not convert float32 to float16");
}

#if __NPU_ARCH__ == 2201
namespace {

// The cube core doubles tiles that the vector cores have written, and the vector cores add one to what it wrote.
void exchange(float* shared, float* out, uint32_t rounds)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const uint32_t pair = static_cast<uint32_t>(block_idx);
    if ASCEND_IS_AIC {
        for (uint32_t round = 0; round < rounds; round++) {
            CrossCoreWaitFlag(5);
            for (uint32_t sub = 0; sub < 2; sub++) shared[pair * 2 + sub] *= 2;
            CrossCoreSetFlag<2, PIPE_FIX>(6);
        }
    }
    if ASCEND_IS_AIV {
        const uint32_t own = static_cast<uint32_t>(GetBlockIdx());
        shared[own] = static_cast<float>(own);
        for (uint32_t round = 0; round < rounds; round++) {
            CrossCoreSetFlag<2, PIPE_MTE3>(5);
            CrossCoreWaitFlag(6);
            shared[own] += 1;
        }
        ffts_cross_core_sync(PIPE_MTE3, 1 | 1 << 4 | 7 << 8);
        wait_flag_dev(7);
        // The other vector core of the block has added its last one.
        out[own] = shared[own] + 1000 * shared[own ^ 1];
    }
}

} // namespace

TEST(cube_and_vector_cores_exchange_tiles)
{
    constexpr uint32_t blocks = 3;
    std::vector<float> shared(blocks * 2), out(blocks * 2), wanted(blocks * 2);
    for (bool together : {true, false}) {
        std::fill(out.begin(), out.end(), 0.0f);
        EXPECT(check::run([&] { exchange(shared.data(), out.data(), 3); }, blocks, together).empty());
        for (uint32_t at = 0; at < blocks * 2; at++) {
            auto after = [](uint32_t own) { return static_cast<float>(own * 8 + 7); };
            wanted[at] = after(at) + 1000 * after(at ^ 1);
        }
        EXPECT_EQUAL(out, wanted);
    }
}

TEST(kinds_and_numbers_of_cores)
{
    struct Case {
        KernelMetaType type;
        int cubes, vectors;
    };
    for (Case one : {Case{KERNEL_TYPE_AIV_ONLY, 0, 4}, Case{KERNEL_TYPE_AIC_ONLY, 4, 0}, Case{KERNEL_TYPE_MIX_AIC_1_1, 4, 4},
                     Case{KERNEL_TYPE_MIX_AIC_1_2, 4, 8}, Case{KERNEL_TYPE_MIX_AIV_1_0, 0, 4}, Case{KERNEL_TYPE_MIX_AIC_1_0, 4, 0}}) {
        std::vector<int> cubes(4), vectors(8);
        auto kernel = [&] {
            jumar::ascendc::kernel_type(one.type);
            EXPECT(GetBlockNum() == 4);
            if (g_coreType == AIC) cubes[static_cast<size_t>(GetBlockIdx())]++;
            if (g_coreType == AIV) vectors[static_cast<size_t>(GetBlockIdx())]++;
            EXPECT(GetBlockIdx() == (g_coreType == AIC ? block_idx : block_idx * GetSubBlockNum() + GetSubBlockIdx()));
            SyncAll();
            if (one.vectors && one.cubes) SyncAll<false>();
        };
        EXPECT(check::run(kernel, 4, true).empty());
        for (int at = 0; at < 4; at++) EXPECT(cubes[static_cast<size_t>(at)] == (at < one.cubes));
        for (int at = 0; at < 8; at++) EXPECT(vectors[static_cast<size_t>(at)] == (at < one.vectors));
    }
}

TEST(a_kernel_type_of_a_tiling_key_wins)
{
    for (uint64_t key : {0, 7}) {
        jumar::ascendc::tiling_key = key;
        int cubes = 0;
        EXPECT(check::run([&] {
                   KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
                   KERNEL_TASK_TYPE(7, KERNEL_TYPE_AIC_ONLY);
                   cubes += g_coreType == AIC;
               }).empty());
        EXPECT(cubes == (key == 7));
    }
    jumar::ascendc::tiling_key = 0;
}

TEST(mistakes_between_cores_are_named)
{
    EXPECT_FAILS(([] {
                     KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
                     if ASCEND_IS_AIV {
                         if (GetSubBlockIdx() == 0) CrossCoreSetFlag<2, PIPE_MTE3>(1);
                     } else {
                         CrossCoreWaitFlag(1);
                     }
                 },
                  1),
                 "the cube core: cube.cpp:");
    EXPECT_FAILS(([] {
                     KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
                     if ASCEND_IS_AIC {
                         for (int at = 0; at < 16; at++) CrossCoreSetFlag<2, PIPE_FIX>(1);
                     }
                 },
                  1),
                 "flag 1 was set more than 15 times without a wait");
    EXPECT_FAILS(([] {
                     KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
                     CrossCoreSetFlag<2, PIPE_FIX>(1);
                 },
                  2, true),
                 "mode 2 needs cube and vector cores");
    EXPECT_FAILS(([] {
                     KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
                     TPipe pipe;
                     TBuf<TPosition::A2> a2;
                     pipe.InitBuffer(a2, 512);
                     if (GetSubBlockIdx() == 1) InitConstValue(a2.Get<half>(), {1, 1, 0, half(1)});
                 }),
                 "vector core 1: cube.cpp:");
}
#endif

int main()
{
    return check::finish("cube");
}
