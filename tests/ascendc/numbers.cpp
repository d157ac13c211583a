// Cast between all pairs with every rounding mode, comparisons, selections, reductions, gathers and sorting, against scalar references.
#include "check.h"

#include <algorithm>
#include <cfenv>

namespace {

// Rounds to an integer, by exact comparison with the neighbours.
double rounded(double x, RoundMode mode)
{
    const double low = std::floor(x), high = std::ceil(x);
    switch (mode) {
    case RoundMode::CAST_FLOOR: return low;
    case RoundMode::CAST_CEIL: return high;
    case RoundMode::CAST_TRUNC: return x < 0 ? high : low;
    case RoundMode::CAST_ROUND:
        if (x - low == high - x) return x < 0 ? low : high;
        return x - low < high - x ? low : high;
    default:
        if (x - low == high - x) return std::fmod(low, 2) == 0 ? low : high;
        return x - low < high - x ? low : high;
    }
}
template <typename D> D to_integer(double x, RoundMode mode)
{
    if (x != x) return 0;
    const double r = rounded(x, mode);
    if (r < static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (r >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(r);
}

const RoundMode MODES[] = {RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC};

template <typename D, typename S> void to_integers(std::vector<S> a)
{
    for (RoundMode mode : MODES) {
        const std::string said = check::run([&] {
            TPipe pipe;
            auto x = check::put(pipe, a);
            auto z = check::put(pipe, std::vector<D>(a.size()));
            Cast(z, x, mode, static_cast<uint32_t>(a.size()));
            std::vector<D> wanted;
            for (S value : a) wanted.push_back(to_integer<D>(static_cast<double>(static_cast<float>(value)), mode));
            EXPECT_EQUAL(check::get(z, a.size()), wanted);
        });
        EXPECT(said.empty());
    }
}

TEST(floats_to_integers_round_and_saturate)
{
    std::vector<float> f = {0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 0.49999997f, 32767.5f, -32768.5f, 3e9f, -3e9f, 1e20f, -1e20f, INFINITY, -INFINITY, NAN};
    std::vector<half> h;
    for (float x : f) h.push_back(static_cast<half>(x));
    to_integers<int32_t>(f);
    to_integers<int16_t>(f);
    to_integers<int64_t>(f);
    to_integers<int32_t>(h);
    to_integers<int16_t>(h);
    to_integers<int8_t>(h);
    to_integers<uint8_t>(h);
    std::vector<bfloat16_t> b;
    for (float x : f) b.push_back(bfloat16_t(x));
    to_integers<int32_t>(b);
}

// The two halves next to a value: every finite half is tried.
template <typename T> T rounded_to(float x, RoundMode mode)
{
    if (x != x) return static_cast<T>(x);
    // All values of the format in order.
    static const std::vector<float> all = [] {
        std::vector<float> values;
        for (uint32_t bits = 0; bits < 65536; bits++) {
            T value;
            const uint16_t low = static_cast<uint16_t>(bits);
            std::memcpy(&value, &low, 2);
            const float wide = static_cast<float>(value);
            if (std::isfinite(wide)) values.push_back(wide);
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }();
    if (std::isinf(x)) return static_cast<T>(x);
    auto above = std::lower_bound(all.begin(), all.end(), x);
    const float biggest = all.back();
    if (above != all.end() && *above == x) return static_cast<T>(x);
    // Beyond the largest value the next one would be where the exponent ends.
    const double step = static_cast<double>(biggest) - all[all.size() - 2];
    const double high = above == all.end() ? biggest + step : *above, low = above == all.begin() ? -biggest - step : *(above - 1);
    auto odd = [](double v) {
        T value = static_cast<T>(static_cast<float>(v));
        uint16_t bits;
        std::memcpy(&bits, &value, 2);
        return std::fabs(v) <= static_cast<double>(all.back()) && (bits & 1);
    };
    double chosen;
    switch (mode) {
    case RoundMode::CAST_FLOOR: chosen = low; break;
    case RoundMode::CAST_CEIL: chosen = high; break;
    case RoundMode::CAST_TRUNC: chosen = x > 0 ? low : high; break;
    case RoundMode::CAST_ODD: chosen = odd(low) ? low : high; break;
    case RoundMode::CAST_ROUND: chosen = x - low == high - x ? (x > 0 ? high : low) : x - low < high - x ? low : high; break;
    default: chosen = x - low == high - x ? (odd(low) ? high : low) : x - low < high - x ? low : high; break;
    }
    if (std::fabs(chosen) > static_cast<double>(biggest)) return static_cast<T>(chosen > 0 ? INFINITY : -INFINITY);
    return static_cast<T>(static_cast<float>(chosen == 0 ? std::copysign(0.0, x) : chosen));
}

template <typename T> void round_all(std::initializer_list<RoundMode> modes)
{
    auto a = check::values<float>(512, 90);
    for (float x : {65504.0f, 65519.9f, 65520.0f, 65536.0f, 1e-8f, -1e-8f, 3e-8f, 2.9802322e-8f, 1.00048828125f, 1.00146484375f, 6.1e-5f, 3.3895314e38f, 1e-40f}) {
        a.push_back(x);
        a.push_back(-x);
    }
    a.resize(544);
    for (RoundMode mode : modes) {
        const std::string said = check::run([&] {
            TPipe pipe;
            auto x = check::put(pipe, a);
            auto z = check::put(pipe, std::vector<T>(a.size()));
            Cast(z, x, mode, static_cast<uint32_t>(a.size()));
            std::vector<T> wanted;
            for (float value : a) wanted.push_back(rounded_to<T>(value, mode));
            EXPECT_EQUAL(check::get(z, a.size()), wanted);
        });
        EXPECT(said.empty());
    }
}

TEST(floats_to_half_and_bfloat16_in_every_mode)
{
    round_all<half>({RoundMode::CAST_NONE, RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC,
                  RoundMode::CAST_ODD});
    round_all<bfloat16_t>({RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL, RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC});
}

TEST(every_half_widens_exactly)
{
    check::run([&] {
        TPipe pipe;
        std::vector<half> all(16384);
        for (uint32_t base = 0; base < 65536; base += 16384) {
            for (uint32_t at = 0; at < 16384; at++) {
                const uint16_t bits = static_cast<uint16_t>(base + at);
                std::memcpy(&all[at], &bits, 2);
            }
            pipe.Reset();
            auto x = check::put(pipe, all);
            auto z = check::put(pipe, std::vector<float>(16384));
            Cast(z, x, RoundMode::CAST_NONE, 16384);
            for (uint32_t at = 0; at < 16384; at++) {
                const uint16_t bits = static_cast<uint16_t>(base + at);
                const int exponent = bits >> 10 & 31, fraction = bits & 1023;
                double value = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
                EXPECT(check::same(z.GetPhyAddr()[at], static_cast<float>(bits >> 15 ? -value : value)));
            }
        }
    });
}

TEST(integers_to_floats_and_to_each_other)
{
    const std::vector<int32_t> n = {0, 1, -1, 16777216, 16777217, 16777219, -16777217, 2147483647, -2147483647 - 1, 70000, -70000, 2049, 4098, 65535, 99, -99};
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, n);
        auto f = check::put(pipe, std::vector<float>(16));
        const int directions[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST, FE_TOWARDZERO};
        for (int at = 0; at < 5; at++) {
            if (MODES[at] == RoundMode::CAST_ROUND) continue;
            Cast(f, x, MODES[at], 16);
            for (int i = 0; i < 16; i++) {
                volatile double wide = n[i];
                std::fesetround(directions[at]);
                volatile float wanted = static_cast<float>(wide);
                std::fesetround(FE_TONEAREST);
                EXPECT(f.GetValue(i) == wanted);
            }
        }
        auto s = check::put(pipe, std::vector<int16_t>(16));
        Cast(s, x, RoundMode::CAST_NONE, 16);
        for (int i = 0; i < 16; i++) EXPECT(s.GetValue(i) == std::clamp(n[i], -32768, 32767));
        auto w = check::put(pipe, std::vector<int64_t>(16));
        Cast(w, x, RoundMode::CAST_NONE, 16);
        for (int i = 0; i < 16; i++) EXPECT(w.GetValue(i) == n[i]);
        auto h = check::put(pipe, std::vector<half>(16));
        SetDeqScale(half(0.5));
        Cast(h, x, RoundMode::CAST_NONE, 16);
        for (int i = 0; i < 16; i++) EXPECT(check::same(h.GetValue(i), static_cast<half>(static_cast<float>(n[i]) * 0.5f)));
    });
}

TEST(four_bit_integers_lie_in_pairs)
{
    std::vector<half> a;
    for (int at = 0; at < 64; at++) a.push_back(static_cast<half>(at * 0.5f - 16));
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a);
        auto packed = check::put(pipe, std::vector<int8_t>(32)).ReinterpretCast<int4b_t>();
        EXPECT(packed.GetSize() == 64);
        Cast(packed, x, RoundMode::CAST_RINT, 64);
        auto back = check::put(pipe, std::vector<half>(64));
        Cast(back, packed, RoundMode::CAST_NONE, 64);
        for (int at = 0; at < 64; at++) EXPECT(back.GetValue(at) == static_cast<half>(std::clamp(rounded(at * 0.5 - 16, RoundMode::CAST_RINT), -8.0, 7.0)));
    });
}

TEST(casts_in_repeats_keep_strides_in_blocks)
{
    const auto a = check::values<half>(512, 91);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a);
        auto z = check::put(pipe, std::vector<float>(512, 5.0f));
        // 64 elements a repeat: 4 blocks of half become 8 blocks of float.
        Cast(z, x, RoundMode::CAST_NONE, uint64_t(64), 3, UnaryRepeatParams(1, 1, 16, 4));
        std::vector<float> wanted(512, 5.0f);
        for (int r = 0; r < 3; r++)
            for (int at = 0; at < 64; at++) wanted[r * 128 + at] = static_cast<float>(a[r * 64 + at]);
        EXPECT_EQUAL(check::get(z, 512), wanted);
    });
}

TEST(comparisons_write_bits)
{
    const auto a = check::values<half>(256, 92);
    auto b = check::values<half>(256, 93);
    for (int at = 0; at < 256; at += 3) b[at] = a[at];
    const CMPMODE modes[] = {CMPMODE::LT, CMPMODE::GT, CMPMODE::EQ, CMPMODE::LE, CMPMODE::GE, CMPMODE::NE};
    for (CMPMODE mode : modes) {
        auto holds = [mode](half x, half y) {
            switch (mode) {
            case CMPMODE::LT: return x < y;
            case CMPMODE::GT: return x > y;
            case CMPMODE::EQ: return x == y;
            case CMPMODE::LE: return x <= y;
            case CMPMODE::GE: return x >= y;
            default: return x != y;
            }
        };
        const std::string said = check::run([&] {
            TPipe pipe;
            auto x = check::put(pipe, a), y = check::put(pipe, b);
            auto bits = check::put(pipe, std::vector<uint8_t>(32));
            Compare(bits, x, y, mode, 256);
            for (int at = 0; at < 256; at++) EXPECT((bits.GetValue(at / 8) >> at % 8 & 1) == holds(a[at], b[at]));
            CompareScalar(bits, x, half(1), mode, 256);
            for (int at = 0; at < 256; at++) EXPECT((bits.GetValue(at / 8) >> at % 8 & 1) == holds(a[at], half(1)));
            Compare(bits, x, y, mode, uint64_t(128), 2, BinaryRepeatParams(1, 1, 1, 8, 8, 0));
            for (int at = 0; at < 256; at++) EXPECT((bits.GetValue(at / 8) >> at % 8 & 1) == holds(a[at], b[at % 128]));
        });
        EXPECT(said.empty());
    }
    EXPECT_FAILS(([&] {
                     TPipe pipe;
                     auto x = check::put(pipe, a), y = check::put(pipe, b);
                     auto bits = check::put(pipe, std::vector<uint8_t>(32));
                     Compare(bits, x, y, CMPMODE::LT, 100);
                 }),
                 "Compare: 100 elements have 200 bytes, which have to be a multiple of 256");
}

TEST(selections_use_the_mask_once_or_continuously)
{
    const auto a = check::values<float>(128, 94), b = check::values<float>(128, 95);
    std::vector<uint8_t> mask(32);
    for (int at = 0; at < 32; at++) mask[at] = static_cast<uint8_t>(at * 37 + 11);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, a);
        auto m = check::put(pipe, mask);
        auto bit = [&](int at) { return mask[at / 8] >> at % 8 & 1; };
        Select(z, m, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 128);
        for (int at = 0; at < 128; at++) EXPECT(check::same(z.GetValue(at), bit(at) ? a[at] : b[at]));
        Select(z, m, x, 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 128);
        for (int at = 0; at < 128; at++) EXPECT(check::same(z.GetValue(at), bit(at) ? a[at] : 9.0f));
        Select(z, m, x, y, SELMODE::VSEL_CMPMASK_SPR, uint64_t(64), 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        for (int at = 0; at < 128; at++) EXPECT(check::same(z.GetValue(at), bit(at % 64) ? a[at] : b[at]));
        Select(z, m, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, uint64_t(64), 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        for (int at = 0; at < 128; at++) EXPECT(check::same(z.GetValue(at), bit(at) ? a[at] : b[at]));
    });
}

TEST(patterns_pack_elements)
{
    std::vector<float> a(128);
    for (int at = 0; at < 128; at++) a[at] = static_cast<float>(at);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a);
        uint64_t kept = 0;
        GatherMask(z, x, uint8_t(2), false, 0, GatherMaskParams(1, 2, 8, 0), kept);
        EXPECT(kept == 64);
        for (int at = 0; at < 64; at++) EXPECT(z.GetValue(at) == 2 * at + 1);
        GatherMask(z, x, uint8_t(5), true, 70, GatherMaskParams(1, 1, 8, 0), kept);
        EXPECT(kept == 17 && z.GetValue(0) == 2 && z.GetValue(16) == 66);
        auto bits = check::put(pipe, std::vector<uint32_t>{0x80000001u, 0x2u, 0, 0, 0, 0, 0, 0, 0xffffffffu, 0, 0, 0, 0, 0, 0, 0});
        GatherMask(z, x, bits, false, 0, GatherMaskParams(1, 2, 8, 1), kept);
        EXPECT(kept == 35 && z.GetValue(0) == 0 && z.GetValue(1) == 31 && z.GetValue(2) == 33 && z.GetValue(3) == 64 && z.GetValue(34) == 95);
    });
}

// The sum of a repeat: neighbours are added until one value is left.
template <typename T> T tree(std::vector<T> values)
{
    while (values.size() > 1) {
        std::vector<T> next;
        for (size_t at = 0; at < values.size(); at += 2) next.push_back(static_cast<T>(values[at] + values[at + 1]));
        values = next;
    }
    return values[0];
}

template <typename T> void reductions(uint32_t seed)
{
    const size_t per = 256 / sizeof(T), in_block = 32 / sizeof(T);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-2, 2);
    std::vector<T> a(per * 3);
    for (auto& value : a) value = static_cast<T>(any(random));
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a);
        auto z = check::put(pipe, std::vector<T>(per, T(77)));
        auto tmp = check::put(pipe, std::vector<T>(per));
        auto part = [&](size_t begin, size_t count, size_t size) {
            std::vector<T> values(size, T(0));
            for (size_t at = 0; at < count; at++) values[at] = a[begin + at];
            return values;
        };
        WholeReduceSum(z, x, static_cast<int32_t>(per), 3, 1, 1, 8);
        for (size_t r = 0; r < 3; r++) EXPECT(check::same(z.GetValue(r), tree(part(r * per, per, per))));
        BlockReduceSum(z, x, 3, static_cast<int32_t>(per), 1, 1, 8);
        for (size_t block = 0; block < 24; block++) EXPECT(check::same(z.GetValue(block), tree(part(block * in_block, in_block, in_block))));
        BlockReduceMax(z, x, 3, static_cast<int32_t>(per), 1, 1, 8);
        for (size_t block = 0; block < 24; block++)
            EXPECT(z.GetValue(block) == *std::max_element(a.begin() + block * in_block, a.begin() + (block + 1) * in_block));
        PairReduceSum(z, x, 1, static_cast<int32_t>(per), 1, 1, 8);
        for (size_t pair = 0; pair < per / 2; pair++) EXPECT(check::same(z.GetValue(pair), static_cast<T>(a[2 * pair] + a[2 * pair + 1])));
        const size_t count = 2 * per + 5;
        ReduceSum(z, x, tmp, static_cast<int32_t>(count));
        const T sum = static_cast<T>(static_cast<T>(tree(part(0, per, per)) + tree(part(per, per, per))) + tree(part(2 * per, 5, per)));
        EXPECT(check::same(z.GetValue(0), sum));
        a[7] = a[per + 3] = T(50);
        auto peaked = check::put(pipe, a);
        ReduceMax(z, peaked, tmp, static_cast<int32_t>(count), true);
        EXPECT(z.GetValue(0) == T(50));
        std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t> index;
        const T bits = z.GetValue(1);
        std::memcpy(&index, &bits, sizeof index);
        EXPECT(index == 7);
        ReduceMin(z, x, tmp, static_cast<int32_t>(per));
        EXPECT(z.GetValue(0) <= *std::min_element(a.begin(), a.begin() + static_cast<long>(per)));
        WholeReduceMax(z, peaked, static_cast<int32_t>(per), 2, 1, 1, 8);
        EXPECT(z.GetValue(0) == T(50) && z.GetValue(2) == T(50));
        WholeReduceMin(z, peaked, static_cast<int32_t>(per), 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        for (size_t r = 0; r < 2; r++) EXPECT(z.GetValue(r) == *std::min_element(a.begin() + r * per, a.begin() + (r + 1) * per));
    });
    EXPECT(said.empty());
}

TEST(sums_follow_the_tree_and_the_first_extreme_wins)
{
    reductions<float>(17);
    reductions<half>(18);
}

TEST(gathers_scatters_and_spreads)
{
    const auto a = check::values<float>(64, 20);
    std::vector<uint32_t> offsets(64);
    for (uint32_t at = 0; at < 64; at++) offsets[at] = (at * 7 % 64) * 4;
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, std::vector<float>(512));
        auto o = check::put(pipe, offsets);
        Gather(z, x, o, 0, 64);
        for (int at = 0; at < 64; at++) EXPECT(check::same(z.GetValue(at), a[at * 7 % 64]));
        Scatter(z, x, o, 0, 64);
        for (int at = 0; at < 64; at++) EXPECT(check::same(z.GetValue(at * 7 % 64), a[at]));
        Brcb(z, x, 2, BrcbRepeatParams(1, 8));
        for (int at = 0; at < 128; at++) EXPECT(check::same(z.GetValue(at), a[at / 8]));
    });
    EXPECT_FAILS(([&] {
                     TPipe pipe;
                     auto x = check::put(pipe, a), z = check::put(pipe, a);
                     auto o = check::put(pipe, std::vector<uint32_t>{0, 4, 256, 0, 0, 0, 0, 0});
                     Gather(z, x, o, 0, 8);
                 }),
                 "Gather: byte offset 256 leaves the buffer of src, which has 256 bytes");
}

TEST(transpositions)
{
    std::vector<half> a(256);
    for (int at = 0; at < 256; at++) a[at] = static_cast<half>(at);
    std::vector<float> f(128);
    for (int at = 0; at < 128; at++) f[at] = static_cast<float>(at);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a);
        Transpose(z, x);
        for (int row = 0; row < 16; row++)
            for (int column = 0; column < 16; column++) EXPECT(z.GetValue(column * 16 + row) == a[row * 16 + column]);
        uint64_t to[16], from[16];
        auto y = check::put(pipe, f), w = check::put(pipe, std::vector<float>(128));
        for (int row = 0; row < 16; row++) {
            from[row] = reinterpret_cast<uint64_t>(y[row * 8].GetPhyAddr());
            to[row] = reinterpret_cast<uint64_t>(w[row * 8].GetPhyAddr());
        }
        TransDataTo5HD<float>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0));
        for (int row = 0; row < 16; row++)
            for (int column = 0; column < 8; column++) EXPECT(w.GetValue(column * 16 + row) == f[row * 8 + column]);
    });
}

TEST(pairs_are_sorted_merged_and_extracted)
{
    std::vector<float> scores(64);
    std::vector<uint32_t> index(64);
    for (uint32_t at = 0; at < 64; at++) {
        scores[at] = static_cast<float>(at * 13 % 23);
        index[at] = 1000 + at;
    }
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, scores);
        auto i = check::put(pipe, index);
        auto pairs = check::put(pipe, std::vector<float>(128)), merged = check::put(pipe, std::vector<float>(128));
        Sort32(pairs, x, i, 2);
        auto order = [&](size_t begin, size_t end) {
            std::vector<uint32_t> all;
            for (size_t at = begin; at < end; at++) all.push_back(static_cast<uint32_t>(at));
            std::stable_sort(all.begin(), all.end(), [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
            return all;
        };
        auto values = check::put(pipe, std::vector<float>(64));
        auto indices = check::put(pipe, std::vector<uint32_t>(64));
        Extract(values, indices, pairs, 2);
        for (size_t half_list = 0; half_list < 2; half_list++) {
            const auto wanted = order(half_list * 32, half_list * 32 + 32);
            for (size_t at = 0; at < 32; at++) EXPECT(indices.GetValue(static_cast<uint32_t>(half_list * 32 + at)) == 1000 + wanted[at]);
        }
        const uint16_t lengths[4] = {32, 32, 0, 0};
        MrgSort(merged, MrgSortSrcList<float>(pairs, pairs[64], pairs, pairs), MrgSort4Info(lengths, false, 3, 1));
        Extract(values, indices, merged, 2);
        const auto wanted = order(0, 64);
        for (size_t at = 0; at < 64; at++) {
            EXPECT(indices.GetValue(static_cast<uint32_t>(at)) == 1000 + wanted[at]);
            EXPECT(values.GetValue(static_cast<uint32_t>(at)) == scores[wanted[at]]);
        }
        uint16_t taken[4];
        GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
        EXPECT(taken[0] == 32 && taken[1] == 32);
    });
}

} // namespace

int main()
{
    return check::finish("numbers");
}
