// Single operators again and again: the second half of the calls takes no more memory than the first half.
//
//     endurance [calls]

#include <unistd.h>

#include "program.h"

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_foreach_abs.h"
#include "aclnnop/aclnn_nonzero.h"
#include "aclnnop/aclnn_softmax.h"

// What an allocator may keep between two looks; a short run has not seen all that it keeps.
constexpr long MANY_CALLS = 500000, ALLOWED_KIB = 256, ALLOWED_KIB_SHORT = 1024;
constexpr size_t WORKSPACE = 1 << 16;

static long calls = 0;

static long resident_kib()
{
    long all = 0, resident = 0;
    FILE *file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%ld %ld", &all, &resident) == 2);
    std::fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

struct Cycle {
    Floats x{std::vector<float>(64, 2)}, y{std::vector<float>(64, 3)}, out{std::vector<float>(64, 0)};
    void *workspace = nullptr, *indices = nullptr;
    aclrtStream stream = nullptr;

    Cycle()
    {
        CHECK(aclrtCreateStream(&stream) == 0);
        CHECK(aclrtMalloc(&workspace, WORKSPACE, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
        CHECK(aclrtMalloc(&indices, 64 * 2 * sizeof(int64_t), ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    }
    Cycle(const Cycle &) = delete;
    Cycle &operator=(const Cycle &) = delete;
    ~Cycle()
    {
        CHECK(aclrtSynchronizeStream(stream) == 0 && aclrtDestroyStream(stream) == 0);
        CHECK(aclrtFree(workspace) == 0 && aclrtFree(indices) == 0);
    }

    // Calls the first phase of an addition; the caller destroys nothing but the executor.
    int plan_addition(void *to, int64_t length, aclOpExecutor **executor) const
    {
        aclTensor *a = tensor_of(x.address, {64}), *b = tensor_of(y.address, {length}), *c = tensor_of(to, {64});
        aclScalar *alpha = scalar_of(1);
        uint64_t size = 0;
        const int status = aclnnAddGetWorkspaceSize(a, b, alpha, c, &size, executor);
        ++calls;
        CHECK(aclDestroyTensor(a) == 0 && aclDestroyTensor(b) == 0 && aclDestroyTensor(c) == 0);
        CHECK(aclDestroyScalar(alpha) == 0);
        return status;
    }

    void addition() const
    {
        aclOpExecutor *executor = nullptr;
        CHECK(plan_addition(out.address, 64, &executor) == 0);
        CHECK(aclnnAdd(nullptr, 0, executor, stream) == 0);
        ++calls;
    }

    void refusals() const
    {
        aclOpExecutor *executor = nullptr;
        CHECK(plan_addition(out.address, 63, &executor) == 161002);
        CHECK(plan_addition(nullptr, 64, &executor) == 0);
        CHECK(aclnnAdd(nullptr, 0, executor, stream) == 161001);
        ++calls;
        CHECK(aclDestroyAclOpExecutor(executor) == 0);
        CHECK(aclnnAdd(nullptr, 0, executor, stream) == 561103);
        ++calls;
    }

    void repeated() const
    {
        aclOpExecutor *executor = nullptr;
        aclTensor *target = tensor_of(out.address, {64});
        CHECK(plan_addition(nullptr, 64, &executor) == 0);
        CHECK(aclSetAclOpExecutorRepeatable(executor) == 0);
        CHECK(aclSetTensorAddr(executor, 2, target, out.address) == 0);
        for (int run = 0; run < 3; ++run) {
            CHECK(aclnnAdd(nullptr, 0, executor, stream) == 0);
            ++calls;
        }
        CHECK(aclDestroyAclOpExecutor(executor) == 0 && aclDestroyTensor(target) == 0);
    }

    void intermediate_results() const
    {
        aclTensor *a = tensor_of(x.address, {4, 8}, {16, 2}), *b = tensor_of(out.address, {4, 8}, {1, 4});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        CHECK(aclnnSoftmaxGetWorkspaceSize(a, 0, b, &size, &executor) == 0 && size <= WORKSPACE);
        CHECK(aclnnSoftmax(workspace, size, executor, stream) == 0);
        calls += 2;
        CHECK(aclDestroyTensor(a) == 0 && aclDestroyTensor(b) == 0);
    }

    void lists() const
    {
        aclTensor *from[] = {tensor_of(x.address, {8}), tensor_of(y.address, {16})};
        aclTensor *to[] = {tensor_of(out.address, {8}), tensor_of(out.address, {16}, {1}, 8)};
        aclTensorList *inputs = aclCreateTensorList(from, 2), *outputs = aclCreateTensorList(to, 2);
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        CHECK(aclnnForeachAbsGetWorkspaceSize(inputs, outputs, &size, &executor) == 0 && size <= WORKSPACE);
        CHECK(aclnnForeachAbs(workspace, size, executor, stream) == 0);
        calls += 2;
        CHECK(aclDestroyTensorList(inputs) == 0 && aclDestroyTensorList(outputs) == 0);
    }

    void shape_of_the_result() const
    {
        const int64_t dims[] = {64, 1};
        aclTensor *a = tensor_of(x.address, {64});
        aclTensor *b = aclCreateTensor(dims, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims, 2, indices);
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        CHECK(aclnnNonzeroGetWorkspaceSize(a, b, &size, &executor) == 0 && size <= WORKSPACE);
        CHECK(aclnnNonzero(workspace, size, executor, stream) == 0);
        calls += 2;
        CHECK(aclDestroyTensor(a) == 0 && aclDestroyTensor(b) == 0);
    }

    void captured() const
    {
        aclmdlRI graph = nullptr;
        CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == 0);
        addition();
        lists();
        CHECK(aclmdlRICaptureEnd(stream, &graph) == 0);
        CHECK(aclmdlRIExecuteAsync(graph, stream) == 0 && aclmdlRIExecuteAsync(graph, stream) == 0);
        CHECK(aclrtSynchronizeStream(stream) == 0 && aclmdlRIDestroy(graph) == 0);
    }

    void run(long number) const
    {
        addition();
        refusals();
        repeated();
        intermediate_results();
        lists();
        if (number % 10 == 0) {
            shape_of_the_result();
        }
        if (number % 50 == 0) {
            captured();
        }
    }

    // Runs cycles until so many calls were made.
    void run_until(long wanted) const
    {
        for (long number = 0; calls < wanted; ++number) {
            run(number);
        }
        CHECK(aclrtSynchronizeStream(stream) == 0);
    }
};

int main(int argc, char **argv)
{
    const long wanted = argc > 1 ? std::atol(argv[1]) : 20000;
    CHECK(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    {
        const Cycle cycle;
        cycle.run_until(wanted / 2);
        const long half = resident_kib();
        cycle.run_until(wanted);
        const long more = resident_kib() - half;
        std::printf("%ld calls, resident %ld KiB, then %+ld\n", calls, half, more);
        CHECK(more < (wanted >= MANY_CALLS ? ALLOWED_KIB : ALLOWED_KIB_SHORT));
    }
    CHECK(aclrtResetDevice(0) == 0 && aclFinalize() == 0);
}
