/* A training-like loop; every step ends with an event the host waits for. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define STEPS 300
#define BYTES 16384

#define MUST(call)                                                               \
    do {                                                                         \
        aclError rc_ = (call);                                                   \
        if (rc_ != ACL_SUCCESS) {                                                \
            fprintf(stderr, "%s:%d %s: %d\n", __FILE__, __LINE__, #call, rc_);   \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

static aclrtEvent mark(aclrtStream stream)
{
    aclrtEvent event = NULL;
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtRecordEvent(event, stream));
    return event;
}

static void step(void *params, int n, aclrtStream stream)
{
    MUST(aclrtMemsetAsync(params, BYTES, n & 0xff, BYTES, stream));
    aclrtEvent done = mark(stream);
    MUST(aclrtSynchronizeEvent(done));
    MUST(aclrtDestroyEvent(done));
}

static int check(const void *params)
{
    unsigned char last = 0;
    MUST(aclrtMemcpy(&last, 1, (const char *)params + BYTES - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    return last == ((STEPS - 1) & 0xff);
}

int main(void)
{
    aclrtStream stream = NULL;
    void *params = NULL;

    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&params, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));

    for (int n = 0; n < STEPS; n++) {
        step(params, n, stream);
    }
    int good = check(params);
    printf("%d steps, %s\n", STEPS, good ? "good" : "bad");

    MUST(aclrtFree(params));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return !good;
}
