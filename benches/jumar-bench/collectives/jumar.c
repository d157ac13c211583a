/* Times collectives of four ranks, through streams: each operation is queued, and the host waits for its stream.
 *
 *     jumar threads|processes|network <rounds> [<first load> <end>]
 *     jumar copies <rounds>             every rank copies as many bytes, all at once: the limit
 *
 * Prints the operation, the bytes that each rank has afterwards, and microseconds. With "network" each process is in a process namespace of
 * its own, which takes it for another machine.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "measure.h"

#define MUST(call)                                                                                       \
    do {                                                                                                 \
        int code_ = (int)(call);                                                                         \
        if (code_ != 0) {                                                                                \
            const char *text_ = aclGetRecentErrMsg();                                                    \
            fprintf(stderr, "%s: %d\n%s\n", #call, code_, text_ == NULL ? "" : text_);                  \
            exit(2);                                                                                     \
        }                                                                                                \
    } while (0)

static int rounds;
static int first_load, end_load = LOAD_COUNT;

static void queue(const struct load *load, float *from, float *to, HcclComm comm, aclrtStream stream)
{
    uint64_t count = load->bytes / sizeof(float);

    switch (load->kind) {
    case ALL_REDUCE:
        MUST(HcclAllReduce(from, to, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
        break;
    case ALL_GATHER:
        MUST(HcclAllGather(from, to, count / RANKS, HCCL_DATA_TYPE_FP32, comm, stream));
        break;
    case BROADCAST:
        MUST(HcclBroadcast(to, count, HCCL_DATA_TYPE_FP32, 0, comm, stream));
        break;
    default:
        MUST(HcclAlltoAll(from, count / RANKS, HCCL_DATA_TYPE_FP32, to, count / RANKS, HCCL_DATA_TYPE_FP32, comm, stream));
        break;
    }
    MUST(aclrtSynchronizeStream(stream));
}

static void measure(uint32_t rank, HcclComm comm)
{
    aclrtStream stream;
    float *from, *to;

    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc((void **)&from, MOST_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc((void **)&to, MOST_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(from, MOST_BYTES, 0, MOST_BYTES));
    MUST(aclrtMemset(to, MOST_BYTES, 0, MOST_BYTES));
    for (int at = first_load; at < end_load; at++) {
        double least = 1e30;
        for (int round = 0; round <= rounds; round++) {
            double begin, each;
            MUST(HcclBarrier(comm, stream));
            MUST(aclrtSynchronizeStream(stream));
            begin = now_us();
            for (int i = 0; i < LOADS[at].times; i++) {
                queue(&LOADS[at], from, to, comm, stream);
            }
            each = (now_us() - begin) / LOADS[at].times;
            /* The first round makes what is made once. */
            if (round > 0 && each < least) {
                least = each;
            }
        }
        if (rank == 0) {
            print_least(&LOADS[at], least);
        }
    }
    MUST(aclrtFree(from));
    MUST(aclrtFree(to));
    MUST(HcclCommDestroy(comm));
    MUST(aclrtDestroyStream(stream));
}

static HcclComm comms[RANKS];

static void *thread_rank(void *argument)
{
    uint32_t rank = (uint32_t)(uintptr_t)argument;
    MUST(aclrtSetDevice((int32_t)rank));
    measure(rank, comms[rank]);
    return NULL;
}

static int in_threads(void *(*work)(void *))
{
    pthread_t threads[RANKS];
    for (uintptr_t rank = 0; rank < RANKS; rank++) {
        if (pthread_create(&threads[rank], NULL, work, (void *)rank) != 0) {
            return 2;
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        pthread_join(threads[rank], NULL);
    }
    return 0;
}

static int threads(void)
{
    int32_t devices[RANKS];

    MUST(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        devices[rank] = rank;
        MUST(aclrtSetDevice(rank));
    }
    MUST(HcclCommInitAll(RANKS, devices, comms));
    return in_threads(thread_rank) != 0 ? 2 : (int)aclFinalize();
}

static void carry(int from, int to, void *bytes, size_t count)
{
    for (size_t at = 0; at < count;) {
        ssize_t done = from >= 0 ? read(from, (char *)bytes + at, count - at) : write(to, (char *)bytes + at, count - at);
        if (done <= 0) {
            exit(2);
        }
        at += (size_t)done;
    }
}

static int process_rank(uint32_t rank, int in, int out)
{
    HcclRootInfo info;
    HcclComm comm;

    MUST(aclInit(NULL));
    MUST(aclrtSetDevice((int32_t)rank));
    if (rank == 0) {
        MUST(HcclGetRootInfo(&info));
        carry(-1, out, &info, sizeof info);
    }
    carry(in, -1, &info, sizeof info);
    MUST(HcclCommInitRootInfo(RANKS, &info, rank, &comm));
    measure(rank, comm);
    return (int)aclFinalize();
}

/* The first process in a namespace is the next child. */
static int process_in_namespace(uint32_t rank, int in, int out)
{
    pid_t child;
    int status;

    if (unshare(CLONE_NEWPID) != 0) {
        fprintf(stderr, "a process namespace was refused\n");
        return 3;
    }
    child = fork();
    if (child == 0) {
        exit(process_rank(rank, in, out));
    }
    close(out);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
}

static int processes(int separate)
{
    int down[RANKS][2], up[2], failed = 0;
    HcclRootInfo info;

    if (pipe(up) != 0) {
        return 2;
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        pid_t child;
        if (pipe(down[rank]) != 0) {
            return 2;
        }
        child = fork();
        if (child < 0) {
            return 2;
        }
        if (child == 0) {
            exit(separate ? process_in_namespace(rank, down[rank][0], up[1]) : process_rank(rank, down[rank][0], up[1]));
        }
    }
    close(up[1]);
    carry(up[0], -1, &info, sizeof info);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        carry(-1, down[rank][1], &info, sizeof info);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        wait(&status);
        failed |= status != 0;
    }
    return failed ? 2 : 0;
}

static pthread_barrier_t all;

static void *copy_rank(void *argument)
{
    uintptr_t rank = (uintptr_t)argument;
    char *from = malloc(MOST_BYTES), *to = malloc(MOST_BYTES);

    memset(from, 1, MOST_BYTES);
    memset(to, 1, MOST_BYTES);
    for (int at = 0; at < 3; at++) {
        double least = 1e30;
        for (int round = 0; round <= rounds; round++) {
            double begin, each;
            pthread_barrier_wait(&all);
            begin = now_us();
            for (int i = 0; i < LOADS[at].times; i++) {
                memcpy(to, from, LOADS[at].bytes);
                __asm__ volatile("" : : "r"(to) : "memory");
            }
            pthread_barrier_wait(&all);
            each = (now_us() - begin) / LOADS[at].times;
            if (round > 0 && each < least) {
                least = each;
            }
        }
        if (rank == 0) {
            struct load copy = LOADS[at];
            copy.name = "copy";
            print_least(&copy, least);
        }
    }
    free(from);
    free(to);
    return NULL;
}

int main(int count, char **words)
{
    if (count < 3) {
        return 1;
    }
    rounds = atoi(words[2]);
    if (count > 4) {
        first_load = atoi(words[3]);
        end_load = atoi(words[4]) < LOAD_COUNT ? atoi(words[4]) : LOAD_COUNT;
    }
    if (strcmp(words[1], "copies") == 0) {
        pthread_barrier_init(&all, NULL, RANKS);
        return in_threads(copy_rank);
    }
    return strcmp(words[1], "threads") == 0 ? threads() : processes(strcmp(words[1], "network") == 0);
}
