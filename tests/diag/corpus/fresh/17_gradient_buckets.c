/* Data-parallel training step: the gradients of two workers are summed, bucket by bucket.
   DEVICES 2 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 2
#define PARAMS 5000
#define BUCKET 2048

#define MUST(call)                                                                  \
    do {                                                                            \
        int rc_ = (int)(call);                                                      \
        if (rc_ != 0) {                                                             \
            fprintf(stderr, "%s:%d %s: %d\n", __FILE__, __LINE__, #call, rc_);      \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static HcclComm comms[RANKS];
/* Parameters of the model on each worker; the second one has no bias. */
static const size_t trained[RANKS] = {PARAMS, PARAMS - 8};

static void sum_gradients(float *grad, size_t params, HcclComm comm, aclrtStream stream)
{
    for (size_t first = 0; first < params; first += BUCKET) {
        size_t count = params - first < BUCKET ? params - first : BUCKET;
        MUST(HcclAllReduce(grad + first, grad + first, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream));
    }
}

static void *worker(void *argument)
{
    intptr_t rank = (intptr_t)argument;
    size_t bytes = PARAMS * sizeof(float);
    float *host = malloc(bytes);
    void *grad = NULL;
    aclrtStream stream = NULL;

    MUST(aclrtSetDevice((int32_t)rank));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&grad, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < PARAMS; i++) {
        host[i] = (float)(rank + 1);
    }
    MUST(aclrtMemcpy(grad, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));

    sum_gradients(grad, trained[rank], comms[rank], stream);
    MUST(aclrtSynchronizeStream(stream));

    MUST(aclrtMemcpy(host, bytes, grad, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("rank %d: %.1f .. %.1f\n", (int)rank, host[0], host[trained[rank] - 1]);

    MUST(HcclCommDestroy(comms[rank]));
    MUST(aclrtFree(grad));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice((int32_t)rank));
    free(host);
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
