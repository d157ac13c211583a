// Data-parallel training: the gradients of two ranks are summed after each batch. Each rank reads its own file of records.
// DEVICES 2
#include <algorithm>
#include <cstdio>
#include <functional>
#include <future>
#include <pthread.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace {

constexpr uint32_t kRanks = 2;
constexpr uint64_t kWeights = 2048;
constexpr int kBatch = 64;
constexpr int kRecords[kRanks] = {448, 400};

pthread_barrier_t finished;

bool Good(int code, const char *what)
{
    if (code != 0) {
        std::fprintf(stderr, "%s failed, error %d\n", what, code);
    }
    return code == 0;
}

// Whole batches only, and as many on each rank as the shortest file has.
int StepsOf()
{
    return *std::min_element(kRecords, kRecords + kRanks) / kBatch;
}

bool Train(uint32_t rank, HcclComm comm, aclrtStream stream)
{
    const size_t bytes = kWeights * sizeof(float);
    void *gradients = nullptr;
    bool ok = Good(aclrtMalloc(&gradients, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    for (int step = 0; ok && step < StepsOf(); step++) {
        ok = Good(aclrtMemsetAsync(gradients, bytes, step, bytes, stream), "backward") &&
             Good(HcclAllReduce(gradients, gradients, kWeights, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream), "HcclAllReduce") &&
             Good(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    }
    std::printf("rank %u: %d steps\n", rank, StepsOf());
    return Good(aclrtFree(gradients), "aclrtFree") && ok;
}

bool RunRank(uint32_t rank, const HcclRootInfo &info)
{
    bool ok = Good(aclrtSetDevice(static_cast<int32_t>(rank)), "aclrtSetDevice");
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    config.hcclExecTimeOut = 4;
    HcclComm comm = nullptr;
    aclrtStream stream = nullptr;
    ok = ok && Good(HcclCommInitRootInfoConfig(kRanks, &info, rank, &config, &comm), "HcclCommInitRootInfoConfig") &&
         Good(aclrtCreateStream(&stream), "aclrtCreateStream") && Train(rank, comm, stream);

    // No rank closes its communicator before all have finished.
    pthread_barrier_wait(&finished);
    ok = Good(HcclCommDestroy(comm), "HcclCommDestroy") && ok;
    ok = Good(aclrtDestroyStream(stream), "aclrtDestroyStream") && ok;
    return Good(aclrtResetDevice(static_cast<int32_t>(rank)), "aclrtResetDevice") && ok;
}

}  // namespace

int main()
{
    if (!Good(aclInit(nullptr), "aclInit") || !Good(aclrtSetDevice(0), "aclrtSetDevice")) {
        return 1;
    }
    HcclRootInfo info;
    if (!Good(HcclGetRootInfo(&info), "HcclGetRootInfo")) {
        return 1;
    }
    pthread_barrier_init(&finished, nullptr, kRanks);
    auto first = std::async(std::launch::async, RunRank, 0, std::cref(info));
    auto second = std::async(std::launch::async, RunRank, 1, std::cref(info));
    bool ok = first.get();
    ok = second.get() && ok;
    pthread_barrier_destroy(&finished);
    ok = Good(aclrtResetDevice(0), "aclrtResetDevice") && ok;
    ok = Good(aclFinalize(), "aclFinalize") && ok;
    return ok ? 0 : 1;
}
