/* Streams are independent: while a host function blocks one, and others wait for its events, every other stream runs.
 *
 * Nothing here depends on time: the host function returns only when the program has seen the other stream's work done.
 */
#include "program.h"

#include <pthread.h>

#define WAITING 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int released;

static void hold(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    while (!released) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    aclrtStream held, free_stream, waiting[WAITING];
    aclrtEvent event, unsettled;
    aclrtEventRecordedStatus status;
    void *device;
    uint8_t *host;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&held));
    CHECK(aclrtCreateStream(&free_stream));
    CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventExWithFlag(&unsettled, ACL_EVENT_SYNC));
    CHECK(aclrtMalloc(&device, (WAITING + 1) * 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, (WAITING + 1) * 64));
    memset(host, 0, (WAITING + 1) * 64);

    CHECK(aclrtLaunchHostFunc(held, hold, NULL));
    CHECK(aclrtRecordEvent(event, held));
    for (int i = 0; i < WAITING; i++) {
        uint8_t *there = (uint8_t *)device + i * 64;
        CHECK(aclrtCreateStream(&waiting[i]));
        CHECK(aclrtStreamWaitEvent(waiting[i], event));
        CHECK(aclrtMemsetAsync(there, 64, i + 1, 64, waiting[i]));
        CHECK(aclrtMemcpyAsync(host + i * 64, 64, there, 64, ACL_MEMCPY_DEVICE_TO_HOST, waiting[i]));
        CHECK(aclrtRecordEvent(unsettled, waiting[i]));
    }

    {
        uint8_t *there = (uint8_t *)device + WAITING * 64;
        CHECK(aclrtMemsetAsync(there, 64, 0x77, 64, free_stream));
        CHECK(aclrtMemcpyAsync(host + WAITING * 64, 64, there, 64, ACL_MEMCPY_DEVICE_TO_HOST, free_stream));
        CHECK(aclrtSynchronizeStream(free_stream));
        REQUIRE(host[WAITING * 64] == 0x77);
    }
    CHECK(aclrtQueryEventStatus(event, &status));
    REQUIRE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting[0], 10));
    EXPECT(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(unsettled, 10));
    for (int i = 0; i < WAITING; i++) {
        REQUIRE(host[i * 64] == 0);
    }

    pthread_mutex_lock(&lock);
    released = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    CHECK(aclrtSynchronizeDevice());
    for (int i = 0; i < WAITING; i++) {
        REQUIRE(host[i * 64] == i + 1 && host[i * 64 + 63] == i + 1);
        CHECK(aclrtDestroyStream(waiting[i]));
    }

    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyEvent(unsettled));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(free_stream));
    CHECK(aclrtDestroyStream(held));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
