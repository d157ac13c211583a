// What the unit tests share: a kernel is a lambda that runs as one block or as several, and expectations count their failures.
#ifndef JUMAR_TESTS_ASCENDC_CHECK_H
#define JUMAR_TESTS_ASCENDC_CHECK_H

#ifndef __global__
#define __global__
#endif
#include "kernel_operator.h"

#include <cstdio>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace AscendC;

namespace check {

inline int failures = 0;
inline const char* test_name = "";
inline int tests = 0;

inline void report(const char* file, int line, const std::string& text)
{
    if (++failures <= 40) std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, test_name, text.c_str());
}

struct Test {
    Test(const char* name, void (*run)())
    {
        test_name = name;
        tests++;
        run();
    }
};

// Runs a kernel and returns what the first failing block reported; an empty text if none failed.
template <typename Kernel> std::string run(Kernel kernel, uint32_t blocks = 1, bool together = false)
{
    std::string text;
    const jumar::ascendc::BlockBody body = kernel;
    const jumar::ascendc::BlockFailed failed = [&](uint32_t block, const char* why) {
        if (text.empty()) text = std::to_string(block) + ": " + why;
    };
    jumar::ascendc::run_blocks(0, blocks, blocks, together, body, failed);
    return text;
}

// A tensor of UB that holds values.
template <typename T> LocalTensor<T> put(TPipe& pipe, const std::vector<T>& values, size_t capacity = 0)
{
    TBuf<TPosition::VECCALC> buffer;
    const size_t elements = capacity > values.size() ? capacity : values.size();
    pipe.InitBuffer(buffer, static_cast<uint32_t>(elements * sizeof(T)));
    LocalTensor<T> tensor = buffer.Get<T>();
#if JUMAR_ASCENDC_CHECK < 2
    // The values are those of a copy that is not done yet (ascendc/deferred.h): every function has to do it, or to read its source.
    static std::deque<std::vector<T>> sources;
    sources.push_back(values);
    tensor.buffer()->source = reinterpret_cast<const uint8_t*>(sources.back().data());
    tensor.buffer()->source_bytes = static_cast<uint32_t>(values.size() * sizeof(T));
#else
    for (size_t at = 0; at < values.size(); at++) tensor.GetPhyAddr()[at] = values[at];
#endif
    return tensor;
}
template <typename T> std::vector<T> get(const LocalTensor<T>& tensor, size_t elements)
{
    return std::vector<T>(tensor.GetPhyAddr(), tensor.GetPhyAddr() + elements);
}

// Equal bits, with every NaN equal to every other.
template <typename T> bool same(T a, T b)
{
    if (a != a && b != b) return true;
    return std::memcmp(&a, &b, sizeof a) == 0;
}
template <typename T> std::string show(T value)
{
    return jumar::ascendc::element_text(value);
}

template <typename T> void equal(const std::vector<T>& got, const std::vector<T>& wanted, const char* file, int line)
{
    if (got.size() != wanted.size()) return report(file, line, "sizes differ");
    for (size_t at = 0; at < got.size(); at++) {
        if (same(got[at], wanted[at])) continue;
        return report(file, line, "element " + std::to_string(at) + " is " + show(got[at]) + ", wanted " + show(wanted[at]));
    }
}

// Values of a type: edge values first, then random ones.
template <typename T> std::vector<T> values(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<T> all;
    if constexpr (jumar::ascendc::is_float<T>) {
        const float limit = sizeof(T) == 2 ? 65504.0f : 3.4e38f;
        for (float edge : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1.5f, 2.5f, -2.5f, limit, -limit, INFINITY, -INFINITY, NAN, 6e-8f, -6e-8f, 65519.0f})
            all.push_back(static_cast<T>(edge));
        std::uniform_real_distribution<float> any(-300, 300);
        while (all.size() < count) all.push_back(static_cast<T>(any(random)));
    } else {
        for (long long edge : {0ll, 1ll, -1ll, 2ll, 7ll, static_cast<long long>(std::numeric_limits<T>::max()),
                               static_cast<long long>(std::numeric_limits<T>::min())})
            all.push_back(static_cast<T>(edge));
        while (all.size() < count) all.push_back(static_cast<T>(random()));
    }
    all.resize(count);
    // The edges meet different partners.
    std::shuffle(all.begin(), all.end(), random);
    return all;
}

inline int finish(const char* name)
{
    std::printf("%s: %d tests, %d failures\n", name, tests, failures);
    return failures != 0 || tests == 0;
}

} // namespace check

#define EXPECT(condition)                                                                                                                            \
    do {                                                                                                                                             \
        if (!(condition)) check::report(__FILE__, __LINE__, #condition);                                                                             \
    } while (0)
// What check::run has returned.
#define EXPECT_RUNS(said)                                                                                                                            \
    do {                                                                                                                                             \
        if (!(said).empty()) check::report(__FILE__, __LINE__, said);                                                                                \
    } while (0)
#define EXPECT_EQUAL(got, wanted) check::equal(got, wanted, __FILE__, __LINE__)
#define EXPECT_FAILS(kernel, part)                                                                                                                   \
    do {                                                                                                                                             \
        const std::string said = check::run kernel;                                                                                                  \
        if (said.find(part) == std::string::npos) check::report(__FILE__, __LINE__, "reported \"" + said + "\", wanted \"" + (part) + "\"");          \
    } while (0)
#define TEST(name)                                                                                                                                   \
    static void name();                                                                                                                              \
    static const check::Test test_of_##name(#name, &name);                                                                                           \
    static void name()

#endif
