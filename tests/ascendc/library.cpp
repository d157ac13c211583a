// Functions of the library above the vector unit, and kernels that are called without a stream.
#include "tikicpulib.h"

#include "check.h"

namespace {

TEST(functions_of_one_tensor)
{
    std::vector<float> a;
    for (int at = 0; at < 64; at++) a.push_back(static_cast<float>(at - 32) * 0.37f);
    struct Case {
        void (*run)(const LocalTensor<float>&, const LocalTensor<float>&, uint32_t);
        double (*wanted)(double);
    };
#define CASE(Name, wanted) {[](const LocalTensor<float>& z, const LocalTensor<float>& x, uint32_t n) { Name(z, x, n); }, [](double x) -> double { return wanted; }}
    const Case cases[] = {
        CASE(Ceil, std::ceil(x)),
        CASE(Floor, std::floor(x)),
        CASE(Round, std::nearbyint(x)),
        CASE(Trunc, std::trunc(x)),
        CASE(Sign, (x > 0) - (x < 0)),
        CASE(Sigmoid, 1 / (1 + std::exp(-x))),
        CASE(Silu, x / (1 + std::exp(-x))),
        CASE(Gelu, 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))),
        CASE(FasterGelu, x / (1 + std::exp(-1.702 * x))),
        CASE(Sin, std::sin(x)),
        CASE(Cos, std::cos(x)),
        CASE(Tanh, std::tanh(x)),
        CASE(Atan, std::atan(x)),
        CASE(Asinh, std::asinh(x)),
        CASE(Erf, std::erf(x)),
    };
    int number = 0;
    for (const Case& one : cases) {
        const std::string said = check::run([&] {
            TPipe pipe;
            auto x = check::put(pipe, a), z = check::put(pipe, a);
            one.run(z, x, 64);
            for (size_t at = 0; at < a.size(); at++) {
                const double wanted = one.wanted(a[at]), got = z.GetPhyAddr()[at];
                if (!(std::fabs(got - wanted) <= 1.2e-7 * std::fabs(wanted) + 1e-12))
                    check::report(__FILE__, __LINE__, "case " + std::to_string(number) + " of " + std::to_string(a[at]) + " is " + std::to_string(got));
            }
        });
        EXPECT(said.empty());
        number++;
    }
}

TEST(functions_of_two_tensors)
{
    std::vector<float> a, b;
    for (int at = 0; at < 64; at++) {
        a.push_back(0.1f + static_cast<float>(at));
        b.push_back(static_cast<float>(at % 7) - 2.5f);
    }
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), y = check::put(pipe, b), z = check::put(pipe, a);
        auto tmp = check::put(pipe, std::vector<uint8_t>(64));
        Power(z, x, y, tmp, 64);
        for (size_t at = 0; at < 64; at++) EXPECT(std::fabs(z.GetPhyAddr()[at] / std::pow(double(a[at]), double(b[at])) - 1) < 1.2e-7);
        Power(z, x, 2.0f, 64);
        for (size_t at = 0; at < 64; at++) EXPECT(z.GetPhyAddr()[at] == static_cast<float>(double(a[at]) * a[at]));
        Fmod(z, x, y, 64);
        for (size_t at = 0; at < 64; at++) EXPECT(z.GetPhyAddr()[at] == static_cast<float>(std::fmod(double(a[at]), double(b[at]))));
        SwiGLU(z, x, y, 1.5f, 64);
        for (size_t at = 0; at < 64; at++) {
            const double wanted = double(a[at]) * b[at] / (1 + std::exp(-1.5 * b[at]));
            EXPECT(std::fabs(z.GetPhyAddr()[at] - wanted) <= 1.2e-7 * std::fabs(wanted));
        }
        ClampMax(z, x, 10.0f, 64);
        ClampMin(z, z, 5.0f, 64);
        for (size_t at = 0; at < 64; at++) EXPECT(z.GetPhyAddr()[at] == std::fmin(std::fmax(a[at], 5.0f), 10.0f));
        auto n = check::put(pipe, std::vector<int32_t>{2, -3, 5, -1, 0, 7, 1, 2}), power = check::put(pipe, std::vector<int32_t>(8));
        Power(power, n, 3, 8);
        EXPECT(check::get(power, 8) == std::vector<int32_t>({8, -27, 125, -1, 0, 343, 1, 8}));
    });
    EXPECT(said.empty());
}

TEST(sums_of_rows_and_broadcasts)
{
    std::vector<float> a(48);
    for (size_t at = 0; at < 48; at++) a[at] = static_cast<float>(at);
    const std::string said = check::run([&] {
        TPipe pipe;
        auto x = check::put(pipe, a), z = check::put(pipe, std::vector<float>(48));
        Sum(z, x, SumParams{3, 16, 10});
        for (int row = 0; row < 3; row++) EXPECT(z.GetPhyAddr()[row] == static_cast<float>(row * 160 + 45));
        const uint32_t to[] = {3, 8}, column[] = {3, 1}, line[] = {1, 8};
        Broadcast<float, 2, 1>(z, x, to, column);
        for (int at = 0; at < 24; at++) EXPECT(z.GetPhyAddr()[at] == a[static_cast<size_t>(at / 8)]);
        Broadcast<float, 2, 0>(z, x, to, line);
        for (int at = 0; at < 24; at++) EXPECT(z.GetPhyAddr()[at] == a[static_cast<size_t>(at % 8)]);
    });
    EXPECT(said.empty());
}

void twice(GM_ADDR x, uint32_t scale)
{
    reinterpret_cast<__gm__ uint32_t*>(x)[GetBlockIdx()] = static_cast<uint32_t>(GetBlockIdx()) * scale + (TILING_KEY_IS(3) ? 1 : 0);
}

TEST(kernels_run_without_a_stream)
{
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    uint8_t* x = static_cast<uint8_t*>(AscendC::GmAlloc(16 * 4));
    ICPU_SET_TILING_KEY(3);
    ICPU_RUN_KF(twice, 16, x, 5u);
    for (uint32_t at = 0; at < 16; at++) EXPECT(reinterpret_cast<uint32_t*>(x)[at] == at * 5 + 1);
    AscendC::GmFree(x);
}

struct ThreeNumbers {
    uint32_t first, second, third;
};

TEST(tiling_data_that_is_shorter_than_the_structure)
{
    static const uint32_t numbers[3] = {5, 6, 7};
    auto with = [](uint64_t bytes, void (*kernel)(GM_ADDR)) {
        return check::run([=] {
            jumar::ascendc::Core& self = jumar::ascendc::core();
            self.has_tiling = true;
            self.tiling = numbers;
            self.tiling_bytes = bytes;
            self.tiling_key = 9;
            kernel((GM_ADDR)numbers);
        });
    };
    auto read = [](GM_ADDR tiling) {
        GET_TILING_DATA_WITH_STRUCT(ThreeNumbers, data, tiling);
        EXPECT(data.first == 5 && data.third == 7);
        EXPECT(TILING_KEY_IS(9) && !TILING_KEY_IS(3));
        GET_TILING_DATA_MEMBER(ThreeNumbers, second, second, tiling);
        EXPECT(second == 6);
    };
    EXPECT(with(12, read).empty());
    EXPECT(with(8, read).find("the kernel reads 12 bytes of tiling data from byte 0 on, and the tiling function has written 8") != std::string::npos);
    EXPECT(with(12, [](GM_ADDR) {
               GET_TILING_DATA_WITH_STRUCT(ThreeNumbers, data, nullptr);
               static_cast<void>(data);
           }).find("the tiling data's address is null") != std::string::npos);
}

} // namespace

int main()
{
    return check::finish("library");
}
