// One thread drives two replicas. Gradients are summed on a stream of their own, beside the computation; the loss is summed for the log.
// DEVICES 2
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace {

constexpr int kReplicas = 2;
constexpr uint64_t kWeights = 8192;
constexpr size_t kBytes = kWeights * sizeof(float);

void Check(int code, int line)
{
    if (code != 0) {
        std::fprintf(stderr, "line %d: error %d\n", line, code);
        std::exit(1);
    }
}
#define CHECK(call) Check(static_cast<int>(call), __LINE__)

struct Replica {
    HcclComm comm = nullptr;
    aclrtStream compute = nullptr;
    aclrtStream transfer = nullptr;
    aclrtEvent computed = nullptr;
    void *gradients = nullptr;
    void *loss = nullptr;
};

void Open(Replica &r, int device)
{
    CHECK(aclrtSetDevice(device));
    CHECK(aclrtCreateStream(&r.compute));
    CHECK(aclrtCreateStream(&r.transfer));
    CHECK(aclrtCreateEventExWithFlag(&r.computed, ACL_EVENT_SYNC));
    CHECK(aclrtMalloc(&r.gradients, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&r.loss, sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
}

void Step(Replica &r, int device, int step)
{
    CHECK(aclrtSetDevice(device));
    CHECK(aclrtMemsetAsync(r.loss, sizeof(float), step, sizeof(float), r.compute));
    CHECK(aclrtMemsetAsync(r.gradients, kBytes, step, kBytes, r.compute));
    CHECK(aclrtRecordEvent(r.computed, r.compute));
    CHECK(aclrtStreamWaitEvent(r.transfer, r.computed));
    CHECK(HcclAllReduce(r.gradients, r.gradients, kWeights, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r.comm, r.transfer));
    CHECK(HcclAllReduce(r.loss, r.loss, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r.comm, r.compute));
}

float Finish(Replica &r, int device)
{
    float loss = 0;
    CHECK(aclrtSetDevice(device));
    CHECK(aclrtSynchronizeStream(r.compute));
    CHECK(aclrtSynchronizeStream(r.transfer));
    CHECK(aclrtMemcpy(&loss, sizeof(loss), r.loss, sizeof(loss), ACL_MEMCPY_DEVICE_TO_HOST));
    return loss;
}

void Close(Replica &r, int device)
{
    CHECK(aclrtSetDevice(device));
    CHECK(HcclCommDestroy(r.comm));
    CHECK(aclrtFree(r.loss));
    CHECK(aclrtFree(r.gradients));
    CHECK(aclrtDestroyEvent(r.computed));
    CHECK(aclrtDestroyStream(r.transfer));
    CHECK(aclrtDestroyStream(r.compute));
}

}  // namespace

int main()
{
    Replica replicas[kReplicas];
    int32_t devices[kReplicas] = {0, 1};
    HcclComm comms[kReplicas] = {};
    CHECK(aclInit(nullptr));
    CHECK(HcclCommInitAll(kReplicas, devices, comms));
    for (int i = 0; i < kReplicas; i++) {
        replicas[i].comm = comms[i];
        Open(replicas[i], i);
    }
    for (int step = 1; step <= 3; step++) {
        for (int i = 0; i < kReplicas; i++) {
            Step(replicas[i], i, step);
        }
        for (int i = 0; i < kReplicas; i++) {
            std::printf("step %d, replica %d: loss %g\n", step, i, Finish(replicas[i], i));
        }
    }
    for (int i = 0; i < kReplicas; i++) {
        Close(replicas[i], i);
    }
    for (int i = 0; i < kReplicas; i++) {
        CHECK(aclrtResetDevice(i));
    }
    CHECK(aclFinalize());
    return 0;
}
