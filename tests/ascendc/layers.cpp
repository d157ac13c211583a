// Softmax and quantisation against loops in double precision.
#include "check.h"

#include "tiling/tiling_api.h"

namespace {

struct Dims {
    std::vector<int64_t> dims;
    size_t GetDimNum() const { return dims.size(); }
    int64_t GetDim(size_t at) const { return dims[at]; }
};

template <typename T> std::vector<T> numbers(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-9, 9);
    std::vector<T> all(count);
    for (T& value : all) value = static_cast<T>(any(random));
    return all;
}

template <typename T> void near(const std::vector<T>& got, const std::vector<double>& wanted, int line)
{
    for (size_t at = 0; at < wanted.size(); at++) {
        const double value = static_cast<double>(static_cast<float>(got[at])), limit = (sizeof(T) == 2 ? 1e-3 : 2e-7) * (std::fabs(wanted[at]) + 1e-4);
        if (!(std::fabs(value - wanted[at]) <= limit))
            return check::report(__FILE__, line, "element " + std::to_string(at) + " is " + std::to_string(value) + ", wanted " + std::to_string(wanted[at]));
    }
}

// Rows of `stride` elements, of which `columns` hold values.
template <typename D, typename S> void check_softmax(uint32_t rows, uint32_t columns, uint32_t stride)
{
    const auto in = numbers<D>(rows * stride, 3);
    constexpr size_t block = 32 / sizeof(S);
    std::vector<D> got, alone, again;
    std::vector<S> sums, maxima;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, in), dst = check::put(pipe, in), dst2 = check::put(pipe, in), dst3 = check::put(pipe, in);
        auto sum = check::put(pipe, std::vector<S>(rows * block)), max = check::put(pipe, std::vector<S>(rows * block));
        auto buffer = check::put(pipe, std::vector<uint8_t>(1024));
        SoftMaxTiling tiling;
        SoftMaxTilingFunc(Dims{{rows, stride}}, sizeof(D), 1024, tiling);
        const SoftMaxShapeInfo shape{rows, stride, rows, columns};
        SoftMax<D>(dst, sum, max, src, buffer, tiling, shape);
        SoftMax<D>(dst2, src, tiling, shape);
        SimpleSoftMax<D>(dst3, sum, max, src, tiling, shape);
        got = check::get(dst, in.size());
        alone = check::get(dst2, in.size());
        again = check::get(dst3, in.size());
        sums = check::get(sum, rows * block);
        maxima = check::get(max, rows * block);
    });
    if (!said.empty()) check::report(__FILE__, __LINE__, said);
    std::vector<double> wanted, wanted_sums, wanted_maxima;
    for (uint32_t row = 0; row < rows; row++) {
        double highest = -INFINITY, total = 0;
        for (uint32_t at = 0; at < columns; at++) highest = std::max(highest, static_cast<double>(in[row * stride + at]));
        for (uint32_t at = 0; at < columns; at++) total += std::exp(static_cast<double>(in[row * stride + at]) - highest);
        for (uint32_t at = 0; at < stride; at++)
            wanted.push_back(at < columns ? std::exp(static_cast<double>(in[row * stride + at]) - highest) / total : static_cast<double>(in[row * stride + at]));
        wanted_sums.insert(wanted_sums.end(), block, total);
        wanted_maxima.insert(wanted_maxima.end(), block, highest);
    }
    near(got, wanted, __LINE__);
    near(alone, wanted, __LINE__);
    near(sums, wanted_sums, __LINE__);
    near(maxima, wanted_maxima, __LINE__);
    // With sums of half precision the quotient has their error.
    if (sizeof(S) == 4) near(again, wanted, __LINE__);
}

} // namespace

TEST(softmax_of_rows)
{
    check_softmax<float, float>(5, 64, 64);
    check_softmax<float, float>(3, 37, 40);
    check_softmax<half, half>(4, 48, 48);
    check_softmax<half, float>(4, 50, 64);
}

TEST(softmax_in_parts_equals_softmax_at_once)
{
    constexpr uint32_t rows = 4, part = 32, parts = 3;
    const auto in = numbers<float>(rows * part * parts, 5);
    std::vector<double> result(rows * part * parts), wanted;
    std::vector<float> got;
    const std::string said = check::run([&] {
        TPipe pipe;
        auto src = check::put(pipe, std::vector<float>(rows * part)), factor = check::put(pipe, std::vector<float>(rows * 8));
        auto sum = check::put(pipe, std::vector<float>(rows * 8)), max = check::put(pipe, std::vector<float>(rows * 8));
        const SoftMaxShapeInfo shape{rows, part, rows, part};
        const SoftMaxTiling tiling = SoftMaxFlashV2TilingFunc(shape, 4, 4, 2048, true);
        for (uint32_t number = 0; number < parts; number++) {
            for (uint32_t row = 0; row < rows; row++)
                for (uint32_t at = 0; at < part; at++) src.SetValue(row * part + at, in[row * part * parts + number * part + at]);
            if (number == 0) SoftmaxFlashV2<float, false>(src, sum, max, src, factor, sum, max, tiling, shape);
            else SoftmaxFlashV2<float, true>(src, sum, max, src, factor, sum, max, tiling, shape);
            for (uint32_t row = 0; row < rows; row++) {
                for (uint32_t at = 0; at < number * part && number > 0; at++) result[row * part * parts + at] *= static_cast<double>(factor.GetValue(row * 8 + 7));
                for (uint32_t at = 0; at < part; at++) result[row * part * parts + number * part + at] = static_cast<double>(src.GetValue(row * part + at));
            }
        }
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t at = 0; at < part * parts; at++) got.push_back(static_cast<float>(result[row * part * parts + at] / static_cast<double>(sum.GetValue(row * 8))));
    });
    EXPECT(said.empty());
    for (uint32_t row = 0; row < rows; row++) {
        double highest = -INFINITY, total = 0;
        const float* line = in.data() + row * part * parts;
        for (uint32_t at = 0; at < part * parts; at++) highest = std::max(highest, static_cast<double>(line[at]));
        for (uint32_t at = 0; at < part * parts; at++) total += std::exp(static_cast<double>(line[at]) - highest);
        for (uint32_t at = 0; at < part * parts; at++) wanted.push_back(std::exp(static_cast<double>(line[at]) - highest) / total);
    }
    for (size_t at = 0; at < wanted.size(); at++) EXPECT(std::fabs(static_cast<double>(got[at]) - wanted[at]) <= 1e-6 * (wanted[at] + 1e-4));
}

TEST(rows_are_normalised)
{
    constexpr uint32_t rows = 6, columns = 37, stride = 40;
    const auto in = numbers<float>(rows * stride, 8), gamma = numbers<float>(stride, 9), beta = numbers<float>(stride, 10);
    std::vector<float> layer, means, variances, rms;
    EXPECT(check::run([&] {
               TPipe pipe;
               auto x = check::put(pipe, in), y = check::put(pipe, in), z = check::put(pipe, in), g = check::put(pipe, gamma), b = check::put(pipe, beta);
               auto mean = check::put(pipe, std::vector<float>(8)), variance = check::put(pipe, std::vector<float>(8));
               auto buffer = check::put(pipe, std::vector<uint8_t>(2048));
               LayerNormTiling tiling;
               GetLayerNormNDTilingInfo(Dims{{2, 3, stride}}, 2048, 4, false, tiling);
               tiling.originalHLength = columns;
               LayerNorm(y, mean, variance, x, g, b, buffer, 1e-3f, tiling);
               RmsNormTiling rms_tiling;
               EXPECT(GetRmsNormTilingInfo(Dims{{2, 3, stride}}, Dims{{2, 3, columns}}, 2048, 4, rms_tiling));
               EXPECT(!GetRmsNormTilingInfo(Dims{{2, 3, stride}}, Dims{{2, 3, columns}}, 64, 4, rms_tiling));
               RmsNorm(z, x, g, 1e-3f, rms_tiling);
               layer = check::get(y, in.size());
               rms = check::get(z, in.size());
               means = check::get(mean, rows);
               variances = check::get(variance, rows);
           }).empty());
    std::vector<double> wanted, wanted_rms, wanted_means, wanted_variances;
    for (uint32_t row = 0; row < rows; row++) {
        double sum = 0, spread = 0, squares = 0;
        auto value = [&](uint32_t at) { return static_cast<double>(in[row * stride + at]); };
        for (uint32_t at = 0; at < columns; at++) sum += value(at) / columns;
        for (uint32_t at = 0; at < columns; at++) {
            spread += (value(at) - sum) * (value(at) - sum) / columns;
            squares += value(at) * value(at) / columns;
        }
        for (uint32_t at = 0; at < stride; at++) {
            const double scale = static_cast<double>(gamma[at]);
            wanted.push_back(at < columns ? scale * (value(at) - sum) / std::sqrt(spread + 1e-3) + static_cast<double>(beta[at]) : value(at));
            wanted_rms.push_back(at < columns ? scale * value(at) / std::sqrt(squares + 1e-3) : value(at));
        }
        wanted_means.push_back(sum);
        wanted_variances.push_back(spread);
    }
    near(layer, wanted, __LINE__);
    near(rms, wanted_rms, __LINE__);
    near(means, wanted_means, __LINE__);
    near(variances, wanted_variances, __LINE__);
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     RmsNorm(tensor, tensor, tensor, 1e-3f, RmsNormTiling());
                 }),
                 "RmsNorm: the tiling has bLength 0");
}

TEST(gradients_of_softmax)
{
    constexpr uint32_t rows = 3, columns = 30, stride = 32;
    const auto grad = numbers<float>(rows * stride, 11), values = numbers<float>(rows * stride, 12);
    std::vector<float> got, front;
    EXPECT(check::run([&] {
               TPipe pipe;
               auto g = check::put(pipe, grad), y = check::put(pipe, values), dst = check::put(pipe, grad);
               auto sums = check::put(pipe, std::vector<float>(rows * 8));
               const SoftMaxShapeInfo shape{rows, stride, rows, columns};
               SoftmaxGrad(dst, g, y, SoftMaxTiling(), false, shape);
               SoftmaxGradFront(sums, g, y, SoftMaxTiling(), shape);
               got = check::get(dst, grad.size());
               front = check::get(sums, rows * 8);
           }).empty());
    for (uint32_t row = 0; row < rows; row++) {
        double sum = 0;
        for (uint32_t at = 0; at < columns; at++) sum += static_cast<double>(grad[row * stride + at]) * static_cast<double>(values[row * stride + at]);
        for (uint32_t at = 0; at < 8; at++) EXPECT(std::fabs(static_cast<double>(front[row * 8 + at]) - sum) <= 1e-5 * std::fabs(sum));
        for (uint32_t at = 0; at < stride; at++) {
            const double wanted = at < columns ? (static_cast<double>(grad[row * stride + at]) - sum) * static_cast<double>(values[row * stride + at])
                                               : static_cast<double>(grad[row * stride + at]);
            EXPECT(std::fabs(static_cast<double>(got[row * stride + at]) - wanted) <= 1e-5 * (std::fabs(wanted) + 1));
        }
    }
}

TEST(rows_of_a_masked_maximum_are_replaced)
{
    std::vector<float> got;
    bool is_found = false, is_found_again = true;
    EXPECT(check::run([&] {
               TPipe pipe;
               auto result = check::put(pipe, std::vector<float>(24, 1)), max = check::put(pipe, std::vector<float>(24, 2));
               for (uint32_t at = 8; at < 16; at++) max.SetValue(at, -1.0f);
               const SoftMaxShapeInfo shape{3, 8, 3, 8};
               is_found = AdjustSoftMaxRes<float, float>(result, max, 0xbf800000, 0.0f, shape);
               is_found_again = AdjustSoftMaxRes<float, float>(result, max, 0xc0000000, 0.0f, shape);
               got = check::get(result, 24);
           }).empty());
    std::vector<float> wanted(24, 1);
    std::fill(wanted.begin() + 8, wanted.begin() + 16, 0.0f);
    EXPECT_EQUAL(got, wanted);
    EXPECT(is_found && !is_found_again);
}

TEST(quantisation_rounds_to_even_and_saturates)
{
    const std::vector<float> in = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 300, -300, 63.25f};
    std::vector<int8_t> got, got_scales;
    EXPECT(check::run([&] {
               TPipe pipe;
               auto src = check::put(pipe, in), scales = check::put(pipe, std::vector<float>{1, 2, 0, 0, 0, 0, 0, 0});
               auto dst = check::put(pipe, std::vector<int8_t>(32));
               auto buffer = check::put(pipe, std::vector<uint8_t>(64));
               AscendQuant(dst, src, buffer, 1.0f, 1.0f, 8);
               got = check::get(dst, 8);
               AscendQuant<int8_t, float>(dst, src, scales, 0.0f, 2, 8);
               got_scales = check::get(dst, 8);
           }).empty());
    EXPECT_EQUAL(got, (std::vector<int8_t>{2, 2, 4, 0, 0, 127, -128, 64}));
    EXPECT_EQUAL(got_scales, (std::vector<int8_t>{0, 3, 2, -1, -2, 127, -128, 126}));
}

TEST(integers_become_numbers_with_scales)
{
    std::vector<int32_t> in(2 * 24);
    for (size_t at = 0; at < in.size(); at++) in[at] = static_cast<int32_t>(at * 37) - 500;
    std::vector<half> got, wanted;
    std::vector<float> got_words, wanted_words, got_anti, wanted_anti;
    EXPECT(check::run([&] {
               TPipe pipe;
               std::vector<float> values(24);
               std::vector<uint64_t> words(24);
               for (size_t at = 0; at < 24; at++) {
                   values[at] = static_cast<float>(at + 1) / 8;
                   std::memcpy(&words[at], &values[at], 4);
               }
               auto src = check::put(pipe, in);
               auto scales = check::put(pipe, values);
               auto scale_words = check::put(pipe, words);
               auto dst = check::put(pipe, std::vector<half>(64));
               AscendDequant<half, float>(dst, src, scales, DequantParams{2, 24, 20});
               for (uint32_t row = 0; row < 2; row++)
                   for (uint32_t at = 0; at < 20; at++) got.push_back(dst.GetValue(row * 32 + at));
               auto floats = check::put(pipe, std::vector<float>(48));
               AscendDequant<float, uint64_t, DeQuantMode::DEQUANT_WITH_MULTI_ROW>(floats, src, scale_words, DequantParams{1, 48, 24});
               got_words = check::get(floats, 48);
               std::vector<int8_t> bytes(64);
               for (size_t at = 0; at < 64; at++) bytes[at] = static_cast<int8_t>(at);
               auto small = check::put(pipe, bytes);
               auto offsets = check::put(pipe, std::vector<float>(16, 2));
               auto out = check::put(pipe, std::vector<float>(64));
               AscendAntiQuant<int8_t, float, false>(out, small, offsets, scales, 4);
               got_anti = check::get(out, 64);
           }).empty());
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t at = 0; at < 20; at++) wanted.push_back(static_cast<half>(static_cast<float>(in[row * 24 + at]) * (static_cast<float>(at + 1) / 8)));
    for (uint32_t at = 0; at < 48; at++) wanted_words.push_back(static_cast<float>(in[at]) * (static_cast<float>(at % 24 + 1) / 8));
    for (uint32_t at = 0; at < 64; at++) wanted_anti.push_back(static_cast<float>(at + 2) * (static_cast<float>(at % 16 + 1) / 8));
    EXPECT_EQUAL(got, wanted);
    EXPECT_EQUAL(got_words, wanted_words);
    EXPECT_EQUAL(got_anti, wanted_anti);
}

TEST(mistakes_in_shapes_are_named)
{
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     SoftMax<float>(tensor, tensor, SoftMaxTiling(), SoftMaxShapeInfo{3, 8, 3, 8});
                 }),
                 "SoftMax: src reaches bytes 0 to 95 of its buffer in VECCALC, which has 64 bytes");
    EXPECT_FAILS(([] {
                     TPipe pipe;
                     auto tensor = check::put(pipe, std::vector<float>(16));
                     SoftMax<float>(tensor, tensor, SoftMaxTiling(), SoftMaxShapeInfo{2, 8, 2, 9});
                 }),
                 "SoftMax: 2 rows of 8 columns, of which 9 hold values");
}

int main()
{
    return check::finish("layers");
}
