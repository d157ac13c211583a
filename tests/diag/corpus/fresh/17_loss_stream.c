/* Gradients are summed on the compute stream, the loss for the log on a stream of its own.
   DEVICES 2 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 2
#define PARAMS 2048
#define STEPS 3

#define MUST(call)                                                                  \
    do {                                                                            \
        int rc_ = (int)(call);                                                      \
        if (rc_ != 0) {                                                             \
            fprintf(stderr, "%s:%d %s: %d\n", __FILE__, __LINE__, #call, rc_);      \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static HcclComm comms[RANKS];

struct state {
    aclrtStream compute;
    aclrtStream log;
    void *grad;
    void *loss;
};

static void step(struct state *s, HcclComm comm, const float *host)
{
    size_t bytes = PARAMS * sizeof(float);

    MUST(aclrtMemcpy(s->grad, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtMemcpy(s->loss, sizeof(float), host, sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(HcclAllReduce(s->grad, s->grad, PARAMS, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, s->compute));
    MUST(HcclAllReduce(s->loss, s->loss, 1, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, s->log));
    MUST(aclrtSynchronizeStream(s->compute));
    MUST(aclrtSynchronizeStream(s->log));
}

static void *worker(void *argument)
{
    intptr_t rank = (intptr_t)argument;
    struct state s = {0};
    float host[PARAMS];
    float loss = 0;

    MUST(aclrtSetDevice((int32_t)rank));
    MUST(aclrtCreateStream(&s.compute));
    MUST(aclrtCreateStream(&s.log));
    MUST(aclrtMalloc(&s.grad, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&s.loss, sizeof(float), ACL_MEM_MALLOC_NORMAL_ONLY));
    for (int i = 0; i < PARAMS; i++) {
        host[i] = (float)(rank + 1);
    }
    for (int n = 0; n < STEPS; n++) {
        step(&s, comms[rank], host);
    }
    MUST(aclrtMemcpy(&loss, sizeof(loss), s.loss, sizeof(loss), ACL_MEMCPY_DEVICE_TO_HOST));
    printf("rank %d: loss %.1f\n", (int)rank, loss);

    MUST(HcclCommDestroy(comms[rank]));
    MUST(aclrtFree(s.loss));
    MUST(aclrtFree(s.grad));
    MUST(aclrtDestroyStream(s.log));
    MUST(aclrtDestroyStream(s.compute));
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
