/* Half precision accumulator: cleared on the device, then read back. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define COUNT 8192

typedef uint16_t half_t;

static int failed;

static void report(aclError err, const char *what, int line)
{
    if (err != ACL_SUCCESS) {
        fprintf(stderr, "line %d: %s returned %d\n", line, what, err);
        failed = 1;
    }
}
#define TRY(call) report((call), #call, __LINE__)

struct accumulator {
    void *dev;
    size_t count;
    aclrtStream stream;
};

static void acc_create(struct accumulator *a, size_t count)
{
    a->count = count;
    TRY(aclrtCreateStream(&a->stream));
    TRY(aclrtMalloc(&a->dev, count * sizeof(half_t), ACL_MEM_MALLOC_NORMAL_ONLY));
}

static void acc_clear(struct accumulator *a)
{
    size_t bytes = a->count * sizeof(float);
    TRY(aclrtMemsetAsync(a->dev, bytes, 0, bytes, a->stream));
}

static void acc_wait(struct accumulator *a)
{
    TRY(aclrtSynchronizeStream(a->stream));
}

static void acc_destroy(struct accumulator *a)
{
    TRY(aclrtFree(a->dev));
    TRY(aclrtDestroyStream(a->stream));
}

int main(void)
{
    struct accumulator acc = {0};
    size_t bytes = COUNT * sizeof(half_t);
    half_t *host = calloc(COUNT, sizeof(half_t));
    if (host == NULL) {
        return 1;
    }
    TRY(aclInit(NULL));
    TRY(aclrtSetDevice(0));
    acc_create(&acc, COUNT);
    acc_clear(&acc);
    acc_wait(&acc);
    if (!failed) {
        TRY(aclrtMemcpy(host, bytes, acc.dev, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
        printf("first %u last %u\n", (unsigned)host[0], (unsigned)host[COUNT - 1]);
    }
    acc_destroy(&acc);
    TRY(aclrtResetDevice(0));
    TRY(aclFinalize());
    free(host);
    return failed;
}
