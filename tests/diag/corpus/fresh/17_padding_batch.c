/* Two pipeline stages exchange activations and gradients for each micro batch; the last micro batch may be empty.
   DEVICES 2 */
#include <pthread.h>
#include <stdio.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define STAGES 2
#define BATCHES 4
#define WIDTH 256
#define MAX_ROWS 32
#define BYTES (MAX_ROWS * WIDTH * sizeof(float))

static const uint64_t rows_of_batch[BATCHES] = {32, 32, 16, 0};

struct stage {
    uint32_t rank;
    aclrtContext context;
    aclrtStream stream;
    HcclComm comm;
    void *out;
    void *in;
    int errors;
};

static int bad(int code, const char *call)
{
    if (code != 0) {
        fprintf(stderr, "%s -> %d\n", call, code);
    }
    return code != 0;
}
#define BAD(call) bad((int)(call), #call)

/* Sends and receives of a micro batch go out together, so that neither stage waits for the other's call. */
static int exchange(struct stage *s, uint64_t rows)
{
    uint32_t peer = 1 - s->rank;
    int errors = BAD(HcclGroupStart());
    if (rows == 0) {
        return errors;
    }
    errors += BAD(HcclSend(s->out, rows * WIDTH, HCCL_DATA_TYPE_FP32, peer, s->comm, s->stream));
    errors += BAD(HcclRecv(s->in, rows * WIDTH, HCCL_DATA_TYPE_FP32, peer, s->comm, s->stream));
    errors += BAD(HcclGroupEnd());
    errors += BAD(aclrtSynchronizeStream(s->stream));
    return errors;
}

static void *run_stage(void *argument)
{
    struct stage *s = argument;
    s->errors += BAD(aclrtSetCurrentContext(s->context));
    for (int batch = 0; batch < BATCHES; batch++) {
        s->errors += exchange(s, rows_of_batch[batch]);
    }
    return NULL;
}

int main(void)
{
    struct stage stages[STAGES] = {0};
    int32_t devices[STAGES] = {0, 1};
    HcclComm comms[STAGES] = {0};
    pthread_t threads[STAGES];
    int errors = BAD(aclInit(NULL));
    errors += BAD(HcclCommInitAll(STAGES, devices, comms));
    for (uint32_t i = 0; i < STAGES; i++) {
        stages[i].rank = i;
        stages[i].comm = comms[i];
        errors += BAD(aclrtSetDevice(devices[i]));
        errors += BAD(aclrtGetCurrentContext(&stages[i].context));
        errors += BAD(aclrtCreateStream(&stages[i].stream));
        errors += BAD(aclrtMalloc(&stages[i].out, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        errors += BAD(aclrtMalloc(&stages[i].in, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        errors += BAD(aclrtMemset(stages[i].out, BYTES, 1, BYTES));
    }
    for (int i = 0; i < STAGES; i++) {
        pthread_create(&threads[i], NULL, run_stage, &stages[i]);
    }
    for (int i = 0; i < STAGES; i++) {
        pthread_join(threads[i], NULL);
        errors += stages[i].errors;
    }
    for (int i = 0; i < STAGES; i++) {
        errors += BAD(aclrtSetCurrentContext(stages[i].context));
        errors += BAD(HcclCommDestroy(stages[i].comm));
        errors += BAD(aclrtFree(stages[i].in));
        errors += BAD(aclrtFree(stages[i].out));
        errors += BAD(aclrtDestroyStream(stages[i].stream));
    }
    for (int i = 0; i < STAGES; i++) {
        errors += BAD(aclrtResetDevice(devices[i]));
    }
    errors += BAD(aclFinalize());
    printf("%d micro batches, %d errors\n", BATCHES, errors);
    return errors != 0;
}
