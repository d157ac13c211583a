// Functions that the other tests do not call, against scalar references: relatives of the element-wise functions, older names, scalars and registers.
#include "check.h"

namespace {

template <typename T, typename Function, typename Reference> void with_destination(Function function, Reference reference)
{
    const auto a = check::values<T>(512, 11), b = check::values<T>(512, 12), old = check::values<T>(512, 13);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, old);
        auto wanted = old;
        // Three groups of vector instructions and a rest.
        function(z, x, y, 203);
        for (size_t at = 0; at < 203; at++) wanted[at] = reference(a[at], b[at], old[at]);
        EXPECT_EQUAL(check::get(z, 512), wanted);
    });
    EXPECT(said.empty());
}

// Sums of halves are exact in double; a fused product of halves is, too, and the rounding to half is the only one.
template <typename T> T positive(double value)
{
    return value != value ? static_cast<T>(NAN) : value > 0 ? static_cast<T>(value) : T(0);
}

TEST(additions_and_products_with_a_lower_limit)
{
    const auto add = [](auto a, auto b, auto) { return positive<decltype(a)>(double(a) + double(b)); };
    const auto sub = [](auto a, auto b, auto) { return positive<decltype(a)>(double(a) - double(b)); };
    with_destination<half>([](auto&&... all) { AddRelu(all...); }, add);
    with_destination<float>([](auto&&... all) { AddRelu(all...); }, add);
    with_destination<half>([](auto&&... all) { SubRelu(all...); }, sub);
    with_destination<float>([](auto&&... all) { SubRelu(all...); }, sub);
    const auto fused_half = [](half a, half b, half z) { return positive<half>(double(a) * double(z) + double(b)); };
    const auto fused_float = [](float a, float b, float z) { return positive<float>(double(std::fmaf(a, z, b))); };
    with_destination<half>([](auto&&... all) { MulAddRelu(all...); }, fused_half);
    with_destination<float>([](auto&&... all) { MulAddRelu(all...); }, fused_float);
    with_destination<half>([](auto&&... all) { FusedMulAddRelu(all...); }, fused_half);
}

// A repeat reads what the repeat in front of it has written.
TEST(repeats_that_follow_each_other_in_memory_see_earlier_results)
{
    const auto chain = [](auto zero) {
        using T = decltype(zero);
        constexpr size_t per = 256 / sizeof(T);
        const std::string said = check::run([&] {
            TPipe pipe;
            auto x = check::put(pipe, std::vector<T>(per * 5, T(1)));
            Add(x[per], x, x[per], per, 4, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
            for (size_t at = 0; at < per * 5; at++) EXPECT(x.GetPhyAddr()[at] == T(static_cast<int>(at / per + 1)));
            Adds(x[per], x, T(2), per, 4, UnaryRepeatParams(1, 1, 8, 8));
            for (size_t at = 0; at < per * 5; at++) EXPECT(x.GetPhyAddr()[at] == T(static_cast<int>(at / per * 2 + 1)));
        });
        EXPECT(said.empty());
    };
    chain(half(0));
    chain(float(0));
    chain(int32_t(0));
}

TEST(products_become_small_integers)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        const std::vector<half> a = {half(2), half(-3), half(1.25f), half(1000), half(-1000), half(0.5f), half(1.5f), half(2.5f)};
        auto x = check::put(pipe, a, 128), y = check::put(pipe, std::vector<half>(128, half(1)));
        auto z = check::put(pipe, std::vector<int8_t>(128, 9));
        MulCast(z, x, y, 8);
        EXPECT(check::get(z, 9) == std::vector<int8_t>({2, -3, 1, 127, -128, 0, 2, 2, 9}));
        auto u = check::put(pipe, std::vector<uint8_t>(128, 9));
        MulCast(u, x, y, 8);
        EXPECT(check::get(u, 9) == std::vector<uint8_t>({2, 0, 1, 255, 0, 0, 2, 2, 9}));
    });
    EXPECT(said.empty());
}

TEST(reductions_by_their_older_names)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        std::vector<float> a(128);
        for (size_t at = 0; at < 128; at++) a[at] = static_cast<float>((at * 37 + 11) % 101);
        auto x = check::put(pipe, a), z = check::put(pipe, std::vector<float>(64));
        BlockReduceMin(z, x, 2, 64, 1, 1, 8);
        for (size_t block = 0; block < 16; block++)
            EXPECT(z.GetPhyAddr()[block] == *std::min_element(a.begin() + static_cast<long>(block * 8), a.begin() + static_cast<long>(block * 8 + 8)));
        ReduceDataBlock<ReduceType::MAX>(z, x, 64, 2, 1, 1, 8);
        for (size_t block = 0; block < 16; block++)
            EXPECT(z.GetPhyAddr()[block] == *std::max_element(a.begin() + static_cast<long>(block * 8), a.begin() + static_cast<long>(block * 8 + 8)));
        RepeatReduceSum(z, x, 2, 64, 1, 1, 1, 8);
        for (size_t repeat = 0; repeat < 2; repeat++) {
            float sum = 0;
            for (size_t at = 0; at < 64; at++) sum += a[repeat * 64 + at];
            EXPECT(z.GetPhyAddr()[repeat] == sum);
        }
    });
    EXPECT(said.empty());
}

TEST(comparisons_with_a_scalar_and_their_register)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        std::vector<float> a(64);
        for (size_t at = 0; at < 64; at++) a[at] = static_cast<float>(at % 5);
        auto x = check::put(pipe, a);
        auto bits = check::put(pipe, std::vector<uint8_t>(32));
        Compares(bits, x, 2.0f, CMPMODE::GE, 64);
        for (size_t at = 0; at < 64; at++) EXPECT((bits.GetPhyAddr()[at / 8] >> at % 8 & 1) == (at % 5 >= 2));
        SetCmpMask(bits);
        auto copy = check::put(pipe, std::vector<uint8_t>(32));
        GetCmpMask(copy);
        for (size_t at = 0; at < 8; at++) EXPECT(copy.GetPhyAddr()[at] == bits.GetPhyAddr()[at]);
    });
    EXPECT(said.empty());
}

TEST(blocks_are_gathered_by_byte_offsets)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        std::vector<uint16_t> a(512);
        for (size_t at = 0; at < 512; at++) a[at] = static_cast<uint16_t>(at);
        std::vector<uint32_t> offsets(16);
        for (size_t at = 0; at < 16; at++) offsets[at] = static_cast<uint32_t>((at * 7 + 3) % 32 * 32);
        auto x = check::put(pipe, a), z = check::put(pipe, std::vector<uint16_t>(256));
        auto at_blocks = check::put(pipe, offsets);
        Gatherb(z, x, at_blocks, 2, GatherRepeatParams{1, 8});
        for (size_t at = 0; at < 256; at++) EXPECT(z.GetPhyAddr()[at] == offsets[at / 16] / 2 + at % 16);
    });
    EXPECT(said.empty());
}

TEST(further_functions_of_one_tensor)
{
    struct Case {
        const char* name;
        float begin, end;
        void (*run)(const LocalTensor<float>&, const LocalTensor<float>&, uint32_t);
        double (*wanted)(double);
    };
#define CASE(Name, begin, end, wanted)                                                                                                               \
    {#Name, begin, end, [](const LocalTensor<float>& z, const LocalTensor<float>& x, uint32_t n) { Name(z, x, n); },                                  \
     []([[maybe_unused]] double x) -> double { return wanted; }}
    const Case cases[] = {
        CASE(Acos, -1, 1, std::acos(x)),
        CASE(Acosh, 1, 50, std::acosh(x)),
        CASE(Asin, -1, 1, std::asin(x)),
        CASE(Atanh, -0.99f, 0.99f, std::atanh(x)),
        CASE(Cosh, -20, 20, std::cosh(x)),
        CASE(Sinh, -20, 20, std::sinh(x)),
        CASE(Tan, -1.5f, 1.5f, std::tan(x)),
        CASE(Erfc, -4, 8, std::erfc(x)),
        CASE(Frac, -9, 9, x - std::trunc(x)),
        CASE(Lgamma, 0.1f, 40, std::lgamma(x)),
        CASE(Log, 1e-6f, 1000, std::log(x)),
        CASE(Log2, 1e-6f, 1000, std::log2(x)),
        CASE(Log10, 1e-6f, 1000, std::log10(x)),
        CASE(Rint, -9.5f, 9.5f, std::nearbyint(x)),
    };
#undef CASE
    for (const Case& one : cases) {
        std::vector<float> a;
        for (int at = 0; at <= 100; at++) a.push_back(one.begin + (one.end - one.begin) * static_cast<float>(at) / 100);
        const std::string said = check::run([&] {
            TPipe pipe;
            auto x = check::put(pipe, a, 104), z = check::put(pipe, std::vector<float>(104, -7.0f));
            one.run(z, x, 101);
            for (size_t at = 0; at < a.size(); at++) {
                const float wanted = static_cast<float>(one.wanted(a[at])), got = z.GetPhyAddr()[at];
                if (got == wanted || std::fabs(got - wanted) <= 1.2e-7f * std::fabs(wanted)) continue;
                check::report(__FILE__, __LINE__, std::string(one.name) + " of " + std::to_string(a[at]) + " is " + std::to_string(got));
            }
            EXPECT(z.GetPhyAddr()[101] == -7.0f);
        });
        EXPECT(said.empty());
    }
}

TEST(swish_and_exclusive_or)
{
    const auto a = check::values<uint16_t>(64, 5), b = check::values<uint16_t>(64, 6);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, std::vector<uint16_t>(64));
        Xor(z, x, y, 64);
        for (size_t at = 0; at < 64; at++) EXPECT(z.GetPhyAddr()[at] == (a[at] ^ b[at]));
        std::vector<float> c(64);
        for (size_t at = 0; at < 64; at++) c[at] = static_cast<float>(at) * 0.3f - 9;
        auto f = check::put(pipe, c), g = check::put(pipe, c);
        Swish(g, f, 64, 1.702f);
        for (size_t at = 0; at < 64; at++) {
            const double wanted = c[at] / (1 + std::exp(-double(1.702f) * c[at]));
            EXPECT(std::fabs(g.GetPhyAddr()[at] - wanted) <= 1.2e-7 * std::fabs(wanted) + 1e-12);
        }
    });
    EXPECT(said.empty());
}

TEST(bits_and_conversions_of_scalars)
{
    EXPECT(GetBitCount<1>(0xf0f0) == 8 && GetBitCount<0>(0xf0f0) == 56 && ScalarGetCountOfValue<1>(7) == 3);
    EXPECT(GetSFFValue<1>(0x50) == 4 && GetSFFValue<0>(0x7) == 3 && ScalarGetSFFValue<1>(0x8000000000000000ull) == 63);
    EXPECT(CountLeadingZero(1) == 63 && ScalarCountLeadingZero(0x8000000000000000ull) == 0 && CountLeadingZero(0) == 64);
    // 1.00390625 lies half-way between two values of bfloat16; the even one is 1.
    EXPECT(ToFloat(ToBfloat16(1.00390625f)) == 1.0f && ToFloat(ToBfloat16(1.01171875f)) == 1.015625f && ToFloat(ToBfloat16(-3.0f)) == -3.0f);
    EXPECT((ScalarCast<float, int32_t, RoundMode::CAST_RINT>(2.5f)) == 2 && (ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(2.5f)) == 3);
    EXPECT((ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(-2.5f)) == -3 && (ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(-2.5f)) == -2);
    EXPECT(GetDataBlockSizeInBytes() == 32);
    const std::string said = check::run([&] {
        TPipe pipe;
        EXPECT(GetTPipePtr() == &pipe);
        // A pair of a value and an index takes 8 bytes.
        EXPECT(GetSortLen<float>(32) == 64 && GetSortLen<half>(32) == 128 && GetSortOffset<float>(5) == 10 && GetSortOffset<half>(5) == 20);
    });
    EXPECT(said.empty());
}

TEST(sequences_and_the_memory_that_is_left)
{
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, std::vector<int32_t>(64, -1));
        ArithProgression(x, 5, 3, 40);
        for (int32_t at = 0; at < 64; at++) EXPECT(x.GetPhyAddr()[at] == (at < 40 ? 5 + 3 * at : -1));
        LocalTensor<float> rest;
        EXPECT((PopStackBuffer<float, TPosition::LCM>(rest)));
        EXPECT(rest.GetSize() > 0 && rest.GetSize() * 4 <= ASC_UB_SIZE);
        Duplicate(rest, 1.0f, static_cast<int32_t>(rest.GetSize()));
        EXPECT(x.GetPhyAddr()[0] == 5);
    });
    EXPECT(said.empty());
}

TEST(atomic_minima_and_fills_of_global_memory)
{
    std::vector<int32_t> memory = {5, -5, 7, 0, 1, 2, 3, 4}, filled(32, 9);
    const std::string said = check::run([&] {
        TPipe pipe;
        GlobalTensor<int32_t> global;
        global.SetGlobalBuffer(memory.data(), memory.size());
        auto x = check::put(pipe, std::vector<int32_t>{4, 4, 4, 4, 4, -4, 4, -4});
        SetAtomicMin<int32_t>();
        DataCopy(global, x, 8);
        SetAtomicNone();
        SetAtomicAdd<int32_t>();
        DataCopy(global, x, 8);
        DisableDmaAtomic();
        GlobalTensor<int32_t> other;
        other.SetGlobalBuffer(filled.data(), filled.size());
        InitGlobalMemory(other, 24, 3);
    });
    EXPECT(said.empty());
    EXPECT(memory == std::vector<int32_t>({8, -1, 8, 4, 5, -8, 7, -8}));
    for (size_t at = 0; at < 32; at++) EXPECT(filled[at] == (at < 24 ? 3 : 9));
}

} // namespace

int main()
{
    return check::finish("names");
}
