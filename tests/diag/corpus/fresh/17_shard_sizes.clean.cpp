// Sharded optimiser: each rank updates its part of the parameters, then all parts are gathered on every rank.
// DEVICES 4
#include <cstdio>
#include <future>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace {

constexpr uint32_t kRanks = 4;
constexpr uint64_t kParams = 10002;
constexpr uint64_t kLargest = (kParams + kRanks - 1) / kRanks;

#define CHECK(call)                                                                     \
    do {                                                                                \
        const int code_ = static_cast<int>(call);                                       \
        if (code_ != 0) {                                                               \
            std::fprintf(stderr, "%s:%d: %s -> %d\n", __FILE__, __LINE__, #call, code_); \
            ok = false;                                                                 \
        }                                                                               \
    } while (0)

// All shards have the same size: the last one is padded.
uint64_t ShardSize()
{
    return kLargest;
}

bool Step(uint32_t rank, HcclComm comm, aclrtStream stream)
{
    bool ok = true;
    void *shard = nullptr;
    void *all = nullptr;
    CHECK(aclrtMalloc(&shard, kLargest * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&all, kRanks * kLargest * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));

    const std::vector<float> updated(kLargest, 0.5f * static_cast<float>(rank));
    const size_t bytes = updated.size() * sizeof(float);
    CHECK(aclrtMemcpy(shard, bytes, updated.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(HcclAllGather(shard, all, ShardSize(), HCCL_DATA_TYPE_FP32, comm, stream));
    CHECK(aclrtSynchronizeStream(stream));

    CHECK(aclrtFree(all));
    CHECK(aclrtFree(shard));
    return ok;
}

bool RunRank(uint32_t rank, std::promise<HcclRootInfo> &publish, std::shared_future<HcclRootInfo> root)
{
    bool ok = true;
    CHECK(aclrtSetDevice(static_cast<int32_t>(rank)));
    if (rank == 0) {
        HcclRootInfo created;
        CHECK(HcclGetRootInfo(&created));
        publish.set_value(created);
    }
    const HcclRootInfo info = root.get();

    HcclComm comm = nullptr;
    aclrtStream stream = nullptr;
    CHECK(HcclCommInitRootInfo(kRanks, &info, rank, &comm));
    CHECK(aclrtCreateStream(&stream));
    ok = Step(rank, comm, stream) && ok;
    CHECK(HcclCommDestroy(comm));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(static_cast<int32_t>(rank)));
    return ok;
}

}  // namespace

int main()
{
    bool ok = true;
    CHECK(aclInit(nullptr));
    std::promise<HcclRootInfo> publish;
    const std::shared_future<HcclRootInfo> root = publish.get_future().share();
    bool results[kRanks] = {};
    std::vector<std::thread> ranks;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        ranks.emplace_back([&, rank] { results[rank] = RunRank(rank, publish, root); });
    }
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        ranks[rank].join();
        ok = ok && results[rank];
    }
    CHECK(aclFinalize());
    std::printf("parameters gathered: %s\n", ok ? "yes" : "no");
    return ok ? 0 : 1;
}
