// Element-wise functions against scalar references, over types, counts, masks, repeats and strides.
#include "check.h"

namespace {

// The reference calculates in double, where sums and products of half and float are exact or round innocuously.
template <typename T> T reference_add(T a, T b)
{
    if constexpr (jumar::ascendc::is_float<T>) return static_cast<T>(static_cast<double>(a) + static_cast<double>(b));
    else return static_cast<T>(static_cast<int64_t>(a) + static_cast<int64_t>(b));
}
template <typename T> T reference_sub(T a, T b)
{
    if constexpr (jumar::ascendc::is_float<T>) return static_cast<T>(static_cast<double>(a) - static_cast<double>(b));
    else return static_cast<T>(static_cast<int64_t>(a) - static_cast<int64_t>(b));
}
template <typename T> T reference_mul(T a, T b)
{
    if constexpr (jumar::ascendc::is_float<T>) return static_cast<T>(static_cast<double>(a) * static_cast<double>(b));
    else return static_cast<T>(static_cast<int64_t>(a) * static_cast<int64_t>(b));
}
template <typename T> T reference_div(T a, T b)
{
    return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
}
template <typename T> T reference_max(T a, T b)
{
    if (a != a || b != b) return static_cast<T>(NAN);
    if (a == b) return std::signbit(static_cast<double>(a)) ? b : a;
    return a > b ? a : b;
}
template <typename T> T reference_min(T a, T b)
{
    if (a != a || b != b) return static_cast<T>(NAN);
    if (a == b) return std::signbit(static_cast<double>(a)) ? a : b;
    return a < b ? a : b;
}

// Where an element of a repeat lies: 8 blocks of 32 bytes, each `block` blocks behind the other, repeats `repeat` blocks apart.
template <typename T> size_t index_in_memory(size_t r, size_t element, size_t block, size_t repeat)
{
    const size_t in_block = 32 / sizeof(T);
    return (r * repeat + element / in_block * block) * in_block + element % in_block;
}

template <typename T, typename Function, typename Reference> void binary(Function function, Reference reference)
{
    const size_t count = 300;
    const auto a = check::values<T>(1024, 1), b = check::values<T>(1024, 2), old = check::values<T>(1024, 3);
    // A count.
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, old);
        function(z, x, y, static_cast<int32_t>(count));
        auto wanted = old;
        for (size_t at = 0; at < count; at++) wanted[at] = reference(a[at], b[at]);
        EXPECT_EQUAL(check::get(z, 1024), wanted);
    });
    EXPECT(said.empty());
    // Masks as counts and as bits, with strides of all kinds.
    const size_t per = 256 / sizeof(T);
    struct Case {
        uint64_t count;
        uint64_t bits[2];
        uint8_t repeats;
        BinaryRepeatParams params;
    };
    const Case cases[] = {
        {per, {~0ull, ~0ull}, 3, BinaryRepeatParams(1, 1, 1, 8, 8, 8)},
        {per / 2 + 3, {0x5555aaaa00ff1234ull, 0x8000000000000001ull}, 2, BinaryRepeatParams(2, 1, 1, 16, 8, 8)},
        {5, {1, 0}, 4, BinaryRepeatParams(1, 1, 0, 8, 8, 0)},
        {0, {0, 0}, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8)},
        {per, {~0ull, ~0ull}, 0, BinaryRepeatParams(1, 1, 1, 8, 8, 8)},
        {per, {0xf0f0f0f0f0f0f0f0ull, ~0ull}, 2, BinaryRepeatParams(1, 2, 1, 9, 16, 10)},
    };
    for (const Case& one : cases) {
        for (bool as_bits : {false, true}) {
            const std::string text = check::run([&] {
                TPipe pipe;
                auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, old);
                uint64_t bits[2] = {one.bits[0], one.bits[1]};
                if (as_bits) function(z, x, y, bits, one.repeats, one.params);
                else function(z, x, y, one.count, one.repeats, one.params);
                auto wanted = old;
                const auto& p = one.params;
                for (size_t r = 0; r < one.repeats; r++)
                    for (size_t element = 0; element < per; element++)
                        if (as_bits ? bits[element / 64] >> element % 64 & 1 : element < one.count)
                            wanted[index_in_memory<T>(r, element, p.dstBlkStride, p.dstRepStride)] =
                                reference(a[index_in_memory<T>(r, element, p.src0BlkStride, p.src0RepStride)], b[index_in_memory<T>(r, element, p.src1BlkStride, p.src1RepStride)]);
                EXPECT_EQUAL(check::get(z, 1024), wanted);
            });
            EXPECT(text.empty());
        }
    }
}

#define CALL(Name) [](const auto&... arguments) { Name(arguments...); }
#define CALL_BITS(Name) [](auto&&... arguments) { Name(arguments...); }

TEST(sums_products_and_extremes_of_floats)
{
    binary<half>(CALL_BITS(Add), reference_add<half>);
    binary<float>(CALL_BITS(Add), reference_add<float>);
    binary<half>(CALL_BITS(Sub), reference_sub<half>);
    binary<float>(CALL_BITS(Mul), reference_mul<float>);
    binary<half>(CALL_BITS(Mul), reference_mul<half>);
    binary<half>(CALL_BITS(Div), reference_div<half>);
    binary<float>(CALL_BITS(Div), reference_div<float>);
    binary<half>(CALL_BITS(Max), reference_max<half>);
    binary<float>(CALL_BITS(Min), reference_min<float>);
}

TEST(integers_wrap)
{
    binary<int16_t>(CALL_BITS(Add), reference_add<int16_t>);
    binary<int32_t>(CALL_BITS(Sub), reference_sub<int32_t>);
    binary<int32_t>(CALL_BITS(Mul), reference_mul<int32_t>);
    binary<int16_t>(CALL_BITS(Max), reference_max<int16_t>);
    binary<uint16_t>(CALL_BITS(And), [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a & b); });
    binary<int16_t>(CALL_BITS(Or), [](int16_t a, int16_t b) { return static_cast<int16_t>(a | b); });
}

TEST(a_destination_that_is_a_source_accumulates_over_repeats)
{
    const auto a = check::values<float>(256, 9);
    std::vector<float> one(64, 1.0f);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), sum = check::put(pipe, one);
        Add(sum, x, sum, uint64_t(64), 4, BinaryRepeatParams(1, 1, 1, 0, 8, 0));
        std::vector<float> wanted = one;
        for (size_t r = 0; r < 4; r++)
            for (size_t at = 0; at < 64; at++) wanted[at] = a[r * 64 + at] + wanted[at];
        EXPECT_EQUAL(check::get(sum, 64), wanted);
    });
}

template <typename T, typename Function, typename Reference> void unary(Function function, Reference reference, uint32_t seed)
{
    const auto a = check::values<T>(512, seed);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a);
        function(z, x, 301);
        auto wanted = a;
        for (size_t at = 0; at < 301; at++) wanted[at] = reference(a[at]);
        EXPECT_EQUAL(check::get(z, 512), wanted);
        auto strided = check::put(pipe, a);
        function(strided, x, uint64_t(7), 2, UnaryRepeatParams(1, 1, 8, 16));
        wanted = a;
        for (size_t r = 0; r < 2; r++)
            for (size_t element = 0; element < 7; element++) wanted[index_in_memory<T>(r, element, 1, 8)] = reference(a[index_in_memory<T>(r, element, 1, 16)]);
        EXPECT_EQUAL(check::get(strided, 512), wanted);
    });
    EXPECT(said.empty());
}

TEST(functions_of_one_tensor)
{
    unary<half>(CALL(Abs), [](half x) { return static_cast<half>(std::fabs(static_cast<double>(x))); }, 4);
    unary<float>(CALL(Abs), [](float x) { return std::fabs(x); }, 5);
    unary<half>(CALL(Sqrt), [](half x) { return static_cast<half>(std::sqrt(static_cast<double>(x))); }, 6);
    unary<float>(CALL(Sqrt), [](float x) { return static_cast<float>(std::sqrt(static_cast<double>(x))); }, 7);
    unary<half>(CALL(Relu), [](half x) { return x != x ? x : x > half(0) ? x : half(0); }, 8);
    unary<int16_t>(CALL(Not), [](int16_t x) { return static_cast<int16_t>(~x); }, 9);
}

// Distance in ulp; equal infinities and NaNs have none.
template <typename T> int64_t distance(T a, T b)
{
    if ((a != a && b != b) || a == b) return 0;
    using Bits = std::conditional_t<sizeof(T) == 2, int16_t, int32_t>;
    Bits x, y;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    auto order = [](Bits bits) { return bits < 0 ? static_cast<int64_t>(std::numeric_limits<Bits>::min()) - bits : static_cast<int64_t>(bits); };
    return std::llabs(order(x) - order(y));
}
template <typename T, typename Function> void near(Function function, double (*reference)(double))
{
    auto a = check::values<T>(1024, 31);
    for (size_t at = 32; at < a.size(); at++) a[at] = static_cast<T>(static_cast<float>(a[at]) / 30);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a);
        function(z, x, 1024);
        for (size_t at = 0; at < a.size(); at++) {
            const T wanted = static_cast<T>(reference(static_cast<double>(a[at])));
            if (distance(z.GetPhyAddr()[at], wanted) > 1)
                check::report(__FILE__, __LINE__, "of " + check::show(a[at]) + " is " + check::show(z.GetPhyAddr()[at]) + ", wanted " + check::show(wanted));
        }
    });
}

TEST(transcendental_functions_are_within_one_unit)
{
    near<float>(CALL(Exp), [](double x) { return std::exp(x); });
    near<half>(CALL(Exp), [](double x) { return std::exp(x); });
    near<float>(CALL(Ln), [](double x) { return std::log(x); });
    near<half>(CALL(Ln), [](double x) { return std::log(x); });
    near<float>(CALL(Rsqrt), [](double x) { return 1 / std::sqrt(x); });
    near<half>(CALL(Rsqrt), [](double x) { return 1 / std::sqrt(x); });
    near<float>(CALL(Reciprocal), [](double x) { return 1 / x; });
}

TEST(functions_of_a_scalar)
{
    const auto a = check::values<half>(256, 12);
    const auto n = check::values<int32_t>(128, 13);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, a);
        Muls(z, x, half(0.1), 256);
        for (size_t at = 0; at < 256; at++)
            EXPECT(check::same(z.GetValue(at), static_cast<half>(static_cast<double>(a[at]) * static_cast<double>(half(0.1)))));
        Adds<half>(z, x, 2, 256);
        for (size_t at = 0; at < 256; at++) EXPECT(check::same(z.GetValue(at), static_cast<half>(static_cast<double>(a[at]) + 2)));
        Maxs(z, x, half(1), uint64_t(128), 2, UnaryRepeatParams(1, 1, 8, 8));
        for (size_t at = 0; at < 256; at++) EXPECT(check::same(z.GetValue(at), reference_max<half>(a[at], half(1))));
        LeakyRelu(z, x, half(0.25), 256);
        for (size_t at = 0; at < 256; at++)
            EXPECT(check::same(z.GetValue(at), a[at] >= half(0) ? a[at] : static_cast<half>(static_cast<double>(a[at]) * 0.25)));
        auto i = check::put(pipe, n), shifted = check::put(pipe, n);
        ShiftRight(shifted, i, 3, 128);
        for (size_t at = 0; at < 128; at++) EXPECT(shifted.GetValue(at) == static_cast<int32_t>(std::floor(static_cast<double>(n[at]) / 8)));
        ShiftLeft(shifted, i, 4, 128);
        for (size_t at = 0; at < 128; at++) EXPECT(shifted.GetValue(at) == static_cast<int32_t>(static_cast<uint32_t>(n[at]) * 16));
        Mins(shifted, i, 5, 128);
        for (size_t at = 0; at < 128; at++) EXPECT(shifted.GetValue(at) == std::min(n[at], 5));
    });
    EXPECT(said.empty());
}

TEST(multiply_and_add)
{
    std::vector<float> a(64), b(64), c(64);
    std::vector<half> h(64);
    for (int at = 0; at < 64; at++) {
        a[at] = 1 + at * 1e-4f;
        b[at] = 3 - at * 1e-3f;
        c[at] = -3;
        h[at] = static_cast<half>(a[at]);
    }
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, c);
        auto g = check::put(pipe, h);
        MulAddDst(z, x, y, 64);
        for (int at = 0; at < 64; at++) EXPECT(z.GetValue(at) == static_cast<float>(static_cast<double>(a[at]) * b[at] + c[at]));
        auto d = check::put(pipe, c);
        Axpy(d, g, half(2), 64);
        for (int at = 0; at < 64; at++) EXPECT(d.GetValue(at) == static_cast<float>(static_cast<double>(h[at]) * 2 + c[at]));
        auto e = check::put(pipe, c);
        FusedMulAdd(e, x, y, 64);
        for (int at = 0; at < 64; at++) EXPECT(e.GetValue(at) == static_cast<float>(static_cast<double>(a[at]) * c[at] + b[at]));
    });
}

TEST(fills_indices_and_copies)
{
    const std::vector<half> old(512, half(-1));
    const auto a = check::values<half>(512, 44);
    check::run([&] {
        TPipe pipe;
        auto z = check::put(pipe, old), x = check::put(pipe, a);
        Duplicate(z, half(3), 100);
        for (int at = 0; at < 512; at++) EXPECT(z.GetValue(at) == half(at < 100 ? 3 : -1));
        uint64_t bits[2] = {0b101, 0};
        Duplicate(z, half(4), bits, 2, 1, 8);
        EXPECT(z.GetValue(0) == half(4) && z.GetValue(1) == half(3) && z.GetValue(2) == half(4) && z.GetValue(128) == half(4) && z.GetValue(129) == half(-1));
        auto index = check::put(pipe, std::vector<int32_t>(64));
        CreateVecIndex(index, 5, 64);
        for (int at = 0; at < 64; at++) EXPECT(index.GetValue(at) == 5 + at);
        Copy(z, x, uint64_t(128), 2, CopyRepeatParams(1, 1, 8, 16));
        for (int at = 0; at < 128; at++) EXPECT(check::same(z.GetValue(128 + at), a[256 + at]));
    });
}

TEST(counter_mode_and_mask_registers)
{
    const auto a = check::values<float>(256, 60), b = check::values<float>(256, 61);
    const std::vector<float> old(256, 7.0f);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, old);
        SetMaskCount();
        SetVectorMask<float, MaskMode::COUNTER>(0, 100);
        Add<float, false>(z, x, y, MASK_PLACEHOLDER, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        SetMaskNorm();
        ResetMask();
        for (int at = 0; at < 256; at++) EXPECT(check::same(z.GetValue(at), at < 100 ? a[at] + b[at] : 7.0f));
        SetVectorMask<float>(0, 0xff);
        auto w = check::put(pipe, old);
        Add<float, false>(w, x, y, MASK_PLACEHOLDER, 2, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
        ResetMask();
        for (int at = 0; at < 128; at++) EXPECT(check::same(w.GetValue(at), at % 64 < 8 ? a[at] + b[at] : 7.0f));
    });
}

TEST(operators_run_over_all_elements)
{
    const auto a = check::values<float>(64, 70), b = check::values<float>(64, 71);
    check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, a);
        z = x * y;
        for (int at = 0; at < 64; at++) EXPECT(check::same(z.GetValue(at), a[at] * b[at]));
        auto bits = check::put(pipe, std::vector<uint8_t>(32));
        bits = x < y;
        for (int at = 0; at < 64; at++) EXPECT((bits.GetValue(at / 8) >> at % 8 & 1) == (a[at] < b[at]));
    });
}

} // namespace

int main()
{
    return check::finish("arithmetic");
}
