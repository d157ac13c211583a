// Four ranks, two tensor-parallel pairs: activations are summed in a pair, the final score over all ranks.
// DEVICES 4
#include <cstdio>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace {

constexpr uint32_t kRanks = 4;
constexpr uint64_t kWidth = 1024;
constexpr size_t kBytes = kWidth * sizeof(float);

class Worker {
public:
    Worker(uint32_t rank, const HcclRootInfo &root) : rank_(rank), root_(root) {}

    bool Run()
    {
        bool ok = Open();
        for (int layer = 0; layer < 4 && ok; layer++) {
            ok = SumInPair(layer);
        }
        ok = LeavePair() && ok;
        ok = Evaluate() && ok;
        return Close() && ok;
    }

private:
    bool Good(int code, const char *what) const
    {
        if (code != 0) {
            std::fprintf(stderr, "rank %u: %s failed, error %d\n", rank_, what, code);
        }
        return code == 0;
    }

    bool Open()
    {
        uint32_t members[2] = {rank_ / 2 * 2, rank_ / 2 * 2 + 1};
        HcclCommConfig config;
        HcclCommConfigInit(&config);
        return Good(aclrtSetDevice(static_cast<int32_t>(rank_)), "set device") &&
               Good(aclrtCreateStream(&stream_), "create stream") &&
               Good(aclrtMalloc(&values_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "malloc") &&
               Good(HcclCommInitRootInfo(kRanks, &root_, rank_, &world_), "world communicator") &&
               Good(HcclCreateSubCommConfig(&world_, 2, members, 1 + rank_ / 2, rank_ % 2, &config, &pair_), "pair communicator");
    }

    bool SumInPair(int value)
    {
        return Good(aclrtMemsetAsync(values_, kBytes, value, kBytes, stream_), "forward pass") &&
               Good(HcclAllReduce(values_, values_, kWidth, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, pair_, stream_), "sum in the pair") &&
               Good(aclrtSynchronizeStream(stream_), "synchronise");
    }

    bool Evaluate()
    {
        return SumInPair(0) &&
               Good(HcclAllReduce(values_, values_, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, world_, stream_), "best score") &&
               Good(aclrtSynchronizeStream(stream_), "synchronise");
    }

    bool LeavePair()
    {
        return Good(HcclCommDestroy(pair_), "leave the pair");
    }

    bool Close()
    {
        bool ok = Good(aclrtSynchronizeStream(stream_), "synchronise");
        ok = Good(HcclCommDestroy(world_), "leave the world") && ok;
        ok = Good(aclrtFree(values_), "free") && ok;
        ok = Good(aclrtDestroyStream(stream_), "destroy stream") && ok;
        return Good(aclrtResetDevice(static_cast<int32_t>(rank_)), "reset device") && ok;
    }

    uint32_t rank_;
    HcclRootInfo root_;
    HcclComm world_ = nullptr;
    HcclComm pair_ = nullptr;
    aclrtStream stream_ = nullptr;
    void *values_ = nullptr;
};

}  // namespace

int main()
{
    HcclRootInfo root;
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS || HcclGetRootInfo(&root) != HCCL_SUCCESS) {
        return 1;
    }
    int failures = 0;
    bool results[kRanks] = {};
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        threads.emplace_back([&results, &root, rank] { results[rank] = Worker(rank, root).Run(); });
    }
    for (uint32_t rank = 0; rank < kRanks; rank++) {
        threads[rank].join();
        failures += results[rank] ? 0 : 1;
    }
    std::printf("%d ranks failed\n", failures);
    const bool closed = aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS;
    return closed && failures == 0 ? 0 : 1;
}
