/* Collective operations in one process: a communicator of all devices driven by one thread, communicators that threads create by root
 * information, sub-communicators, groups, batches, captured operations, and every kind of operation against sums that the program computes
 * itself. Two workers serve four ranks: a rank that waits holds none. Then misuse: each call is refused with its code, ranks that disagree
 * fail at once on all ranks, and a rank that never comes ends the others' wait. */
#include "program.h"

#include <pthread.h>
#include "hccl/hccl.h"

enum { RANKS = 4, COUNT = 1003, FAILED_STREAM = 507048 };

static HcclComm comms[RANKS];
static aclrtStream streams[RANKS];
static HcclRootInfo root_info;

static float value_of(int rank, int i)
{
    return (float)((i * 7 + rank * 13) % 101) * 0.25f;
}

static void *device_memory(size_t bytes)
{
    void *memory;
    bytes = bytes == 0 ? 1 : bytes;
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(memory, bytes, 0, bytes));
    return memory;
}

static void use(int rank)
{
    CHECK(aclrtSetDevice(rank));
}

static void synchronize_all(int expected)
{
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        EXPECT(expected, aclrtSynchronizeStreamWithTimeout(streams[rank], (int32_t)(PATIENCE_S * 1000)));
    }
}

static void fill(int rank, float *to, size_t count)
{
    float *host = malloc(count * sizeof *host);
    for (size_t i = 0; i < count; i++) {
        host[i] = value_of(rank, (int)i);
    }
    CHECK(aclrtMemcpy(to, count * sizeof *host, host, count * sizeof *host, ACL_MEMCPY_HOST_TO_DEVICE));
    free(host);
}

static float *fetch(const float *from, size_t count)
{
    float *host = malloc(count * sizeof *host);
    CHECK(aclrtMemcpy(host, count * sizeof *host, from, count * sizeof *host, ACL_MEMCPY_DEVICE_TO_HOST));
    return host;
}

/* The sum of all ranks, added in rank order. */
static float sum_at(int i)
{
    float sum = value_of(0, i);
    for (int rank = 1; rank < RANKS; rank++) {
        sum += value_of(rank, i);
    }
    return sum;
}

static void every_kind(void)
{
    float *send[RANKS], *receive[RANKS], *host;
    uint64_t counts[RANKS], displacements[RANKS], matrix[RANKS * RANKS], total = 0;
    const size_t all = (size_t)RANKS * COUNT;

    for (int k = 0; k < RANKS; k++) {
        counts[k] = (uint64_t)(100 + 30 * k);
        displacements[k] = total;
        total += counts[k];
    }
    for (int i = 0; i < RANKS * RANKS; i++) {
        matrix[i] = (uint64_t)(i % 5);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        send[rank] = device_memory(all * sizeof(float));
        receive[rank] = device_memory(all * sizeof(float));
        fill(rank, send[rank], all);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclAllReduce(send[rank], receive[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], COUNT);
        for (int i = 0; i < COUNT; i++) {
            REQUIRE(host[i] == sum_at(i));
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclReduceScatter(send[rank], receive[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], COUNT);
        for (int i = 0; i < COUNT; i++) {
            REQUIRE(host[i] == sum_at(rank * COUNT + i));
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclAllGather(send[rank], receive[rank], COUNT, HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], all);
        for (size_t i = 0; i < all; i++) {
            REQUIRE(host[i] == value_of((int)(i / COUNT), (int)(i % COUNT)));
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclAlltoAll(send[rank], COUNT, HCCL_DATA_TYPE_FP32, receive[rank], COUNT, HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], all);
        for (size_t i = 0; i < all; i++) {
            REQUIRE(host[i] == value_of((int)(i / COUNT), rank * COUNT + (int)(i % COUNT)));
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclAllGatherV(send[rank], counts[rank], receive[rank], counts, displacements, HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], (size_t)total);
        for (int k = 0; k < RANKS; k++) {
            for (uint64_t i = 0; i < counts[k]; i++) {
                REQUIRE(host[displacements[k] + i] == value_of(k, (int)i));
            }
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclReduceScatterV(
            send[rank], counts, displacements, receive[rank], counts[rank], HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], (size_t)counts[rank]);
        for (uint64_t i = 0; i < counts[rank]; i++) {
            REQUIRE(host[i] == sum_at((int)(displacements[rank] + i)));
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclAlltoAllVC(send[rank], matrix, HCCL_DATA_TYPE_FP32, receive[rank], HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        uint64_t at = 0;
        use(rank);
        host = fetch(receive[rank], all);
        for (int from = 0; from < RANKS; from++) {
            uint64_t start = 0;
            for (int to = 0; to < rank; to++) {
                start += matrix[from * RANKS + to];
            }
            for (uint64_t i = 0; i < matrix[from * RANKS + rank]; i++) {
                REQUIRE(host[at++] == value_of(from, (int)(start + i)));
            }
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        uint64_t to[RANKS], to_at[RANKS], from[RANKS], from_at[RANKS];
        for (int k = 0; k < RANKS; k++) {
            to[k] = (uint64_t)(rank + 2 * k);
            to_at[k] = (uint64_t)(20 * k);
            from[k] = (uint64_t)(k + 2 * rank);
            from_at[k] = (uint64_t)(30 * k);
        }
        use(rank);
        CHECK(HcclAlltoAllV(
            send[rank], to, to_at, HCCL_DATA_TYPE_FP32, receive[rank], from, from_at, HCCL_DATA_TYPE_FP32, comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(receive[rank], all);
        for (int k = 0; k < RANKS; k++) {
            for (int i = 0; i < k + 2 * rank; i++) {
                REQUIRE(host[30 * k + i] == value_of(k, 20 * rank + i));
            }
        }
        free(host);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclReduce(send[rank], receive[rank], COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX, 2, comms[rank], streams[rank]));
        CHECK(HcclScatter(rank == 2 ? receive[rank] : NULL, send[rank], COUNT / RANKS, HCCL_DATA_TYPE_FP32, 2, comms[rank], streams[rank]));
        CHECK(HcclBroadcast(send[rank], COUNT, HCCL_DATA_TYPE_FP32, 3, comms[rank], streams[rank]));
        CHECK(HcclBarrier(comms[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(send[rank], COUNT);
        for (int i = 0; i < COUNT; i++) {
            float expected = value_of(3, i);
            if (i < COUNT / RANKS) {
                int at = 3 * (COUNT / RANKS) + i;
                expected = value_of(0, at);
                for (int k = 1; k < RANKS; k++) {
                    expected = value_of(k, at) > expected ? value_of(k, at) : expected;
                }
            }
            REQUIRE(host[i] == expected);
        }
        free(host);
    }
    /* A ring: each sends to the next one, in a batch and in a group. */
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        fill(rank, send[rank], COUNT);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        HcclSendRecvItem items[2];
        memset(items, 0, sizeof items);
        items[0].sendRecvType = HCCL_SEND;
        items[0].buf = send[rank];
        items[0].count = COUNT;
        items[0].dataType = HCCL_DATA_TYPE_FP32;
        items[0].remoteRank = (uint32_t)((rank + 1) % RANKS);
        items[1] = items[0];
        items[1].sendRecvType = HCCL_RECV;
        items[1].buf = receive[rank];
        items[1].remoteRank = (uint32_t)((rank + RANKS - 1) % RANKS);
        use(rank);
        CHECK(HcclBatchSendRecv(items, 2, comms[rank], streams[rank]));
        CHECK(HcclGroupStart());
        CHECK(HcclSend(receive[rank], COUNT, HCCL_DATA_TYPE_FP32, (uint32_t)((rank + 1) % RANKS), comms[rank], streams[rank]));
        CHECK(HcclRecv(send[rank], COUNT, HCCL_DATA_TYPE_FP32, (uint32_t)((rank + RANKS - 1) % RANKS), comms[rank], streams[rank]));
        CHECK(HcclGroupEnd());
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        host = fetch(send[rank], COUNT);
        for (int i = 0; i < COUNT; i++) {
            REQUIRE(host[i] == value_of((rank + RANKS - 2) % RANKS, i));
        }
        free(host);
        CHECK(aclrtFree(send[rank]));
        CHECK(aclrtFree(receive[rank]));
    }
}

/* Captured once and launched three times, between plain operations. */
static void captured(void)
{
    aclmdlRI models[RANKS];
    int32_t *buffers[RANKS];

    for (int rank = 0; rank < RANKS; rank++) {
        int32_t one = 1;
        use(rank);
        buffers[rank] = device_memory(sizeof one);
        CHECK(aclrtMemcpy(buffers[rank], sizeof one, &one, sizeof one, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclmdlRICaptureBegin(streams[rank], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        CHECK(HcclAllReduce(buffers[rank], buffers[rank], 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
        CHECK(aclmdlRICaptureEnd(streams[rank], &models[rank]));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(aclmdlRIExecuteAsync(models[rank], streams[rank]));
        CHECK(HcclAllReduce(buffers[rank], buffers[rank], 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
        CHECK(aclmdlRIExecuteAsync(models[rank], streams[rank]));
        CHECK(aclmdlRIExecuteAsync(models[rank], streams[rank]));
    }
    synchronize_all(0);
    for (int rank = 0; rank < RANKS; rank++) {
        int32_t got;
        use(rank);
        CHECK(aclrtMemcpy(&got, sizeof got, buffers[rank], sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(got == RANKS * RANKS * RANKS * RANKS);
        CHECK(aclmdlRIDestroy(models[rank]));
        CHECK(aclrtFree(buffers[rank]));
    }
}

static void *join(void *argument)
{
    int rank = (int)(intptr_t)argument;
    HcclCommConfig config;

    use(rank);
    HcclCommConfigInit(&config);
    strcpy(config.hcclCommName, "by_threads");
    CHECK(HcclCommInitRootInfoConfig(RANKS, &root_info, (uint32_t)rank, &config, &comms[rank]));
    return NULL;
}

static void join_in_threads(void)
{
    pthread_t threads[RANKS];

    use(0);
    CHECK(HcclGetRootInfo(&root_info));
    for (int rank = 0; rank < RANKS; rank++) {
        REQUIRE(pthread_create(&threads[rank], NULL, join, (void *)(intptr_t)rank) == 0);
    }
    for (int rank = 0; rank < RANKS; rank++) {
        REQUIRE(pthread_join(threads[rank], NULL) == 0);
    }
}

static void destroy_all(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(HcclCommDestroy(comms[rank]));
        EXPECT(HCCL_E_PARA, HcclCommDestroy(comms[rank]));
    }
}

static void parts(void)
{
    uint32_t members[2] = {1, 3};
    HcclComm part[2];
    int32_t *buffers[2];

    for (int k = 0; k < 2; k++) {
        int32_t own = k + 1;
        int rank = (int)members[k];
        use(rank);
        CHECK(HcclCreateSubCommConfig(&comms[rank], 2, members, 5, (uint32_t)k, NULL, &part[k]));
        buffers[k] = device_memory(sizeof own);
        CHECK(aclrtMemcpy(buffers[k], sizeof own, &own, sizeof own, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(HcclAllReduce(buffers[k], buffers[k], 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, part[k], streams[rank]));
    }
    for (int k = 0; k < 2; k++) {
        int32_t got;
        HcclComm again;
        char name[128];
        int rank = (int)members[k];
        use(rank);
        CHECK(aclrtSynchronizeStreamWithTimeout(streams[rank], (int32_t)(PATIENCE_S * 1000)));
        CHECK(aclrtMemcpy(&got, sizeof got, buffers[k], sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(got == 3);
        CHECK(HcclGetCommName(part[k], name));
        REQUIRE(strcmp(name, "by_threads_sub_5") == 0);
        EXPECT(HCCL_E_NOT_SUPPORT, HcclCreateSubCommConfig(&part[k], 1, members, 6, 0, NULL, &again));
        EXPECT(HCCL_E_PARA, HcclCreateSubCommConfig(&comms[rank], 2, members, 7, (uint32_t)(1 - k), NULL, &again));
        CHECK(HcclCommDestroy(part[k]));
        CHECK(aclrtFree(buffers[k]));
    }
}

static void refused(void)
{
    HcclComm comm = comms[0], other;
    aclrtStream stream = streams[0];
    int32_t twice[2] = {0, 0}, absent[1] = {99};
    HcclComm two[2];
    HcclRootInfo damaged;
    HcclCommConfig config;
    HcclResult async = HCCL_E_INTERNAL;
    char *buffer;

    use(0);
    buffer = device_memory(256);
    EXPECT(HCCL_E_PTR, HcclAllReduce(NULL, buffer, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_PTR, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, NULL));
    EXPECT(HCCL_E_PTR, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, NULL, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, (HcclComm)0x1234, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer, 1, (HcclDataType)13, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_FP32, (HcclReduceOp)4, comm, stream));
    EXPECT(HCCL_E_NOT_SUPPORT, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_UINT8, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_NOT_SUPPORT, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_INT16, HCCL_REDUCE_PROD, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer + 1, buffer + 1, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer + 4, 2, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer, 65536, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    REQUIRE(strstr(aclGetRecentErrMsg(), "leaves allocation") != NULL);
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer, UINT64_MAX / 2, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(&comm, &comm, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, streams[1]));
    EXPECT(HCCL_E_PARA, HcclBroadcast(buffer, 1, HCCL_DATA_TYPE_FP32, RANKS, comm, stream));
    EXPECT(HCCL_E_PARA, HcclSend(buffer, 1, HCCL_DATA_TYPE_FP32, 0, comm, stream));
    EXPECT(HCCL_E_PARA, HcclRecv(buffer, 1, HCCL_DATA_TYPE_FP32, RANKS, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAlltoAll(buffer, 1, HCCL_DATA_TYPE_INT8, buffer, 1, HCCL_DATA_TYPE_INT8, comm, stream));
    EXPECT(HCCL_E_PARA, HcclAlltoAll(buffer, 1, HCCL_DATA_TYPE_INT8, buffer + 64, 2, HCCL_DATA_TYPE_INT8, comm, stream));
    EXPECT(HCCL_E_PARA, HcclBatchSendRecv((HcclSendRecvItem *)buffer, 0, comm, stream));
    EXPECT(HCCL_E_PARA, HcclGroupEnd());
    CHECK(HcclGroupStart());
    EXPECT(HCCL_E_NOT_SUPPORT, HcclBatchSendRecv((HcclSendRecvItem *)twice, 1, comm, stream));
    CHECK(HcclGroupEnd());
    EXPECT(HCCL_E_PARA, HcclCommInitAll(0, twice, two));
    EXPECT(HCCL_E_PARA, HcclCommInitAll(2, twice, two));
    EXPECT(HCCL_E_PARA, HcclCommInitAll(1, absent, two));
    EXPECT(HCCL_E_PTR, HcclGetRootInfo(NULL));
    memset(&damaged, 1, sizeof damaged);
    EXPECT(HCCL_E_PARA, HcclCommInitRootInfo(2, &damaged, 0, &other));
    CHECK(HcclGetRootInfo(&root_info));
    EXPECT(HCCL_E_PARA, HcclCommInitRootInfo(2, &root_info, 2, &other));
    EXPECT(HCCL_E_PARA, HcclCommInitRootInfo(0, &root_info, 0, &other));
    memset(&config, 0, sizeof config);
    EXPECT(HCCL_E_PARA, HcclCommInitRootInfoConfig(1, &root_info, 0, &config, &other));
    REQUIRE(strstr(aclGetRecentErrMsg(), "EI0016") != NULL);
    HcclCommConfigInit(&config);
    strcpy(config.hcclCommName, "by_threads");
    EXPECT(HCCL_E_PARA, HcclCommInitRootInfoConfig(1, &root_info, 0, &config, &other));
    EXPECT(HCCL_E_NOT_FOUND, HcclCommGetHandleWithName("nothing", &other));
    CHECK(HcclCommGetHandleWithName("by_threads", &other));
    REQUIRE(other == comm);
    CHECK(HcclCommInitRootInfo(1, &root_info, 0, &other));
    CHECK(HcclAllReduce(buffer, buffer, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, other, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(HcclCommDestroy(other));
    CHECK(HcclGetCommAsyncError(comm, &async));
    REQUIRE(async == HCCL_SUCCESS);
    EXPECT(HCCL_E_PARA, HcclCommInitClusterInfo("/nonexistent/table.json", 0, &other));
    REQUIRE(strstr(aclGetRecentErrMsg(), "EI0004") != NULL);
    CHECK(aclrtFree(buffer));
}

/* All ranks learn at once what two of them called. */
static void disagreement(void)
{
    float *buffers[RANKS];
    HcclResult async = HCCL_SUCCESS;
    double start = now_s();

    /* Calls of the communicator are refused from the disagreement on. */
    for (int at = 0; at < RANKS; at++) {
        int rank = (at + 3) % RANKS;
        use(rank);
        buffers[rank] = device_memory(64);
        if (rank == 2) {
            CHECK(HcclBroadcast(buffers[rank], 1, HCCL_DATA_TYPE_FP32, 0, comms[rank], streams[rank]));
        } else {
            CHECK(HcclAllReduce(buffers[rank], buffers[rank], 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        const char *text;
        use(rank);
        EXPECT(FAILED_STREAM, aclrtSynchronizeStreamWithTimeout(streams[rank], (int32_t)(PATIENCE_S * 1000)));
        text = aclGetRecentErrMsg();
        REQUIRE(text != NULL && strstr(text, "EI0005") != NULL);
        REQUIRE(strstr(text, "HcclAllReduce(1 x fp32, sum)") != NULL && strstr(text, "rank 2 called HcclBroadcast") != NULL);
        CHECK(HcclGetCommAsyncError(comms[rank], &async));
        REQUIRE(async == HCCL_E_REMOTE);
        CHECK(aclrtFree(buffers[rank]));
    }
    REQUIRE(now_s() - start < PATIENCE_S);
}

/* Rank 3 never comes. */
static void absent(void)
{
    float *buffers[RANKS];

    for (int rank = 0; rank < RANKS - 1; rank++) {
        use(rank);
        buffers[rank] = device_memory(64);
        CHECK(HcclAllReduce(buffers[rank], buffers[rank], 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank], streams[rank]));
    }
    for (int rank = 0; rank < RANKS - 1; rank++) {
        const char *text;
        use(rank);
        EXPECT(FAILED_STREAM, aclrtSynchronizeStreamWithTimeout(streams[rank], (int32_t)(PATIENCE_S * 1000)));
        text = aclGetRecentErrMsg();
        REQUIRE(text != NULL && strstr(text, "EI0002") != NULL && strstr(text, "for rank 3") != NULL);
        CHECK(aclrtFree(buffers[rank]));
    }
}

int main(void)
{
    int32_t devices[RANKS];
    uint32_t count, size, rank_of;

    setenv("JUMAR_WORKERS", "2", 1);
    setenv("JUMAR_DEVICES", "4", 0);
    setenv("JUMAR_HCCL_TIMEOUT", "5", 1);
    CHECK(aclInit(NULL));
    CHECK(aclrtGetDeviceCount(&count));
    REQUIRE(count >= RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        devices[rank] = rank;
        use(rank);
        CHECK(aclrtCreateStream(&streams[rank]));
    }
    CHECK(HcclCommInitAll(RANKS, devices, comms));
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK(HcclGetRankSize(comms[rank], &size));
        CHECK(HcclGetRankId(comms[rank], &rank_of));
        REQUIRE(size == RANKS && rank_of == (uint32_t)rank);
    }
    every_kind();
    captured();
    destroy_all();
    join_in_threads();
    every_kind();
    parts();
    refused();
    disagreement();
    destroy_all();
    join_in_threads();
    absent();
    destroy_all();
    for (int rank = 0; rank < RANKS; rank++) {
        use(rank);
        CHECK(aclrtDestroyStream(streams[rank]));
        CHECK(aclrtResetDevice(rank));
    }
    CHECK(aclFinalize());
    return 0;
}
