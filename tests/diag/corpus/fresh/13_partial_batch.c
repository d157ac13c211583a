/* A batch buffer with space for eight samples; the last batch is a short one. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define BATCH 8
#define SAMPLE 1024
#define LAST 5

#define CHECK_RET(ret, msg)                                   \
    do {                                                      \
        aclError r_ = (ret);                                  \
        if (r_ != ACL_SUCCESS) {                              \
            fprintf(stderr, "%s failed, ret=%d\n", msg, r_);  \
            exit(1);                                          \
        }                                                     \
    } while (0)

static const size_t batch_bytes = (size_t)BATCH * SAMPLE * sizeof(float);

static void *batch_create(void)
{
    void *dev = NULL;
    CHECK_RET(aclrtMalloc(&dev, batch_bytes, ACL_MEM_MALLOC_HUGE_FIRST), "malloc batch");
    return dev;
}

static void batch_put(char *dev, int slot, const float *sample)
{
    const size_t bytes = SAMPLE * sizeof(float);
    CHECK_RET(aclrtMemcpy(dev + slot * bytes, bytes, sample, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "put sample");
}

static double batch_mean(const void *dev)
{
    float *host = malloc(batch_bytes);
    double sum = 0.0;
    if (host == NULL) {
        exit(1);
    }
    CHECK_RET(aclrtMemcpy(host, batch_bytes, dev, batch_bytes, ACL_MEMCPY_DEVICE_TO_HOST), "get batch");
    for (size_t i = 0; i < (size_t)BATCH * SAMPLE; i++) {
        sum += host[i];
    }
    free(host);
    return sum / (BATCH * SAMPLE);
}

int main(void)
{
    static float sample[SAMPLE];
    CHECK_RET(aclInit(NULL), "init");
    CHECK_RET(aclrtSetDevice(0), "set device");

    void *batch = batch_create();
    for (int slot = 0; slot < LAST; slot++) {
        for (int i = 0; i < SAMPLE; i++) {
            sample[i] = (float)(slot + 1);
        }
        batch_put(batch, slot, sample);
    }
    printf("mean over the batch: %g\n", batch_mean(batch));

    CHECK_RET(aclrtFree(batch), "free batch");
    CHECK_RET(aclrtResetDevice(0), "reset device");
    CHECK_RET(aclFinalize(), "finalize");
    return 0;
}
