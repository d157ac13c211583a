/* Four ranks in four processes. The parent carries the root information from rank 0 to all ranks. Run with JUMAR_DEVICES=4. */
#include "carry.h"
#include "mean.h"

static int run(uint32_t rank, int in, int out)
{
    HcclRootInfo info;
    HcclComm comm;
    aclrtStream stream;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice((int32_t)rank));
    CHECK(aclrtCreateStream(&stream));
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&info));
        move(-1, out, &info, sizeof info);
    }
    move(in, -1, &info, sizeof info);
    CHECK(HcclCommInitRootInfo(RANKS, &info, rank, &comm));
    printf("rank %u: mean %.2f\n", rank, mean_over_ranks(comm, rank, stream));
    CHECK(HcclCommDestroy(comm));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclFinalize());
    return 0;
}

int main(void)
{
    return run_processes(RANKS, run);
}
