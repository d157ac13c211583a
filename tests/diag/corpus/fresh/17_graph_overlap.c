/* The sum of the gradients is captured once and replayed in each step, on a stream beside the computation.
   DEVICES 2 */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 2
#define STEPS 4
#define COUNT 16384
#define BYTES (COUNT * sizeof(float))

static void ok(int code, const char *call, int line)
{
    if (code != 0) {
        fprintf(stderr, "line %d: %s -> %d\n", line, call, code);
        exit(1);
    }
}
#define OK(call) ok((int)(call), #call, __LINE__)

struct replica {
    HcclComm comm;
    aclrtStream compute;
    aclrtStream transfer;
    aclrtEvent ready;
    aclrtEvent reduced;
    aclmdlRI sum;
    void *gradients;
    void *total;
};

static void prepare(struct replica *r)
{
    OK(aclrtCreateStream(&r->compute));
    OK(aclrtCreateStream(&r->transfer));
    OK(aclrtCreateEventExWithFlag(&r->ready, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&r->reduced, ACL_EVENT_SYNC));
    OK(aclrtMalloc(&r->gradients, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&r->total, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclmdlRICaptureBegin(r->transfer, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    OK(HcclAllReduce(r->gradients, r->total, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r->comm, r->transfer));
    OK(aclmdlRICaptureEnd(r->transfer, &r->sum));
}

static void step(struct replica *r, int number)
{
    /* The backward pass leaves this step's gradients. */
    OK(aclrtMemsetAsync(r->gradients, BYTES, number, BYTES, r->compute));
    OK(aclrtRecordEvent(r->ready, r->compute));
    OK(aclrtStreamWaitEvent(r->transfer, r->ready));
    OK(aclmdlRIExecuteAsync(r->sum, r->transfer));
    OK(aclrtRecordEvent(r->reduced, r->transfer));
}

static void finish(struct replica *r)
{
    OK(aclrtStreamWaitEvent(r->compute, r->reduced));
    OK(aclrtSynchronizeStream(r->compute));
    OK(aclmdlRIDestroy(r->sum));
    OK(HcclCommDestroy(r->comm));
    OK(aclrtFree(r->total));
    OK(aclrtFree(r->gradients));
    OK(aclrtDestroyEvent(r->reduced));
    OK(aclrtDestroyEvent(r->ready));
    OK(aclrtDestroyStream(r->transfer));
    OK(aclrtDestroyStream(r->compute));
}

int main(void)
{
    struct replica replicas[RANKS] = {0};
    int32_t devices[RANKS] = {0, 1};
    HcclComm comms[RANKS] = {0};
    OK(aclInit(NULL));
    OK(HcclCommInitAll(RANKS, devices, comms));
    for (int i = 0; i < RANKS; i++) {
        OK(aclrtSetDevice(i));
        replicas[i].comm = comms[i];
        prepare(&replicas[i]);
    }
    for (int number = 1; number <= STEPS; number++) {
        for (int i = 0; i < RANKS; i++) {
            OK(aclrtSetDevice(i));
            step(&replicas[i], number);
        }
    }
    for (int i = 0; i < RANKS; i++) {
        OK(aclrtSetDevice(i));
        finish(&replicas[i]);
    }
    for (int i = 0; i < RANKS; i++) {
        OK(aclrtResetDevice(i));
    }
    OK(aclFinalize());
    printf("%d steps done\n", STEPS);
    return 0;
}
