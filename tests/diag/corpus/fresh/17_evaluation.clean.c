/* Evaluation: the workers count their hits and add them up.
   DEVICES 2 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 2
#define BATCHES 8

#define MUST(call)                                                                  \
    do {                                                                            \
        int rc_ = (int)(call);                                                      \
        if (rc_ != 0) {                                                             \
            fprintf(stderr, "%s:%d %s: %d\n", __FILE__, __LINE__, #call, rc_);      \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static HcclComm comms[RANKS];

static int64_t hits_of(intptr_t rank, int batch)
{
    return 10 * (rank + 1) + batch;
}

static void *worker(void *argument)
{
    intptr_t rank = (intptr_t)argument;
    int64_t hits = 0;
    void *total = NULL;
    aclrtStream stream = NULL;

    MUST(aclrtSetDevice((int32_t)rank));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&total, sizeof(hits), ACL_MEM_MALLOC_NORMAL_ONLY));
    for (int batch = 0; batch < BATCHES; batch++) {
        hits += hits_of(rank, batch);
    }
    MUST(aclrtMemcpy(total, sizeof(hits), &hits, sizeof(hits), ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(HcclAllReduce(total, total, 1, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, comms[rank], stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(&hits, sizeof(hits), total, sizeof(hits), ACL_MEMCPY_DEVICE_TO_HOST));
    if (rank == 0) {
        printf("%lld hits\n", (long long)hits);
    }

    MUST(HcclCommDestroy(comms[rank]));
    MUST(aclrtFree(total));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice((int32_t)rank));
    return NULL;
}

int main(void)
{
    int32_t devices[RANKS];
    pthread_t threads[RANKS];

    MUST(aclInit(NULL));
    for (int rank = 0; rank < RANKS; rank++) {
        devices[rank] = rank;
        MUST(aclrtSetDevice(rank));
    }
    MUST(HcclCommInitAll(RANKS, devices, comms));
    for (intptr_t rank = 0; rank < RANKS; rank++) {
        MUST(pthread_create(&threads[rank], NULL, worker, (void *)rank));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        MUST(pthread_join(threads[rank], NULL));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        MUST(aclrtResetDevice(rank));
    }
    MUST(aclFinalize());
    return 0;
}
