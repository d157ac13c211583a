// One operator from end to end: dense and strided tensors, queued work that outlives its descriptions, executors that run
// many times, capture, a pause, and what is refused.

#include "program.h"

#include <chrono>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_foreach_abs.h"
#include "aclnnop/aclnn_sleep.h"
#include "aclnnop/level2/aclnn_mul.h"

using Values = std::vector<float>;

static const Values ONE_TO_EIGHT = {1, 2, 3, 4, 5, 6, 7, 8};
static const Values TENS = {10, 20, 30, 40, 50, 60, 70, 80};

// A stream whose tasks do not start before `open`, so that what follows a queued call is seen to come before its task.
struct HeldStream {
    aclrtStream stream = nullptr, other = nullptr;
    aclrtEvent gate = nullptr;

    HeldStream()
    {
        CHECK(aclrtCreateStream(&stream) == 0 && aclrtCreateStream(&other) == 0);
        CHECK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC) == 0);
        CHECK(aclrtStreamWaitEvent(stream, gate) == 0);
    }
    void open() { CHECK(aclrtRecordEvent(gate, other) == 0); }
    ~HeldStream()
    {
        CHECK(aclrtSynchronizeStream(stream) == 0);
        CHECK(aclrtDestroyStream(stream) == 0 && aclrtDestroyStream(other) == 0 && aclrtDestroyEvent(gate) == 0);
    }
};

static void synchronize(aclrtStream stream) { CHECK(aclrtSynchronizeStream(stream) == 0); }

// out = self + alpha * other, with all descriptions destroyed as soon as the second phase has returned.
static void add(aclTensor *self, aclTensor *other, float alpha, aclTensor *out, aclrtStream stream)
{
    aclScalar *scalar = scalar_of(alpha);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnAddGetWorkspaceSize(self, other, scalar, out, &size, &executor) == OK);
    void *workspace = nullptr;
    if (size > 0) {
        CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    }
    CHECK(aclnnAdd(workspace, size, executor, stream) == OK);
    CHECK(aclDestroyTensor(self) == 0 && aclDestroyTensor(other) == 0 && aclDestroyTensor(out) == 0);
    CHECK(aclDestroyScalar(scalar) == 0);
}

static void descriptions_are_gone_when_the_task_runs()
{
    Floats self(ONE_TO_EIGHT), other(TENS), out(Values(8, 0));
    {
        HeldStream held;
        add(tensor_of(self.address, {8}), tensor_of(other.address, {8}), 2, tensor_of(out.address, {8}), held.stream);
        CHECK(out.read() == Values(8, 0));
        held.open();
    }
    CHECK(out.read() == Values({21, 42, 63, 84, 105, 126, 147, 168}));
}

static void null_is_the_default_stream()
{
    Floats self(ONE_TO_EIGHT), other(TENS), out(Values(8, 0));
    add(tensor_of(self.address, {8}), tensor_of(other.address, {8}), 1, tensor_of(out.address, {8}), nullptr);
    synchronize(nullptr);
    CHECK(out.read() == Values({11, 22, 33, 44, 55, 66, 77, 88}));
}

static void views()
{
    Floats self(ONE_TO_EIGHT), other(TENS), out(Values(8, -1));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == 0);
    // [[1, 3], [2, 4]] is [[1, 2], [3, 4]] with its strides exchanged; one row is broadcast; every second element is written.
    add(tensor_of(self.address, {2, 2}, {1, 2}), tensor_of(other.address, {1, 2}, {0, 1}, 2), 1,
        tensor_of(out.address, {2, 2}, {4, 2}, 1), stream);
    synchronize(stream);
    CHECK(out.read() == Values({-1, 31, -1, 43, -1, 32, -1, 44}));
    // In place: out is self.
    add(tensor_of(self.address, {8}), tensor_of(other.address, {8}), 1, tensor_of(self.address, {8}), stream);
    synchronize(stream);
    CHECK(self.read() == Values({11, 22, 33, 44, 55, 66, 77, 88}));
    // No elements: nothing to do, and no address needed.
    add(tensor_of(nullptr, {0}), tensor_of(nullptr, {0}), 1, tensor_of(nullptr, {0}), stream);
    synchronize(stream);
    CHECK(aclrtDestroyStream(stream) == 0);
}

static void one_executor_runs_many_times()
{
    Floats self(ONE_TO_EIGHT), other(TENS), out(Values(8, 0)), second(Values(8, 0)), ones(Values(8, 1));
    aclTensor *tensors[] = {tensor_of(nullptr, {8}), tensor_of(other.address, {8}), tensor_of(out.address, {8})};
    aclScalar *alpha = scalar_of(1);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &size, &executor) == 0);
    CHECK(size == 0);
    CHECK(aclSetAclOpExecutorRepeatable(executor) == 0);
    REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 161001, "self of aclnnAdd");

    CHECK(aclSetTensorAddr(executor, 0, tensors[0], self.address) == 0);
    CHECK(aclnnAdd(nullptr, 0, executor, nullptr) == 0);
    CHECK(AclSetInputTensorAddr(executor, 1, tensors[1], ones.address) == 0);
    CHECK(aclSetOutputTensorAddr(executor, 0, tensors[2], second.address) == 0);
    CHECK(aclnnAdd(nullptr, 0, executor, nullptr) == 0);
    synchronize(nullptr);
    CHECK(out.read() == Values({11, 22, 33, 44, 55, 66, 77, 88}));
    CHECK(second.read() == Values({2, 3, 4, 5, 6, 7, 8, 9}));
    void *address = nullptr;
    CHECK(aclGetRawTensorAddr(tensors[2], &address) == 0 && address == second.address);

    REFUSED(aclSetTensorAddr(nullptr, 0, tensors[0], self.address), 561103, "null");
    REFUSED(aclSetTensorAddr(executor, 0, nullptr, self.address), 561103, "null");
    REFUSED(aclSetTensorAddr(executor, 3, tensors[0], self.address), 161002, "3 tensors");
    // An equal tensor may stand for the planned one; another argument of the call and a tensor of another shape may not.
    aclTensor *equal = tensor_of(nullptr, {8}), *longer = tensor_of(nullptr, {9});
    CHECK(aclSetTensorAddr(executor, 0, equal, self.address) == 0);
    REFUSED(aclSetTensorAddr(executor, 0, tensors[1], self.address), 161002, "the tensor is other of aclnnAdd");
    REFUSED(aclSetTensorAddr(executor, 0, longer, self.address), 161002, "shape [9]");
    CHECK(aclDestroyTensor(equal) == 0 && aclDestroyTensor(longer) == 0);
    REFUSED(AclSetOutputTensorAddr(executor, 1, tensors[0], self.address), 161002, "1 output tensors");
    aclTensorList *list = aclCreateTensorList(tensors, 1);
    REFUSED(aclSetDynamicInputTensorAddr(executor, 0, 0, list, self.address), 161002, "not a list");
    REFUSED(AclSetDynamicTensorAddr(executor, 0, 0, nullptr, self.address), 561103, "null");
    CHECK(aclDestroyTensorList(list) == 0);

    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 561103, "aclDestroyAclOpExecutor");
    CHECK(aclDestroyTensor(tensors[1]) == 0 && aclDestroyTensor(tensors[2]) == 0 && aclDestroyScalar(alpha) == 0);
}

// Programs count a list as one argument: the output of a concatenation has the index 1, whatever the list holds.
static void a_list_counts_as_one_argument()
{
    Floats first(Values{1, 2}), second(Values{3, 4, 5}), out(Values(5, 0)), later(Values(5, 0));
    aclTensor *from[] = {tensor_of(second.address, {2}), tensor_of(second.address, {3})};
    aclTensor *to = tensor_of(out.address, {5}), *stranger = tensor_of(nullptr, {2});
    aclTensorList *x = aclCreateTensorList(from, 2);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnCatGetWorkspaceSize(x, 0, to, &size, &executor) == 0);
    CHECK(size == 0);
    CHECK(aclSetAclOpExecutorRepeatable(executor) == 0);
    CHECK(aclSetDynamicTensorAddr(executor, 0, 0, x, first.address) == 0);
    CHECK(aclSetDynamicTensorAddr(executor, 0, 1, x, second.address) == 0);
    CHECK(aclSetTensorAddr(executor, 1, to, later.address) == 0);
    CHECK(aclnnCat(nullptr, 0, executor, nullptr) == 0);
    synchronize(nullptr);
    CHECK(later.read() == Values({1, 2, 3, 4, 5}));
    CHECK(out.read() == Values(5, 0));
    // The documents count the members: the tensor says which count a program uses.
    CHECK(aclSetTensorAddr(executor, 2, to, out.address) == 0);
    CHECK(aclSetTensorAddr(executor, 0, from[0], first.address) == 0);
    CHECK(aclSetTensorAddr(executor, 1, from[1], second.address) == 0);
    CHECK(aclnnCat(nullptr, 0, executor, nullptr) == 0);
    synchronize(nullptr);
    CHECK(out.read() == Values({1, 2, 3, 4, 5}));
    REFUSED(aclSetTensorAddr(executor, 0, stranger, out.address), 161002, "aclSetDynamicTensorAddr");
    REFUSED(aclSetTensorAddr(executor, 1, from[0], out.address), 161002, "the tensor is tensors[0] of aclnnCat");
    REFUSED(aclSetTensorAddr(executor, 3, to, out.address), 161002, "2 tensors");
    CHECK(aclDestroyAclOpExecutor(executor) == 0 && aclDestroyTensorList(x) == 0);
    CHECK(aclDestroyTensor(to) == 0 && aclDestroyTensor(stranger) == 0);
}

static void members_of_lists_get_addresses()
{
    Floats first(Values{-1, 2}), second(Values{3, -4, 5}), out(Values(5, 0));
    auto *base = static_cast<float *>(out.address);
    aclTensor *from[] = {tensor_of(nullptr, {2}), tensor_of(second.address, {3})};
    aclTensor *to[] = {tensor_of(base, {2}), tensor_of(nullptr, {3})};
    aclTensorList *x = aclCreateTensorList(from, 2), *y = aclCreateTensorList(to, 2);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnForeachAbsGetWorkspaceSize(x, y, &size, &executor) == 0);
    REFUSED(aclnnForeachAbs(nullptr, 0, executor, nullptr), 161001, "[0] of aclnnForeachAbs");
    CHECK(aclSetDynamicInputTensorAddr(executor, 0, 0, x, first.address) == 0);
    REFUSED(aclnnForeachAbs(nullptr, 0, executor, nullptr), 161001, "out[1] of aclnnForeachAbs");
    REFUSED(aclSetDynamicOutputTensorAddr(executor, 0, 2, y, base + 2), 161002, "has 2 tensors");
    REFUSED(aclSetDynamicOutputTensorAddr(executor, 1, 0, y, base + 2), 161002, "not a list");
    // The second of the lists, and the last of four tensors: the same argument.
    CHECK(AclSetDynamicTensorAddr(executor, 1, 1, y, first.address) == 0);
    CHECK(AclSetTensorAddr(executor, 3, to[1], base + 2) == 0);
    CHECK(aclnnForeachAbs(nullptr, 0, executor, nullptr) == 0);
    synchronize(nullptr);
    CHECK(out.read() == Values({1, 2, 3, 4, 5}));
    CHECK(aclDestroyTensorList(x) == 0 && aclDestroyTensorList(y) == 0);
}

static void a_capture_keeps_arguments_and_runs_again()
{
    Floats self(ONE_TO_EIGHT), other(TENS);
    aclrtStream stream = nullptr;
    aclmdlRI graph = nullptr;
    CHECK(aclrtCreateStream(&stream) == 0);
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == 0);
    // Adds to its own input: each run shows.
    add(tensor_of(self.address, {8}), tensor_of(other.address, {8}), 1, tensor_of(self.address, {8}), stream);
    CHECK(aclmdlRICaptureEnd(stream, &graph) == 0);
    CHECK(self.read() == ONE_TO_EIGHT);
    for (int run = 0; run < 3; ++run) {
        CHECK(aclmdlRIExecuteAsync(graph, stream) == 0);
    }
    synchronize(stream);
    CHECK(self.read() == Values({31, 62, 93, 124, 155, 186, 217, 248}));
    CHECK(aclmdlRIDestroy(graph) == 0 && aclrtDestroyStream(stream) == 0);
}

// A stream sleeps at least as long as its clock of 1.65 GHz takes for the cycles, and tasks behind it come later.
static void a_stream_sleeps()
{
    const int64_t cycles = 33000000;  // 20 ms
    aclIntArray *array = aclCreateIntArray(&cycles, 1);
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == 0);
    Floats out(Values(8, 0)), ones(ONE_TO_EIGHT);
    const auto start = std::chrono::steady_clock::now();
    uint64_t size = 1;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnSleepGetWorkspaceSize(array, &size, &executor) == 0 && size == 0);
    CHECK(aclnnSleep(nullptr, size, executor, stream) == 0);
    CHECK(aclrtMemcpyAsync(out.address, out.bytes(), ones.address, ones.bytes(), ACL_MEMCPY_DEVICE_TO_DEVICE, stream) == 0);
    synchronize(stream);
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(20));
    CHECK(out.read() == ONE_TO_EIGHT);
    const int64_t none = 0;
    aclIntArray *wrong = aclCreateIntArray(&none, 1);
    REFUSED(aclnnSleepGetWorkspaceSize(wrong, &size, &executor), 161002, "cycles is [0]");
    REFUSED(aclnnSleepGetWorkspaceSize(nullptr, &size, &executor), 161001, "cycles");
    CHECK(aclDestroyIntArray(array) == 0 && aclDestroyIntArray(wrong) == 0);
    CHECK(aclrtDestroyStream(stream) == 0);
}

// Plans an addition of eight elements each, to be refused in its second phase.
static aclOpExecutor *plan(void *self, void *other, void *out, int64_t step = 1)
{
    aclTensor *tensors[] = {tensor_of(self, {8}), tensor_of(other, {8}), tensor_of(out, {8}, {step})};
    aclScalar *alpha = scalar_of(1);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &size, &executor) == 0);
    for (aclTensor *tensor : tensors) {
        CHECK(aclDestroyTensor(tensor) == 0);
    }
    CHECK(aclDestroyScalar(alpha) == 0);
    return executor;
}

static void misuse()
{
    Floats self(ONE_TO_EIGHT), other(TENS), out(Values(8, 0));
    // An executor serves one run, of its own operator.
    aclOpExecutor *executor = plan(self.address, other.address, out.address);
    REFUSED(aclnnMul(nullptr, 0, executor, nullptr), 561103, "aclnnAddGetWorkspaceSize");
    CHECK(aclnnAdd(nullptr, 0, executor, nullptr) == 0);
    REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 561103, "aclSetAclOpExecutorRepeatable");
    REFUSED(aclDestroyAclOpExecutor(executor), 561103, "aclnnAdd");
    synchronize(nullptr);
    float host[8] = {};
    REFUSED(aclnnAdd(nullptr, 0, (aclOpExecutor *)host, nullptr), 561103, "executor");

    // Memory: on the host, past the end, none.
    executor = plan(self.address, host, out.address);
    REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 161002, "other of aclnnAdd");
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    executor = plan(self.address, other.address, out.address, 1000);
    REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 161002, "out of aclnnAdd spans 28004 bytes");
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    executor = plan(nullptr, other.address, out.address);
    REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 161001, "self of aclnnAdd is null");
    CHECK(aclDestroyAclOpExecutor(executor) == 0);

    // Of another device, where there is one.
    uint32_t devices = 0;
    CHECK(aclrtGetDeviceCount(&devices) == 0);
    if (devices > 1) {
        CHECK(aclrtSetDevice(1) == 0);
        executor = plan(self.address, other.address, out.address);
        REFUSED(aclnnAdd(nullptr, 0, executor, nullptr), 161002, "device 0");
        CHECK(aclDestroyAclOpExecutor(executor) == 0);
        CHECK(aclrtResetDevice(1) == 0 && aclrtSetDevice(0) == 0);
    }

    // Not a stream, and a scalar where a tensor belongs.
    executor = plan(self.address, other.address, out.address);
    REFUSED(aclnnAdd(nullptr, 0, executor, (aclrtStream)host), 361001, "stream");
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    aclTensor *tensor = tensor_of(self.address, {8});
    aclScalar *alpha = scalar_of(1);
    uint64_t size = 0;
    REFUSED(aclnnAddGetWorkspaceSize((aclTensor *)alpha, tensor, alpha, tensor, &size, &executor), 161002, "self: ");
    REFUSED(aclnnAddGetWorkspaceSize(tensor, nullptr, alpha, tensor, &size, &executor), 161001, "other");
    REFUSED(aclnnAddGetWorkspaceSize(tensor, tensor, alpha, tensor, nullptr, &executor), 161001, "workspaceSize");
    REFUSED(aclnnAddGetWorkspaceSize(tensor, tensor, alpha, tensor, &size, nullptr), 161001, "executor");
    aclTensor *three = tensor_of(self.address, {3});
    REFUSED(aclnnAddGetWorkspaceSize(tensor, three, alpha, tensor, &size, &executor), 161002, "aclnnAdd");
    CHECK(aclDestroyTensor(three) == 0 && aclDestroyTensor(tensor) == 0 && aclDestroyScalar(alpha) == 0);
}

int main()
{
    CHECK(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    descriptions_are_gone_when_the_task_runs();
    null_is_the_default_stream();
    views();
    one_executor_runs_many_times();
    members_of_lists_get_addresses();
    a_list_counts_as_one_argument();
    a_capture_keeps_arguments_and_runs_again();
    a_stream_sleeps();
    misuse();
    CHECK(aclrtResetDevice(0) == 0 && aclFinalize() == 0);
    std::printf("done\n");
}
