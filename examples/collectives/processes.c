/* Four ranks in four processes. The parent carries the root information from rank 0 to all ranks through pipes; a job would use MPI, a
 * key-value store or a file. Run with JUMAR_DEVICES=4. */
#include <sys/wait.h>
#include <unistd.h>

#include "mean.h"

static void move(int from, int to, void *bytes, size_t count)
{
    for (size_t at = 0; at < count;) {
        ssize_t done = from >= 0 ? read(from, (char *)bytes + at, count - at) : write(to, (char *)bytes + at, count - at);
        if (done <= 0) {
            fprintf(stderr, "a pipe was closed\n");
            exit(1);
        }
        at += (size_t)done;
    }
}

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
    int down[RANKS][2], up[2], failed = 0;
    HcclRootInfo info;

    if (pipe(up) != 0) {
        return 1;
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        pid_t child;
        if (pipe(down[rank]) != 0 || (child = fork()) < 0) {
            return 1;
        }
        if (child == 0) {
            return run(rank, down[rank][0], up[1]);
        }
    }
    close(up[1]);
    move(up[0], -1, &info, sizeof info);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        move(-1, down[rank][1], &info, sizeof info);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        int status;
        wait(&status);
        failed |= status != 0;
    }
    return failed;
}
