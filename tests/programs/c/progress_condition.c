/* Queued work is done while the program waits on a condition variable that a host function of the stream sets. */
#include "program.h"

#include <pthread.h>

#define ROUNDS 50

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int round;
    const uint8_t *host;
    int seen; /* what the copy before the host function had brought */
} Meeting;

static void announce(void *argument)
{
    Meeting *meeting = (Meeting *)argument;
    pthread_mutex_lock(&meeting->lock);
    meeting->round++;
    meeting->seen = meeting->host[0];
    pthread_cond_signal(&meeting->changed);
    pthread_mutex_unlock(&meeting->lock);
}

int main(void)
{
    static Meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NULL, 0};
    aclrtStream stream;
    void *device;
    uint8_t *host;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, 64));
    meeting.host = host;

    for (int round = 1; round <= ROUNDS; round++) {
        struct timespec limit;
        CHECK(aclrtMemsetAsync(device, 64, round, 64, stream));
        CHECK(aclrtMemcpyAsync(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtLaunchHostFunc(stream, announce, &meeting));
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += (time_t)PATIENCE_S;
        pthread_mutex_lock(&meeting.lock);
        while (meeting.round < round) {
            REQUIRE(pthread_cond_timedwait(&meeting.changed, &meeting.lock, &limit) == 0);
        }
        REQUIRE(meeting.seen == round);
        pthread_mutex_unlock(&meeting.lock);
    }

    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
