// Operators one by one: how long a call of each takes. `cargo xtask bench operators` runs it from operators.py.
//
//     operators table|bandwidth|overhead|products
//
// Prints a line for each measurement: its name, a tab, and microseconds. A call is both phases; the stream is synchronised once
// for all calls of a round.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addcmul.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_amax.h"
#include "aclnnop/aclnn_argmax.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_clamp.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_cumsum.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_erf.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_leaky_relu.h"
#include "aclnnop/aclnn_log.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_maximum.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_reciprocal.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_rsqrt.h"
#include "aclnnop/aclnn_s_where.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_silu.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_sort.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_sub.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_topk.h"
#include "aclnnop/aclnn_var.h"

typedef std::vector<int64_t> Dims;

static void check(int status, const char *what)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s: %d %s\n", what, status, text ? text : "");
        std::exit(1);
    }
}

static double now()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Multiples of 1/8 between 1/8 and 2, exact in every type.
static uint32_t encoded(aclDataType type, size_t index)
{
    const float value = static_cast<float>(index % 16 + 1) / 8;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    if (type == ACL_BF16) return bits >> 16;
    if (type == ACL_FLOAT16) return ((bits >> 23) - 127 + 15) << 10 | ((bits >> 13) & 0x3ff);
    return bits;
}

static size_t size_of(aclDataType type)
{
    switch (type) {
    case ACL_INT64: return 8;
    case ACL_FLOAT: return 4;
    case ACL_BOOL: return 1;
    default: return 2;
    }
}

static int64_t elements(const Dims &dims)
{
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    return count;
}

// Device memory and tensors live until the process ends: a benchmark measures, it does not clean up.
static void *memory(size_t bytes)
{
    void *address = nullptr;
    check(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return address;
}

static aclTensor *view(void *address, aclDataType type, const Dims &dims, const Dims &strides, const Dims &storage)
{
    aclTensor *tensor = aclCreateTensor(
        dims.data(), dims.size(), type, strides.data(), 0, ACL_FORMAT_ND, storage.data(), storage.size(), address);
    check(tensor == nullptr, "aclCreateTensor");
    return tensor;
}

static Dims dense(const Dims &dims)
{
    Dims strides(dims.size(), 1);
    for (size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
    return strides;
}

static void *filled(aclDataType type, int64_t count, int64_t limit = 0)
{
    const size_t size = size_of(type);
    std::vector<unsigned char> bytes(static_cast<size_t>(count) * size);
    for (int64_t index = 0; index < count; ++index) {
        unsigned char *to = bytes.data() + static_cast<size_t>(index) * size;
        if (type == ACL_INT64) {
            const int64_t value = limit ? index * 7919 % limit : index;
            std::memcpy(to, &value, size);
        } else if (type == ACL_BOOL) {
            *to = index % 3 == 0;
        } else {
            // A permutation of sorts: neighbours differ.
            const uint32_t value = encoded(type, static_cast<size_t>(index) * 2654435761u >> 7);
            std::memcpy(to, &value, size);
        }
    }
    void *address = memory(bytes.size());
    check(aclrtMemcpy(address, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    return address;
}

static aclTensor *tensor(aclDataType type, const Dims &dims, int64_t limit = 0)
{
    return view(filled(type, elements(dims), limit), type, dims, dense(dims), dims);
}

static aclScalar *scalar(float value)
{
    return aclCreateScalar(&value, ACL_FLOAT);
}

static aclIntArray *ints(const Dims &values)
{
    return aclCreateIntArray(values.data(), values.size());
}

typedef std::function<aclnnStatus(uint64_t *, aclOpExecutor **)> First;
typedef aclnnStatus (*Second)(void *, uint64_t, aclOpExecutor *, aclrtStream);

static aclrtStream stream = nullptr;
static void *workspace = nullptr;
static uint64_t workspace_bytes = 0;

static void call(const char *name, const First &first, Second second)
{
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    check(first(&bytes, &executor), name);
    if (bytes > workspace_bytes) {
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        if (workspace) check(aclrtFree(workspace), "aclrtFree");
        workspace = memory(bytes);
        workspace_bytes = bytes;
    }
    check(second(bytes ? workspace : nullptr, bytes, executor, stream), name);
}

// The shortest of several rounds, each of as many calls as take a hundredth of a second.
static double measured(const char *name, const First &first, Second second)
{
    auto round = [&](long count) {
        const double start = now();
        for (long index = 0; index < count; ++index) call(name, first, second);
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        return (now() - start) / static_cast<double>(count);
    };
    round(1);
    const double once = round(1);
    const long count = std::max(1L, std::min(10000L, static_cast<long>(1e4 / std::max(once, 0.1))));
    double best = once;
    const double start = now();
    for (int index = 0; index < 20 && (index < 3 || now() - start < 2e5); ++index) best = std::min(best, round(count));
    return best;
}

static void row(const std::string &name, double value)
{
    std::printf("%s\t%.4f\n", name.c_str(), value);
    std::fflush(stdout);
}

// What is measured: names that contain this, the type and the size included.
static std::string only;

#define MEASURE(name, op, ...) \
    if ((name).find(only) != std::string::npos) row(name, measured(#op, [&](uint64_t *bytes, aclOpExecutor **executor) { \
        return op##GetWorkspaceSize(__VA_ARGS__, bytes, executor); \
    }, op))

static const struct {
    aclDataType type;
    const char *name;
} TYPES[] = {{ACL_FLOAT, "float32"}, {ACL_BF16, "bfloat16"}, {ACL_FLOAT16, "float16"}};

// The operators of operators.py, by the same names, sizes and values of attributes.
static void table()
{
    for (const auto &kind : TYPES) {
        const aclDataType t = kind.type;
        for (const bool large : {false, true}) {
            const std::string end = std::string("|") + kind.name + (large ? "|large" : "|small");
            const int64_t n = large ? 2048 : 4, depth = large ? 512 : 4;
            const Dims square = {n, n}, column = {n}, batch = {4, depth / 4, depth / 4};
            aclTensor *a = tensor(t, square), *b = tensor(t, square), *c = tensor(t, square), *out = tensor(t, square);
            aclTensor *line = tensor(t, column), *mask = tensor(ACL_BOOL, square), *index = tensor(ACL_INT64, column, n);
            aclTensor *positions = tensor(ACL_INT64, column), *order = tensor(ACL_INT64, square), *best = tensor(ACL_INT64, {n, 2});
            aclTensor *few = tensor(t, {n, 2}), *twice = tensor(t, {2 * n, n}), *row_of = tensor(t, column);
            aclTensor *x = tensor(t, {depth, depth}), *y = tensor(t, {depth, depth}), *z = tensor(t, {depth, depth});
            aclTensor *batch_x = tensor(t, batch), *batch_y = tensor(t, batch), *batch_z = tensor(t, batch);
            aclTensor *mean = tensor(ACL_FLOAT, {n, 1}), *rstd = tensor(ACL_FLOAT, {n, 1});
            aclTensor *turned = view(filled(t, n * n), t, square, {1, n}, square);
            aclTensor *wide = tensor(t == ACL_FLOAT ? ACL_FLOAT16 : ACL_FLOAT, square);
            const aclDataType other = t == ACL_FLOAT ? ACL_FLOAT16 : ACL_FLOAT;
            aclTensor *list[] = {a, b};
            aclTensorList *both = aclCreateTensorList(list, 2);
            aclScalar *one = scalar(1), *half = scalar(0.5f), *two = scalar(2);
            aclIntArray *last = ints({1}), *first = ints({0}), *normal = ints({n});
            MEASURE("abs" + end, aclnnAbs, a, out);
            MEASURE("neg" + end, aclnnNeg, a, out);
            MEASURE("exp" + end, aclnnExp, a, out);
            MEASURE("log" + end, aclnnLog, a, out);
            MEASURE("sqrt" + end, aclnnSqrt, a, out);
            MEASURE("rsqrt" + end, aclnnRsqrt, a, out);
            MEASURE("reciprocal" + end, aclnnReciprocal, a, out);
            MEASURE("sin" + end, aclnnSin, a, out);
            MEASURE("tanh" + end, aclnnTanh, a, out);
            MEASURE("erf" + end, aclnnErf, a, out);
            MEASURE("sigmoid" + end, aclnnSigmoid, a, out);
            MEASURE("relu" + end, aclnnRelu, a, out);
            MEASURE("leaky_relu" + end, aclnnLeakyRelu, a, half, out);
            MEASURE("gelu" + end, aclnnGelu, a, out);
            MEASURE("silu" + end, aclnnSilu, a, out);
            MEASURE("clamp" + end, aclnnClamp, a, half, one, out);
            MEASURE("add" + end, aclnnAdd, a, b, one, out);
            MEASURE("sub" + end, aclnnSub, a, b, one, out);
            MEASURE("mul" + end, aclnnMul, a, b, out);
            MEASURE("div" + end, aclnnDiv, a, b, out);
            MEASURE("maximum" + end, aclnnMaximum, a, b, out);
            MEASURE("pow" + end, aclnnPowTensorScalar, a, two, out);
            MEASURE("add a row" + end, aclnnAdd, a, line, one, out);
            MEASURE("addcmul" + end, aclnnAddcmul, a, b, c, half, out);
            MEASURE("where" + end, aclnnSWhere, mask, a, b, out);
            MEASURE("sum, last axis" + end, aclnnReduceSum, a, last, false, t, row_of);
            MEASURE("sum, first axis" + end, aclnnReduceSum, a, first, false, t, row_of);
            MEASURE("mean" + end, aclnnMean, a, last, false, t, row_of);
            MEASURE("amax" + end, aclnnAmax, a, last, false, row_of);
            MEASURE("argmax" + end, aclnnArgMax, a, 1, false, positions);
            MEASURE("var" + end, aclnnVarCorrection, a, last, 1, false, row_of);
            MEASURE("cumsum" + end, aclnnCumsum, a, 1, t, out);
            MEASURE("softmax" + end, aclnnSoftmax, a, 1, out);
            MEASURE("log_softmax" + end, aclnnLogSoftmax, a, 1, out);
            MEASURE("layer_norm" + end, aclnnLayerNorm, a, normal, line, line, 1e-5, out, mean, rstd);
            MEASURE("matmul" + end, aclnnMatmul, x, y, z, 0);
            MEASURE("bmm" + end, aclnnBatchMatMul, batch_x, batch_y, batch_z, 0);
            MEASURE("addmm" + end, aclnnAddmm, x, x, y, one, one, z, 0);
            MEASURE("index_select" + end, aclnnIndexSelect, a, 0, index, out);
            MEASURE("embedding" + end, aclnnEmbedding, a, index, out);
            MEASURE("topk" + end, aclnnTopk, a, 2, 1, true, true, few, best);
            MEASURE("sort" + end, aclnnSort, a, true, 1, false, out, order);
            MEASURE("cat" + end, aclnnCat, both, 0, twice);
            MEASURE("copy, transposed" + end, aclnnInplaceCopy, out, turned);
            MEASURE("cast" + end, aclnnCast, a, other, wide);
            if (!large) continue;
            const int64_t tokens = 2048;
            const Dims heads = {1, 8, tokens, 64}, figures = {1, 8, tokens, 8};
            aclTensor *q = tensor(t, heads), *k = tensor(t, heads), *v = tensor(t, heads), *attention = tensor(t, heads);
            aclTensor *largest = tensor(ACL_FLOAT, figures), *sums = tensor(ACL_FLOAT, figures);
            aclTensor *dq = tensor(t, heads), *dk = tensor(t, heads), *dv = tensor(t, heads);
            char layout[] = "BNSD";
            MEASURE("attention, 2,048 tokens, 8 heads of 64" + end, aclnnFlashAttentionScore, q, k, v, nullptr, nullptr, nullptr, nullptr, nullptr,
                0.125, 1.0, tokens, tokens, 8, layout, 0, 0, largest, sums, nullptr, attention);
            MEASURE("its gradient" + end, aclnnFlashAttentionScoreGrad, q, k, v, attention, nullptr, nullptr, nullptr, nullptr, largest, sums, nullptr,
                attention, nullptr, 0.125, 1.0, tokens, tokens, 8, layout, 0, 0, dq, dk, dv, nullptr);
        }
    }
}

// The time to read and write as many bytes as an operator does, by plain copies of all threads.
static double streamed(size_t threads, double bytes)
{
    const size_t size = size_t(64) << 20;
    std::vector<char> from(size, 1), to(size, 2);
    double best = 1e18;
    for (int round = 0; round < 10; ++round) {
        const double start = now();
        std::vector<std::thread> workers;
        for (size_t part = 0; part < threads; ++part) {
            workers.emplace_back([&, part] {
                const size_t low = size / threads * part;
                std::memcpy(to.data() + low, from.data() + low, size / threads);
            });
        }
        for (std::thread &worker : workers) worker.join();
        best = std::min(best, now() - start);
    }
    return best * bytes / (2.0 * static_cast<double>(size));
}

#define AGAINST(name, moved, op, ...) \
    if (std::string(name).find(only) != std::string::npos) do { \
        row(std::string(name) + "|limit", streamed(threads, moved)); \
        MEASURE(std::string(name), op, __VA_ARGS__); \
    } while (0)

static void bandwidth(size_t threads)
{
    const int64_t n = 4096;
    const aclDataType t = ACL_FLOAT;
    const double moved = static_cast<double>(n * n) * 4;
    const Dims square = {n, n}, cube = {64, 64, n};
    aclTensor *a = tensor(t, square), *b = tensor(t, square), *out = tensor(t, square), *line = tensor(t, {n});
    aclTensor *wide = tensor(t, cube), *row_of = tensor(t, {n}), *middle = tensor(t, {64, n});
    aclTensor *low = tensor(ACL_BF16, square), *mean = tensor(t, {n, 1}), *rstd = tensor(t, {n, 1});
    aclTensor *turned = view(filled(t, n * n), t, square, {1, n}, square);
    aclTensor *stepped = view(filled(t, 2 * n * n), t, square, {2 * n, 2}, {2 * n * n});
    aclScalar *one = scalar(1);
    aclIntArray *first = ints({0}), *last = ints({1}), *normal = ints({n});
    AGAINST("copy", 2 * moved, aclnnInplaceCopy, out, a);
    AGAINST("add", 3 * moved, aclnnAdd, a, b, one, out);
    AGAINST("add a row", 2 * moved, aclnnAdd, a, line, one, out);
    AGAINST("relu", 2 * moved, aclnnRelu, a, out);
    AGAINST("cast to bfloat16", 1.5 * moved, aclnnCast, a, ACL_BF16, low);
    AGAINST("sum, last axis", moved, aclnnReduceSum, a, last, false, t, row_of);
    AGAINST("sum, first axis", moved, aclnnReduceSum, a, first, false, t, row_of);
    AGAINST("sum, middle axis", moved, aclnnReduceSum, wide, last, false, t, middle);
    AGAINST("softmax", 2 * moved, aclnnSoftmax, a, 1, out);
    AGAINST("layer norm", 2 * moved, aclnnLayerNorm, a, normal, line, line, 1e-5, out, mean, rstd);
    AGAINST("copy, transposed view", 2 * moved, aclnnInplaceCopy, out, turned);
    AGAINST("add, transposed view", 3 * moved, aclnnAdd, turned, b, one, out);
    AGAINST("copy, every second element", 3 * moved, aclnnInplaceCopy, out, stepped);
    AGAINST("sum, last axis, transposed view", moved, aclnnReduceSum, turned, last, false, t, row_of);
}

static void overhead()
{
    aclTensor *a = tensor(ACL_FLOAT, {8}), *b = tensor(ACL_FLOAT, {8}), *out = tensor(ACL_FLOAT, {8});
    aclScalar *one = scalar(1);
    MEASURE(std::string("aclnnAdd of 8 elements: both phases"), aclnnAdd, a, b, one, out);
    const int64_t dims[] = {8}, strides[] = {1};
    void *address = memory(32);
    double best = 1e18;
    for (int round = 0; round < 50; ++round) {
        const double start = now();
        for (int index = 0; index < 1000; ++index) {
            aclTensor *four[4];
            for (aclTensor *&each : four) each = aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, address);
            for (aclTensor *each : four) aclDestroyTensor(each);
        }
        best = std::min(best, (now() - start) / 1000);
    }
    row("aclCreateTensor and aclDestroyTensor, four of each", best);

    const int captured = 1000;
    aclmdlRI model = nullptr;
    check(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), "aclmdlRICaptureBegin");
    for (int index = 0; index < captured; ++index) {
        call("aclnnAdd", [&](uint64_t *bytes, aclOpExecutor **executor) { return aclnnAddGetWorkspaceSize(a, b, one, out, bytes, executor); }, aclnnAdd);
    }
    check(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    best = 1e18;
    for (int round = 0; round < 50; ++round) {
        const double start = now();
        check(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        best = std::min(best, (now() - start) / captured);
    }
    check(aclmdlRIDestroy(model), "aclmdlRIDestroy");
    row("replay of 1,000 captured aclnnAdd of 8 elements, an operator with its kernel", best);
}

// Products of square matrices, as they lie and as transposed views.
static void products()
{
    const int64_t n = 1024;
    const Dims square = {n, n};
    aclTensor *a[2], *b[2], *out = tensor(ACL_FLOAT, square);
    for (aclTensor **pair : {a, b}) {
        void *address = filled(ACL_FLOAT, n * n);
        pair[0] = view(address, ACL_FLOAT, square, {n, 1}, square);
        pair[1] = view(address, ACL_FLOAT, square, {1, n}, square);
    }
    for (const bool first : {false, true}) {
        for (const bool second : {false, true}) {
            const std::string name = std::to_string(first) + std::to_string(second);
            MEASURE(name, aclnnMatmul, a[first], b[second], out, 0);
        }
    }
}

int main(int count, char **arguments)
{
    const std::string what = count > 1 ? arguments[1] : "";
    only = count > 2 ? arguments[2] : "";
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    if (what == "table") {
        table();
    } else if (what == "bandwidth") {
        const char *workers = std::getenv("JUMAR_WORKERS");
        bandwidth(workers ? std::max(1, std::atoi(workers)) : 1);
    } else if (what == "overhead") {
        overhead();
    } else if (what == "products") {
        products();
    } else {
        std::fprintf(stderr, "usage: operators table|bandwidth|overhead|products [part of a name]\n");
        return 2;
    }
    return 0;
}
