/* For the page of a timeline: two streams, an event from one to the other, a copy from ordinary memory, and a race at the end. */
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define CHECK(call)                 \
    do {                            \
        if ((call) != ACL_SUCCESS)  \
            return __LINE__ & 0x7f; \
    } while (0)

enum { BYTES = 4 << 20 };

int main(void)
{
    aclrtStream producer, consumer;
    aclrtEvent made;
    void *first, *second, *pinned;
    char *ordinary = calloc(1, BYTES);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&producer));
    CHECK(aclrtCreateStream(&consumer));
    CHECK(aclrtCreateEvent(&made));
    CHECK(aclrtMalloc(&first, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&second, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost(&pinned, BYTES));
    memset(pinned, 1, BYTES);
    for (int round = 0; round < 4; round++) {
        CHECK(aclrtMemcpyAsync(first, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, producer));
        CHECK(aclrtMemsetAsync(first, BYTES, round, BYTES, producer));
        CHECK(aclrtRecordEvent(made, producer));
        CHECK(aclrtStreamWaitEvent(consumer, made));
        CHECK(aclrtMemcpyAsync(second, BYTES, first, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer));
        CHECK(aclrtSynchronizeStream(consumer));
    }
    CHECK(aclrtMemcpyAsync(first, BYTES, ordinary, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, producer));
    CHECK(aclrtMemsetAsync(first, BYTES, 9, BYTES, producer));
    /* Nothing makes the consumer wait for the fill. */
    CHECK(aclrtMemcpyAsync(second, BYTES, first, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer));
    CHECK(aclrtSynchronizeDevice());
    CHECK(aclrtFreeHost(pinned));
    CHECK(aclrtFree(second));
    CHECK(aclrtFree(first));
    CHECK(aclrtDestroyEvent(made));
    CHECK(aclrtDestroyStream(consumer));
    CHECK(aclrtDestroyStream(producer));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    free(ordinary);
    return 0;
}
