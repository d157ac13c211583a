/* The leader loads the weights and broadcasts them; the follower takes part once they are loaded.
   DEVICES 2 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 2
#define WEIGHTS 1024

#define MUST(call)                                                                  \
    do {                                                                            \
        int rc_ = (int)(call);                                                      \
        if (rc_ != 0) {                                                             \
            fprintf(stderr, "%s:%d %s: %d\n", __FILE__, __LINE__, #call, rc_);      \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static HcclComm comms[RANKS];
static sem_t loaded;

static void publish(float *weights, HcclComm comm, aclrtStream stream)
{
    float host[WEIGHTS];

    for (int i = 0; i < WEIGHTS; i++) {
        host[i] = 0.5f * (float)i;
    }
    MUST(aclrtMemcpy(weights, sizeof(host), host, sizeof(host), ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(HcclBroadcast(weights, WEIGHTS, HCCL_DATA_TYPE_FP32, 0, comm, stream));
    MUST(sem_post(&loaded));
}

static void fetch(float *weights, uint32_t leader, HcclComm comm, aclrtStream stream)
{
    MUST(sem_wait(&loaded));
    MUST(HcclBroadcast(weights, WEIGHTS, HCCL_DATA_TYPE_FP32, leader, comm, stream));
}

static void *worker(void *argument)
{
    intptr_t rank = (intptr_t)argument;
    float last = 0;
    void *weights = NULL;
    aclrtStream stream = NULL;

    MUST(aclrtSetDevice((int32_t)rank));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&weights, WEIGHTS * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(weights, WEIGHTS * sizeof(float), 0, WEIGHTS * sizeof(float)));

    if (rank == 0) {
        publish(weights, comms[rank], stream);
    } else {
        fetch(weights, 0, comms[rank], stream);
    }
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(&last, sizeof(last), (float *)weights + WEIGHTS - 1, sizeof(last), ACL_MEMCPY_DEVICE_TO_HOST));
    printf("rank %d: last weight %.1f\n", (int)rank, last);

    MUST(HcclCommDestroy(comms[rank]));
    MUST(aclrtFree(weights));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice((int32_t)rank));
    return NULL;
}

int main(void)
{
    int32_t devices[RANKS];
    pthread_t threads[RANKS];

    MUST(sem_init(&loaded, 0, 0));
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
    MUST(sem_destroy(&loaded));
    return 0;
}
