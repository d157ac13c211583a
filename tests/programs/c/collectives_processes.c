/* Ranks in processes of their own: four children carry the root information through pipes, create a communicator, and compare sums,
 * gathers and exchanges with what they compute themselves. Then one of them is killed while the others wait for it: each learns within
 * seconds which rank is gone. Nothing is left in the system's shared memory. */
#include "program.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hccl/hccl.h"

enum { RANKS = 4, COUNT = 200003, VICTIM = 2, FAILED_STREAM = 507048 };

static float value_of(int rank, int i)
{
    return (float)((i * 5 + rank * 11) % 97) * 0.5f;
}

static void read_all(int from, void *to, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t got = read(from, (char *)to + at, bytes - at);
        REQUIRE(got > 0);
        at += (size_t)got;
    }
}

static void write_all(int to, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t put = write(to, (const char *)from + at, bytes - at);
        REQUIRE(put > 0);
        at += (size_t)put;
    }
}

/* One rank. Rank 0 makes the root information; the parent carries it. */
static int rank_main(int rank, int in, int out)
{
    HcclRootInfo info;
    HcclComm comm;
    aclrtStream stream;
    HcclResult async = HCCL_SUCCESS;
    float *buffer, *gathered, *host;
    const char *text;
    const size_t bytes = COUNT * sizeof *host;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(rank));
    CHECK(aclrtCreateStream(&stream));
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&info));
        write_all(out, &info, sizeof info);
    }
    read_all(in, &info, sizeof info);
    CHECK(HcclCommInitRootInfo(RANKS, &info, (uint32_t)rank, &comm));
    CHECK(aclrtMalloc((void **)&buffer, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc((void **)&gathered, RANKS * bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    host = malloc(RANKS * bytes);
    for (int i = 0; i < COUNT; i++) {
        host[i] = value_of(rank, i);
    }
    CHECK(aclrtMemcpy(buffer, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(HcclAllGather(buffer, gathered, COUNT, HCCL_DATA_TYPE_FP32, comm, stream));
    CHECK(HcclAllReduce(buffer, buffer, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    CHECK(aclrtSynchronizeStreamWithTimeout(stream, (int32_t)(PATIENCE_S * 1000)));
    CHECK(aclrtMemcpy(host, RANKS * bytes, gathered, RANKS * bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < RANKS * COUNT; i++) {
        REQUIRE(host[i] == value_of(i / COUNT, i % COUNT));
    }
    CHECK(aclrtMemcpy(host, bytes, buffer, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < COUNT; i++) {
        float sum = value_of(0, i);
        for (int k = 1; k < RANKS; k++) {
            sum += value_of(k, i);
        }
        REQUIRE(host[i] == sum);
    }
    for (int i = 0; i < 200; i++) {
        CHECK(HcclBroadcast(buffer, 16, HCCL_DATA_TYPE_FP32, (uint32_t)(i % RANKS), comm, stream));
    }
    CHECK(HcclBarrier(comm, stream));
    CHECK(aclrtSynchronizeStreamWithTimeout(stream, (int32_t)(PATIENCE_S * 1000)));
    CHECK(HcclGetCommAsyncError(comm, &async));
    REQUIRE(async == HCCL_SUCCESS);
    if (rank == VICTIM) {
        write_all(out, "x", 1);
        for (;;) {
            pause();
        }
    }
    CHECK(HcclAllReduce(buffer, buffer, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(FAILED_STREAM, aclrtSynchronizeStreamWithTimeout(stream, (int32_t)(PATIENCE_S * 1000)));
    text = aclGetRecentErrMsg();
    REQUIRE(text != NULL && strstr(text, "EI0002") != NULL && strstr(text, "rank 2 (process") != NULL);
    CHECK(HcclGetCommAsyncError(comm, &async));
    REQUIRE(async == HCCL_E_REMOTE);
    EXPECT(HCCL_E_UNAVAIL, HcclBarrier(comm, stream));
    CHECK(HcclCommDestroy(comm));
    free(host);
    CHECK(aclrtResetDevice(rank));
    CHECK(aclFinalize());
    return 0;
}

static int left_in_shared_memory(void)
{
    DIR *folder = opendir("/dev/shm");
    struct dirent *entry;
    int found = 0;
    if (folder == NULL) {
        return 0;
    }
    while ((entry = readdir(folder)) != NULL) {
        found += strstr(entry->d_name, "jumar") != NULL;
    }
    closedir(folder);
    return found;
}

int main(void)
{
    int down[RANKS][2], up[RANKS][2];
    pid_t children[RANKS];
    HcclRootInfo info;
    char ready;

    setenv("JUMAR_DEVICES", "4", 0);
    for (int rank = 0; rank < RANKS; rank++) {
        REQUIRE(pipe(down[rank]) == 0 && pipe(up[rank]) == 0);
        children[rank] = fork();
        REQUIRE(children[rank] >= 0);
        if (children[rank] == 0) {
            return rank_main(rank, down[rank][0], up[rank][1]);
        }
    }
    read_all(up[0][0], &info, sizeof info);
    for (int rank = 0; rank < RANKS; rank++) {
        write_all(down[rank][1], &info, sizeof info);
    }
    read_all(up[VICTIM][0], &ready, 1);
    REQUIRE(kill(children[VICTIM], SIGKILL) == 0);
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        REQUIRE(waitpid(children[rank], &status, 0) == children[rank]);
        REQUIRE(rank == VICTIM ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    REQUIRE(left_in_shared_memory() == 0);
    return 0;
}
