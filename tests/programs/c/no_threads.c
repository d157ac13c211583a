/* A process that may have no more threads (a limit of processes): polling makes progress all the same, waits with a limit too. */
#include "program.h"

#include <errno.h>
#include <pthread.h>

/* Stands in front of the system's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    (void)thread;
    (void)attributes;
    (void)start;
    (void)argument;
    return EAGAIN;
}

enum { BYTES = 1 << 20, TURNS = 1000000 };

int main(void)
{
    aclrtStream first, second;
    aclrtEvent event;
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    unsigned char *host, *device;
    void *memory, *target;
    long turn;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&first));
    CHECK(aclrtCreateStream(&second));
    CHECK(aclrtCreateEvent(&event));
    CHECK(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost(&target, BYTES));
    device = memory;
    host = target;
    memset(host, 0, BYTES);
    /* The second stream waits for the first; what is asked for is the second alone. */
    CHECK(aclrtMemsetAsync(device, BYTES, 7, BYTES, first));
    CHECK(aclrtRecordEvent(event, first));
    CHECK(aclrtStreamWaitEvent(second, event));
    CHECK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, second));
    for (turn = 0; turn < TURNS && status != ACL_STREAM_STATUS_COMPLETE; turn++) CHECK(aclrtStreamQuery(second, &status));
    REQUIRE(status == ACL_STREAM_STATUS_COMPLETE);
    REQUIRE(host[0] == 7 && host[BYTES - 1] == 7);
    /* An event by itself. */
    CHECK(aclrtMemsetAsync(device, BYTES, 8, BYTES, first));
    CHECK(aclrtRecordEvent(event, first));
    for (turn = 0; turn < TURNS && recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE; turn++)
        CHECK(aclrtQueryEventStatus(event, &recorded));
    REQUIRE(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    /* A wait with a limit. */
    CHECK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, first));
    CHECK(aclrtSynchronizeStreamWithTimeout(first, 20000));
    REQUIRE(host[0] == 8 && host[BYTES - 1] == 8);
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtFreeHost(target));
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(first));
    CHECK(aclrtDestroyStream(second));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("ok\n");
    return 0;
}
