/* Callbacks run in order, inside aclrtProcessReport, on the thread that the stream is subscribed to; a blocking one holds the stream. */
#include "program.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define ROUNDS 20

static atomic_int finished;
static aclrtContext context;
static pthread_t reporter;
static uint8_t *host;
static int order[ROUNDS];
static int seen[ROUNDS];
static atomic_int count;

static void *report(void *argument)
{
    (void)argument;
    CHECK(aclrtSetCurrentContext(context));
    while (!atomic_load(&finished)) {
        aclError ret = aclrtProcessReport(100);
        /* The thread is not subscribed yet, or no callback arrived in time: both are part of polling. */
        REQUIRE(ret == ACL_SUCCESS || ret == ACL_ERROR_RT_REPORT_TIMEOUT || ret == ACL_ERROR_RT_THREAD_SUBSCRIBE);
    }
    return NULL;
}

static void arrived(void *argument)
{
    int round = (int)(intptr_t)argument;
    int at = atomic_load(&count);
    REQUIRE(pthread_equal(pthread_self(), reporter));
    if (at < ROUNDS) {
        order[at] = round;
        seen[at] = host[0];
    }
    atomic_store(&count, at + 1);
}

int main(void)
{
    aclrtStream stream;
    void *device;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateContext(&context, 0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, 64));
    REQUIRE(pthread_create(&reporter, NULL, report, NULL) == 0);

    EXPECT(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(arrived, NULL, ACL_CALLBACK_BLOCK, stream));
    CHECK(aclrtSubscribeReport((uint64_t)reporter, stream));
    EXPECT(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport((uint64_t)reporter, stream));
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(aclrtMemsetAsync(device, 64, round + 1, 64, stream));
        CHECK(aclrtMemcpyAsync(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtLaunchCallback(arrived, (void *)(intptr_t)round, ACL_CALLBACK_BLOCK, stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(atomic_load(&count) == ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        REQUIRE(order[round] == round);
        /* The next round's copy had not begun: the callback blocked the stream. */
        REQUIRE(seen[round] == round + 1);
    }

    /* One that does not block comes as well, some time. */
    CHECK(aclrtLaunchCallback(arrived, NULL, ACL_CALLBACK_NO_BLOCK, stream));
    CHECK(aclrtSynchronizeStream(stream));
    for (double start = now_s(); atomic_load(&count) < ROUNDS + 1;) {
        REQUIRE(now_s() - start < PATIENCE_S);
        /* Where threads take turns (under memcheck), the reporter gets one. */
        sched_yield();
    }

    CHECK(aclrtUnSubscribeReport((uint64_t)reporter, stream));
    EXPECT(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtUnSubscribeReport((uint64_t)reporter, stream));
    EXPECT(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(arrived, NULL, ACL_CALLBACK_BLOCK, stream));
    atomic_store(&finished, 1);
    REQUIRE(pthread_join(reporter, NULL) == 0);

    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtDestroyContext(context));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
