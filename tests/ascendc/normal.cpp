// Normalisation in parts, gradients, padded rows, layouts and formats against loops that follow the documents.
#define ASCENDC_TIME_STAMP_ON
#include "check.h"

#include "tiling/tiling_api.h"

#include <unistd.h>

namespace {

struct Dims {
    std::vector<int64_t> dims;
    size_t GetDimNum() const { return dims.size(); }
    int64_t GetDim(size_t at) const { return dims[at]; }
};

template <typename T> std::vector<T> numbers(size_t count, uint32_t seed, float most = 4)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-most, most);
    std::vector<T> all(count);
    for (T& value : all) value = static_cast<T>(any(random));
    return all;
}

template <typename T> double number(const std::vector<T>& values, size_t at)
{
    return static_cast<double>(static_cast<float>(values[at]));
}

template <typename T> void near(const std::vector<T>& got, const std::vector<double>& wanted, int line)
{
    if (got.size() < wanted.size()) return check::report(__FILE__, line, "sizes differ");
    for (size_t at = 0; at < wanted.size(); at++) {
        const double limit = (sizeof(T) == 2 ? 1e-3 : 1e-6) * (std::fabs(wanted[at]) + 1e-2);
        if (!(std::fabs(number(got, at) - wanted[at]) <= limit))
            return check::report(__FILE__, line, "element " + std::to_string(at) + " is " + std::to_string(number(got, at)) + ", wanted " + std::to_string(wanted[at]));
    }
}

constexpr NormalizeConfig PLAIN{ReducePattern::AR, -1, true, true, false};
constexpr WelfordUpdateConfig IN_PLACE{true};
constexpr TransDataConfig TO_5D{DataFormat::NCDHW, DataFormat::NDC1HWC0}, FROM_5D{DataFormat::NDC1HWC0, DataFormat::NCDHW};
constexpr TransDataConfig TO_Z{DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D}, FROM_Z{DataFormat::FRACTAL_Z_3D, DataFormat::NCDHW};

template <typename T> void check_normalize(uint32_t rows, uint32_t columns, uint32_t stride)
{
    const auto in = numbers<T>(rows * stride, 1), gamma = numbers<T>(stride, 2), beta = numbers<T>(stride, 3);
    const auto means = numbers<float>(8, 4);
    auto variances = numbers<float>(8, 5);
    for (float& one : variances) one = std::fabs(one) + 0.25f;
    std::vector<T> got, bare;
    std::vector<float> factors;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, in), y = check::put(pipe, in), z = check::put(pipe, in), g = check::put(pipe, gamma), b = check::put(pipe, beta);
        auto mean = check::put(pipe, means), variance = check::put(pipe, variances), rstd = check::put(pipe, std::vector<float>(8));
        auto buffer = check::put(pipe, std::vector<uint8_t>(256));
        Normalize<T, T>(y, rstd, mean, variance, x, g, b, buffer, 1e-3f, NormalizePara(rows, columns, stride));
        factors = check::get(rstd, rows);
        Normalize<T, T, false, PLAIN>(z, rstd, mean, variance, x, g, b, 1e-3f, NormalizePara{rows, columns, stride});
        got = check::get(y, in.size());
        bare = check::get(z, in.size());
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    std::vector<double> wanted, wanted_bare, wanted_factors;
    for (uint32_t row = 0; row < rows; row++) {
        wanted_factors.push_back(1 / std::sqrt(number(variances, row) + static_cast<double>(1e-3f)));
        for (uint32_t at = 0; at < stride; at++) {
            const double value = number(in, row * stride + at), normal = (value - number(means, row)) * wanted_factors.back();
            wanted_bare.push_back(at < columns ? normal : value);
            wanted.push_back(at < columns ? normal * number(gamma, at) + number(beta, at) : value);
        }
    }
    near(got, wanted, __LINE__);
    near(bare, wanted_bare, __LINE__);
    near(factors, wanted_factors, __LINE__);
}

template <typename T> void check_gradients(uint32_t rows, uint32_t columns)
{
    const auto dys = numbers<T>(rows * columns, 11), xs = numbers<T>(rows * columns, 12), gammas = numbers<T>(columns, 13), means = numbers<T>(16, 14, 0.5f);
    auto variances = numbers<T>(16, 15);
    for (T& one : variances) one = static_cast<T>(std::fabs(static_cast<float>(one)) + 0.5f);
    std::vector<T> got_x, got_normal, got_gamma, got_beta;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto dy = check::put(pipe, dys), x = check::put(pipe, xs), gamma = check::put(pipe, gammas), mean = check::put(pipe, means);
        auto variance = check::put(pipe, variances), pd_x = check::put(pipe, xs), normal = check::put(pipe, xs);
        auto pd_gamma = check::put(pipe, gammas), pd_beta = check::put(pipe, gammas);
        auto buffer = check::put(pipe, std::vector<uint8_t>(64));
        LayerNormGradTiling tiling;
        optiling::LayerNormGradBetaTiling host;
        LayerNormGradBetaTiling beta_tiling;
        const Dims dims{{1, rows, columns, columns}};
        GetLayerNormGradNDTilingInfo(dims, 1024, sizeof(T), false, tiling);
        GetLayerNormGradBetaNDTilingInfo(dims, 1024, sizeof(T), false, host);
        host.SaveToBuffer(&beta_tiling, sizeof beta_tiling);
        LayerNormGrad<T>(pd_x, normal, dy, x, variance, mean, gamma, buffer, static_cast<T>(0.25f), tiling, {DataFormat::ND});
        LayerNormGradBeta<T>(pd_gamma, pd_beta, normal, dy, buffer, beta_tiling);
        got_x = check::get(pd_x, xs.size());
        got_normal = check::get(normal, xs.size());
        got_gamma = check::get(pd_gamma, columns);
        got_beta = check::get(pd_beta, columns);
        // The results may overwrite the operands.
        LayerNormGrad<T>(x, dy, dy, x, variance, mean, gamma, static_cast<T>(0.25f), tiling);
        EXPECT_EQUAL(check::get(x, xs.size()), got_x);
        EXPECT_EQUAL(check::get(dy, xs.size()), got_normal);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    std::vector<double> x, normal, gamma(columns), beta(columns);
    for (uint32_t row = 0; row < rows; row++) {
        const double spread = number(variances, row) + 0.25, mean = number(means, row);
        double pd_var = 0, pd_mean = 0, distances = 0;
        for (uint32_t at = 0; at < columns; at++) {
            const double pd_xl = number(dys, row * columns + at) * number(gammas, at), distance = number(xs, row * columns + at) - mean;
            pd_var += -0.5 * pd_xl * distance * std::pow(spread, -1.5);
            pd_mean += -1.0 * pd_xl * std::pow(spread, -0.5);
            distances += -2.0 * distance;
        }
        pd_mean += pd_var * (1.0 / columns) * distances;
        for (uint32_t at = 0; at < columns; at++) {
            const double dy = number(dys, row * columns + at), distance = number(xs, row * columns + at) - mean;
            x.push_back(dy * number(gammas, at) * std::pow(spread, -0.5) + pd_var * (2.0 / columns) * distance + pd_mean * (1.0 / columns));
            normal.push_back(distance * std::pow(spread, -0.5));
            gamma[at] += dy * number(got_normal, row * columns + at);
            beta[at] += dy;
        }
    }
    near(got_x, x, __LINE__);
    near(got_normal, normal, __LINE__);
    near(got_gamma, gamma, __LINE__);
    near(got_beta, beta, __LINE__);
}

} // namespace

TEST(rows_with_known_statistics_are_normalised)
{
    check_normalize<float>(5, 21, 24);
    check_normalize<half>(3, 32, 32);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     Normalize<float, float>(tensor, tensor, tensor, tensor, tensor, tensor, tensor, 1e-3f, NormalizePara(2, 7, 7));
                 }),
                 "Normalize: 2 rows have 7 elements of 7");
}

TEST(statistics_in_parts_equal_those_at_once)
{
    constexpr uint32_t length = 16, parts = 5, tail = 9;
    // The last part has `tail` elements.
    const auto in = numbers<half>(length * parts, 21);
    float got_mean = 0, got_variance = 0, counted_mean = 0, counted_variance = 0;
    std::vector<float> kept;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, std::vector<half>(length));
        LocalTensor<float> mean[2], spread[2];
        for (int side = 0; side < 2; side++) {
            mean[side] = check::put(pipe, std::vector<float>(length, 0));
            spread[side] = check::put(pipe, std::vector<float>(length, 0));
        }
        auto result = check::put(pipe, std::vector<float>(8)), variance = check::put(pipe, std::vector<float>(8));
        auto buffer = check::put(pipe, std::vector<uint8_t>(64));
        for (uint32_t part = 0; part < parts; part++) {
            for (uint32_t at = 0; at < length; at++) x.SetValue(at, in[part * length + at]);
            const uint32_t from = part % 2, to = 1 - from, used = part + 1 == parts ? tail : length;
            WelfordUpdate<half, float, false, IN_PLACE>(mean[to], spread[to], mean[from], spread[from], x, buffer, {1, length, used, 1.0f / static_cast<float>(part + 1)});
        }
        const uint32_t last = parts % 2;
        constexpr uint32_t all = length * (parts - 1) + tail;
        WelfordFinalizePara para{parts, length, parts, tail, parts - 1, length - tail, 1.0f / length, 1.0f / all};
        WelfordFinalize(result, variance, mean[last], spread[last], buffer, para);
        got_mean = result.GetValue(0);
        got_variance = variance.GetValue(0);
        std::vector<int32_t> counts(length, parts - 1);
        std::fill_n(counts.begin(), tail, static_cast<int32_t>(parts));
        auto count = check::put(pipe, counts);
        WelfordFinalize<false>(result, variance, mean[last], spread[last], count, para);
        counted_mean = result.GetValue(0);
        counted_variance = variance.GetValue(0);
        // Without IN_PLACE the elements behind stay.
        mean[0].SetValue(8, 77.0f);
        WelfordUpdate<half, float>(mean[0], spread[0], mean[1], spread[1], x, {1, length, 8, 0.5f});
        kept = check::get(mean[0], 9);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    double sum = 0, squares = 0;
    constexpr uint32_t all = length * (parts - 1) + tail;
    for (uint32_t at = 0; at < all; at++) sum += number(in, at);
    for (uint32_t at = 0; at < all; at++) squares += (number(in, at) - sum / all) * (number(in, at) - sum / all);
    near(std::vector<float>{got_mean, got_variance, counted_mean, counted_variance}, {sum / all, squares / all, sum / all, squares / all}, __LINE__);
    EXPECT(kept[8] == 77.0f);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     WelfordFinalize(tensor, tensor, tensor, tensor, WelfordFinalizePara{1, 16, 1, 8, 0, 8, 0, 0});
                 }),
                 "WelfordFinalize: headCountLength is 8");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     WelfordUpdate<float, float>(tensor, tensor, tensor, tensor, tensor, {1, 16, 17, 1});
                 }),
                 "WelfordUpdate: rnLength is 1");
}

TEST(statistics_of_the_documents_example)
{
    // Means and squares 0 to 31, 4 values each, and 1 / 4096.
    std::vector<float> ramp(32), got;
    for (size_t at = 0; at < 32; at++) ramp[at] = static_cast<float>(at);
    EXPECT(check::run([&] {
               TPipe pipe;
               auto means = check::put(pipe, ramp), spreads = check::put(pipe, ramp), mean = check::put(pipe, std::vector<float>(8));
               auto variance = check::put(pipe, std::vector<float>(8));
               auto counts = check::put(pipe, std::vector<int32_t>(32, 4));
               WelfordFinalize<false>(mean, variance, means, spreads, counts, WelfordFinalizePara{128, 32, 0, 0, 0, 0, 1.0f / 32, 1.0f / 4096, 0});
               got = {mean.GetValue(0), variance.GetValue(0)};
           }).empty());
    near(got, {0.484375, 9.831062}, __LINE__);
}

TEST(gradients_of_layer_norm)
{
    check_gradients<float>(6, 24);
    check_gradients<half>(3, 16);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     LayerNormGradBeta<float>(tensor, tensor, tensor, tensor, LayerNormGradBetaTiling());
                 }),
                 "LayerNormGradBeta: the tiling has bLength 0");
}

TEST(softmax_flash_divides_by_the_sum_so_far)
{
    constexpr uint32_t rows = 3, columns = 20, stride = 24;
    const auto in = numbers<float>(rows * stride, 31), more = numbers<float>(rows * stride, 32);
    std::vector<float> first, second, factors, sums;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto a = check::put(pipe, in), b = check::put(pipe, more), factor = check::put(pipe, std::vector<float>(rows * 8));
        auto sum = check::put(pipe, std::vector<float>(rows * 8)), max = check::put(pipe, std::vector<float>(rows * 8));
        auto buffer = check::put(pipe, std::vector<uint8_t>(64));
        const SoftMaxShapeInfo shape{rows, stride, rows, columns};
        SoftMaxTiling tiling;
        SoftMaxFlashTilingFunc(Dims{{rows, stride}}, 4, GetSoftMaxFlashMinTmpSize(Dims{{rows, stride}}, 4, true, false), tiling, true);
        SoftmaxFlash<float>(a, sum, max, a, factor, sum, max, tiling, false, shape);
        SoftmaxFlash<float>(b, sum, max, b, factor, sum, max, buffer, tiling, true, shape);
        first = check::get(a, in.size());
        second = check::get(b, in.size());
        factors = check::get(factor, rows * 8);
        sums = check::get(sum, rows * 8);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    std::vector<double> wanted_first, wanted_second, wanted_sums;
    std::vector<float> rescaled;
    for (uint32_t row = 0; row < rows; row++) {
        double highest = -INFINITY, total = 0;
        for (uint32_t at = 0; at < columns; at++) highest = std::max({highest, number(in, row * stride + at), number(more, row * stride + at)});
        for (uint32_t at = 0; at < columns; at++)
            total += std::exp(number(in, row * stride + at) - highest) + std::exp(number(more, row * stride + at) - highest);
        for (uint32_t at = 0; at < columns; at++) {
            // The first part's results become those of the whole row.
            rescaled.push_back(first[row * stride + at] * factors[row * 8 + 5]);
            wanted_first.push_back(std::exp(number(in, row * stride + at) - highest) / total);
        }
        for (uint32_t at = 0; at < stride; at++)
            wanted_second.push_back(at < columns ? std::exp(number(more, row * stride + at) - highest) / total : number(more, row * stride + at));
        wanted_sums.insert(wanted_sums.end(), 8, total);
    }
    near(rescaled, wanted_first, __LINE__);
    near(second, wanted_second, __LINE__);
    near(sums, wanted_sums, __LINE__);
    EXPECT(check::run([&] {
               TPipe pipe;
               auto x = check::put(pipe, std::vector<half>(32, static_cast<half>(2.0f))), factor = check::put(pipe, std::vector<half>(32));
               auto sum = check::put(pipe, std::vector<float>(16)), max = check::put(pipe, std::vector<float>(16));
               SoftmaxFlash<half>(x, sum, max, x, factor, sum, max, SoftMaxTiling(), false, SoftMaxShapeInfo{2, 16, 2, 16});
               EXPECT(static_cast<float>(x.GetValue(20)) == 0.0625f && sum.GetValue(8) == 16.0f && max.GetValue(15) == 2.0f);
           }).empty());
}

TEST(means_of_rows_and_columns)
{
    const std::vector<float> in = {0, 4, 2, 0, -1, 2, -1, 7, 0, 1, -9, 2, 2, 2, 8, 3};
    std::vector<float> rows, columns;
    EXPECT(check::run([&] {
               TPipe pipe;
               auto src = check::put(pipe, in), dst = check::put(pipe, std::vector<float>(8));
               auto buffer = check::put(pipe, std::vector<uint8_t>(64));
               const uint32_t shape[] = {2, 8};
               ReduceMean<float, Pattern::Reduce::AR, true>(dst, src, buffer, shape, true);
               rows = check::get(dst, 2);
               ReduceMean<float, Pattern::Reduce::RA>(dst, src, shape, true);
               columns = check::get(dst, 8);
           }).empty());
    uint32_t most = 0, least = 0;
    GetReduceMeanMaxMinTmpSize(Dims{{2, 8}}, 0, ReducePattern::AR, true, false, most, least);
    EXPECT(least == 32 && most == 64);
    EXPECT_EQUAL(rows, (std::vector<float>{1.625f, 1.125f}));
    EXPECT_EQUAL(columns, (std::vector<float>{0, 2.5f, -3.5f, 1, 0.5f, 2, 3.5f, 5}));
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     const uint32_t shape[] = {2, 7};
                     ReduceMean<float, Pattern::Reduce::AR>(tensor, tensor, shape, true);
                 }),
                 "ReduceMean: the shape is 2 x 7");
}

TEST(rows_are_filled_up_and_cut)
{
    constexpr uint32_t rows = 16, width = 13;
    std::vector<half> in(rows * width), wanted, got, back;
    for (size_t at = 0; at < in.size(); at++) in[at] = static_cast<half>(static_cast<float>(at));
    std::vector<int32_t> whole(3 * 8, 5), cut;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, in), dst = check::put(pipe, std::vector<half>(rows * 16)), less = check::put(pipe, std::vector<half>(rows * 15));
        auto words = check::put(pipe, whole);
        auto buffer = check::put(pipe, std::vector<uint8_t>(64));
        PadTiling tiling;
        PadTilingFunc(Dims{{rows, width}}, Dims{{rows, width}}, 64, 2, tiling);
        PadParams pad{1, 2, 321};
        Pad(dst, src, pad, buffer, tiling);
        got = check::get(dst, rows * 16);
        UnPadTiling other;
        UnPadTilingFunc(Dims{{rows, 16}}, 64, 2, other);
        UnPadParams unpad{0, 1};
        UnPad(less, dst, unpad, buffer, other);
        back = check::get(less, rows * 15);
        optiling::PadTiling host;
        PadTilingFunc(Dims{{3, 8}}, Dims{{3, 6}}, 64, 4, host);
        host.SaveToBuffer(&tiling, sizeof tiling);
        Pad(words, words, {0, 2, -7}, tiling);
        cut = check::get(words, 24);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    std::vector<half> wanted_back;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t at = 0; at < 16; at++) {
            wanted.push_back(at == 0 || at > width ? static_cast<half>(321.0f) : in[row * width + at - 1]);
            if (at < 15) wanted_back.push_back(wanted.back());
        }
    EXPECT_EQUAL(got, wanted);
    EXPECT_EQUAL(back, wanted_back);
    for (size_t at = 0; at < whole.size(); at++)
        if (at % 8 >= 6) whole[at] = -7;
    EXPECT_EQUAL(cut, whole);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<half>(64));
                     PadTiling tiling{2, 13, 13};
                     Pad(tensor, tensor, {0, 4, 0}, tiling);
                 }),
                 "Pad: rows of 13 elements with 0 more on the left and 4 on the right have to reach 16 elements");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<half>(64));
                     UnPadTiling tiling{2, 16};
                     UnPad(tensor, tensor, {0, 16}, tiling);
                 }),
                 "UnPad: 16 of 16 elements are to be dropped");
}

TEST(layouts_give_the_index_of_a_coordinate)
{
    const AscendC::Shape<int, int, int> shape = MakeShape(10, 20, 30);
    const AscendC::Stride<int, int, int> stride = MakeStride(1, 100, 200);
    const auto layout = MakeLayout(shape, stride);
    const AscendC::Layout<AscendC::Shape<int, int, int>, AscendC::Stride<int, int, int>> same(shape, stride);
    EXPECT(AscendC::Std::get<0>(layout.GetShape()) == 10 && AscendC::Std::get<2>(same.GetStride()) == 200 && AscendC::Std::get<1>(same.layout().GetShape()) == 20);
    EXPECT(Crd2Idx(MakeCoord(1, 2, 3), MakeShape(3, 4, 5), MakeStride(20, 5, 1)) == 33);
    EXPECT(Crd2Idx(MakeCoord(11, 12), MakeShape(MakeShape(2, 4), MakeShape(3, 5)), MakeStride(MakeStride(3, 6), MakeStride(1, 24))) == 129);
    using AscendC::Std::Int;
    // The documents' examples: results of constants are constants.
    const auto nested = MakeLayout(MakeShape(MakeShape(Int<13>{}, Int<0>{}), MakeShape(Int<14>{}, Int<0>{})),
                                   MakeStride(MakeStride(Int<14>{}, Int<13 * 14>{}), MakeStride(Int<1>{}, Int<11 * 14>{})));
    const auto index = nested(MakeCoord(Int<20>{}, Int<30>{}));
    static_assert(decltype(index)::value == 590);
    const auto other = Crd2Idx(MakeCoord(Int<0>{}, Int<12>{}), MakeShape(MakeShape(Int<13>{}, Int<13>{}), MakeShape(Int<14>{}, Int<14>{})),
                               MakeStride(MakeStride(Int<15>{}, Int<15>{}), MakeStride(Int<16>{}, Int<16>{})));
    static_assert(decltype(other)::value == 192);
    EXPECT(index == 590 && other == 192);
    const TensorTrait<float> empty;
    static_assert(decltype(empty)::tPos == TPosition::GM && std::tuple_size_v<std::decay_t<decltype(empty.GetLayout().GetShape())>> == 0);
    auto trait = MakeTensorTrait<half, TPosition::VECIN>(layout);
    static_assert(std::is_same_v<decltype(trait)::LiteType, half> && decltype(trait)::tPos == TPosition::VECIN && is_tensorTrait<decltype(trait)>::value);
    EXPECT(AscendC::Std::get<1>(trait.GetLayout().GetStride()) == 100);
    trait.SetLayout(MakeLayout(shape, MakeStride(1, 7, 9)));
    EXPECT(AscendC::Std::get<1>(trait.GetLayout().GetStride()) == 7);
}

TEST(formats_with_blocks_of_channels)
{
    constexpr uint32_t n = 2, c = 20, d = 2, h = 3, w = 5, plane = 16, c1 = 2;
    std::vector<int16_t> in(n * c * d * plane), to_5d(n * d * c1 * h * w * 16, 0), to_z(d * c1 * h * w * 256, 0);
    for (size_t at = 0; at < in.size(); at++) in[at] = static_cast<int16_t>(at + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < c; j++)
            for (uint32_t k = 0; k < d; k++)
                for (uint32_t y = 0; y < h; y++)
                    for (uint32_t x = 0; x < w; x++) {
                        const int16_t value = in[((i * c + j) * d + k) * plane + y * w + x];
                        to_5d[((((i * d + k) * c1 + j / 16) * h + y) * w + x) * 16 + j % 16] = value;
                        to_z[(((((k * c1 + j / 16) * h + y) * w + x) * 1 + i / 16) * 16 + i % 16) * 16 + j % 16] = value;
                    }
    std::vector<int16_t> got_5d, got_z, back_5d, back_z;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, in), a = check::put(pipe, std::vector<int16_t>(to_5d.size())), b = check::put(pipe, std::vector<int16_t>(to_z.size()));
        auto back = check::put(pipe, std::vector<int16_t>(in.size()));
        auto buffer = check::put(pipe, std::vector<uint8_t>(64));
        AscendC::Layout plain = MakeLayout(MakeShape(n, c, d, h, w), MakeStride());
        AscendC::Layout blocks = MakeLayout(MakeShape(n, d, c1, h, w, 16), MakeStride());
        AscendC::Layout fractals = MakeLayout(MakeShape(d, c1, h, w, 1, 16, 16), MakeStride());
        TransData<TO_5D>(a, src, buffer, TransDataParams<decltype(plain), decltype(blocks)>{plain, blocks});
        TransData<TO_Z>(b, src, TransDataParams<decltype(plain), decltype(fractals)>{plain, fractals});
        got_5d = check::get(a, to_5d.size());
        got_z = check::get(b, to_z.size());
        TransData<FROM_5D>(back, a, TransDataParams<decltype(blocks), decltype(plain)>{blocks, plain});
        back_5d = check::get(back, in.size());
        for (uint32_t at = 0; at < in.size(); at++) back.SetValue(at, 0);
        TransData<FROM_Z>(back, b, TransDataParams<decltype(fractals), decltype(plain)>{fractals, plain});
        back_z = check::get(back, in.size());
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    EXPECT_EQUAL(got_5d, to_5d);
    EXPECT_EQUAL(got_z, to_z);
    // The last element of a plane is a filler.
    for (size_t at = 15; at < in.size(); at += plane) in[at] = back_5d[at] = back_z[at] = 0;
    EXPECT_EQUAL(back_5d, in);
    EXPECT_EQUAL(back_z, in);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<int16_t>(1024));
                     AscendC::Layout plain = MakeLayout(MakeShape(1, 16, 1, 4, 4), MakeStride());
                     AscendC::Layout blocks = MakeLayout(MakeShape(1, 1, 2, 4, 4, 16), MakeStride());
                     TransData<TO_5D>(tensor, tensor, TransDataParams<decltype(plain), decltype(blocks)>{plain, blocks});
                 }),
                 "TransData: dimension 2 of the shape with blocks of channels is 2, and has to be 1");
}

namespace {
// The pool of the documents' example.
class OwnPool {
public:
    OwnPool() { Init(); }
    template <class Queue> bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes)
    {
        auto handle = this->GetBufHandle(this->GetCurBufSize());
        const uint32_t address = this->GetCurAddr();
        queue.InitStartBufHandle(handle, count, bytes);
        for (uint32_t at = 0; at < count; at++) queue.InitBufHandle(this, at, handle, address + at * bytes, bytes);
        this->SetCurAddr(address + count * bytes);
        this->SetCurBufSize(static_cast<uint8_t>(this->GetCurBufSize() + count));
        return true;
    }
    template <TPosition other> bool InitBuffer(TBuf<other>& buffer, uint32_t bytes)
    {
        auto handle = this->GetBufHandle(this->GetCurBufSize());
        buffer.InitStartBufHandle(handle, 1, bytes);
        buffer.InitBufHandle(this, 0, handle, this->GetCurAddr(), bytes);
        this->SetCurAddr(this->GetCurAddr() + bytes);
        this->SetCurBufSize(static_cast<uint8_t>(this->GetCurBufSize() + 1));
        return true;
    }
    EXTERN_IMPL_BUFPOOL(OwnPool, TPosition::VECCALC, 4)
};
} // namespace

TEST(a_kernel_shares_out_a_pool_itself)
{
    std::vector<half> got;
    const std::string said = check::run([&] {
        TPipe pipe;
        OwnPool pool;
        TBuf<TPosition::VECCALC> before, buffer;
        TQue<TPosition::VECIN, 2> queue;
        pipe.InitBuffer(before, 64);
        pipe.InitBufPool(pool, 256);
        EXPECT(pool.GetCurAddr() == 64);
        pool.InitBuffer(queue, 2, 64);
        pool.InitBuffer(buffer, 128);
        EXPECT(pool.GetCurAddr() == 320 && pool.GetCurBufSize() == 3);
        auto a = queue.AllocTensor<half>(), b = queue.AllocTensor<half>(), sum = buffer.Get<half>();
        EXPECT(a.GetSize() == 32 && sum.GetSize() == 64 && b.GetPhyAddr() - a.GetPhyAddr() == 32 && sum.GetPhyAddr() - a.GetPhyAddr() == 64);
        Duplicate(a, static_cast<half>(1.0f), 32);
        Duplicate(b, static_cast<half>(2.0f), 32);
        queue.EnQue(a);
        queue.EnQue(b);
        auto c = queue.DeQue<half>(), e = queue.DeQue<half>();
        Add(sum, c, e, 32);
        got = check::get(sum, 32);
        queue.FreeTensor(c);
        queue.FreeTensor(e);
        pool.Reset();
        EXPECT(pool.GetCurAddr() == 64 && pool.GetCurBufSize() == 0);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    EXPECT_EQUAL(got, std::vector<half>(32, static_cast<half>(3.0f)));
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     OwnPool pool;
                     TQue<TPosition::VECIN, 2> queue;
                     pipe.InitBufPool(pool, 256);
                     pool.InitBuffer(queue, 3, 96);
                 }),
                 "InitBufHandle: 96 bytes at 192");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     OwnPool pool;
                     TQue<TPosition::VECIN, 2> queue;
                     pool.InitBuffer(queue, 1, 96);
                 }),
                 "InitBufHandle: the pool has no memory");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     OwnPool pool;
                     TQue<TPosition::VECIN, 2> queue;
                     pipe.InitBufPool(pool, 256);
                     queue.InitStartBufHandle(nullptr, 1, 32);
                     queue.InitBufHandle(&pool, 1, nullptr, 0, 32);
                 }),
                 "InitBufHandle: buffer 1 of a queue that has 0");
}

TEST(a_time_stamp_is_printed)
{
    std::fflush(stdout);
    const int output = dup(1);
    std::FILE* file = std::tmpfile();
    dup2(fileno(file), 1);
    EXPECT(check::run([] {
               TPipe pipe;
               PrintTimeStamp(65577);
           }).empty());
    std::fflush(stdout);
    dup2(output, 1);
    close(output);
    std::rewind(file);
    char text[256] = "";
    const bool is_read = std::fgets(text, sizeof text, file) != nullptr;
    std::fclose(file);
    unsigned long long time = 0, address = 0;
    unsigned number = 0;
    const char* from = std::strstr(text, "descId");
    EXPECT(is_read && from && std::sscanf(from, "descId is %u, rsv is 0, timeStamp is %llu, pcPtr is %llu, entry is 0.\n", &number, &time, &address) == 3);
    EXPECT(number == 65577 && time != 0 && address != 0);
}

TEST(copies_add_after_set_atomic_add)
{
    std::vector<float> target(16, 2);
    EXPECT(check::run([&] {
               TPipe pipe;
               auto src = check::put(pipe, std::vector<float>(16, 3));
               GlobalTensor<float> global;
               global.SetGlobalBuffer(target.data(), 16);
               set_atomic_add();
               DataCopy(global, src, 8);
               PipeBarrier<PIPE_ALL>();
               set_atomic_none();
               DataCopy(global[8], src, 8);
           }).empty());
    std::vector<float> wanted(16, 3);
    std::fill_n(wanted.begin(), 8, 5.0f);
    EXPECT_EQUAL(target, wanted);
}

TEST(a_vector_is_spread_over_fractals)
{
    std::vector<float> in(56), got, wanted(256 * 7, -1);
    for (size_t at = 0; at < in.size(); at++) in[at] = static_cast<float>(at);
    const std::string said = check::run([&] {
        TPipe pipe;
        TBuf<TPosition::CO1> buffer;
        pipe.InitBuffer(buffer, 256 * 7 * 4);
        auto dst = buffer.Get<float>();
        for (uint32_t at = 0; at < wanted.size(); at++) dst.SetValue(at, -1.0f);
        auto src = check::put(pipe, in);
        // Blocks of two times 16 elements with 8 elements and 1 fractal between them; the source has one block and a half.
        BroadCastVecToMM(dst, src, 1, 2, 1, 1);
        BroadCastVecToMM(dst[256 * 3], src[8], 2, 1, 1, 1);
        got = check::get(dst, wanted.size());
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    for (size_t at = 0; at < 256; at++) {
        wanted[at] = in[at % 16];
        wanted[256 + at] = in[16 + at % 16];
        wanted[256 * 3 + at] = in[8 + at % 16];
        wanted[256 * 5 + at] = in[8 + 24 + at % 16];
    }
    EXPECT_EQUAL(got, wanted);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(256));
                     BroadCastVecToMM(tensor, tensor, 1, 1, 0, 0);
                 }),
                 "BroadCastVecToMM: dst is in UB");
}

// Other parameters than startIndex and repeatTimes have no effect on LoadDataWithSparse.
TEST(a_sparse_matrix_selects_columns_of_the_left_one)
{
    const LoadData2DParams all_forms[] = {
        {0, 4, 1, 0, 0, false, 0}, {0, 4, 0, 0, 0, false, 0}, {0, 4, 3, 0, 2, false, 0}, {0, 4, 1, 5, 1, false, 1},
    };
    for (const LoadData2DParams& load : all_forms) {
        constexpr uint32_t m = 16, k = 128, n = 32;
        std::mt19937 random(77);
        // B has two elements in four at most.
        std::vector<int> sparse(k * n), left(m * k);
        for (int& value : left) value = static_cast<int>(random() % 255) - 127;
        std::vector<int8_t> dense(k / 2 * n), a(m * k);
        std::vector<uint8_t> indices(k / 2 * n / 4);
        for (uint32_t column = 0; column < n; column++)
            for (uint32_t four = 0; four < k / 4; four++) {
                const uint32_t one = random() % 3, two = one + 1 + random() % (3 - one);
                for (uint32_t side = 0; side < 2; side++) {
                    const uint32_t at = four * 2 + side, slot = side ? two : one;
                    const int value = static_cast<int>(random() % 255) - 127;
                    sparse[(four * 4 + slot) * n + column] = value;
                    const size_t element = (at / 32 * (n / 16) + column / 16) * 512 + column % 16 * 32 + at % 32;
                    dense[element] = static_cast<int8_t>(value);
                    indices[element / 4] = static_cast<uint8_t>(indices[element / 4] | (slot - side) << element % 4 * 2);
                }
            }
        for (uint32_t row = 0; row < m; row++)
            for (uint32_t at = 0; at < k; at++) a[at / 32 * 512 + row * 32 + at % 32] = static_cast<int8_t>(left[row * k + at]);
        std::vector<int32_t> got, wanted(m * n);
        bool is_done = false;
        const std::string said = check::run([&] {
            TPipe pipe;
            TBuf<TPosition::A2> a_buffer;
            TBuf<TPosition::B1> b_buffer, index_buffer;
            TBuf<TPosition::B2> filter_buffer;
            TBuf<TPosition::CO1> c_buffer;
            pipe.InitBuffer(a_buffer, m * k);
            pipe.InitBuffer(b_buffer, k / 2 * n);
            pipe.InitBuffer(index_buffer, k / 2 * n / 4);
            pipe.InitBuffer(filter_buffer, k / 2 * n);
            pipe.InitBuffer(c_buffer, m * n * 4);
            auto fm = a_buffer.Get<int8_t>(), b = b_buffer.Get<int8_t>(), filter = filter_buffer.Get<int8_t>();
            auto index = index_buffer.Get<uint8_t>();
            auto c = c_buffer.Get<int32_t>();
            std::copy(a.begin(), a.end(), fm.GetPhyAddr());
            std::copy(dense.begin(), dense.end(), b.GetPhyAddr());
            std::copy(indices.begin(), indices.end(), index.GetPhyAddr());
            LoadDataWithSparse(filter, b, index, load);
            PipeBarrier<PIPE_ALL>();
            MmadWithSparse(c, fm, filter, MmadParams(m, n, k, false, 0, false, false, false));
            got = check::get(c, m * n);
            is_done = true;
        });
        if (!said.empty()) check::report(__FILE__, __LINE__, said);
        EXPECT(is_done);
        for (uint32_t row = 0; row < m; row++)
            for (uint32_t column = 0; column < n; column++)
                for (uint32_t at = 0; at < k; at++) wanted[column / 16 * m * 16 + row * 16 + column % 16] += left[row * k + at] * sparse[at * n + column];
        EXPECT_EQUAL(got, wanted);
    }
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     TBuf<TPosition::A2> a_buffer;
                     TBuf<TPosition::B2> b_buffer;
                     TBuf<TPosition::CO1> c_buffer;
                     pipe.InitBuffer(a_buffer, 1024);
                     pipe.InitBuffer(b_buffer, 512);
                     pipe.InitBuffer(c_buffer, 1024);
                     auto c = c_buffer.Get<int32_t>();
                     MmadWithSparse(c, a_buffer.Get<int8_t>(), b_buffer.Get<int8_t>(), MmadParams(16, 16, 64, false, 0, false, false, false));
                 }),
                 "MmadWithSparse: there are no indices");
}

int main()
{
    return check::finish("normal");
}
