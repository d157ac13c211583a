/* A callback cannot wait for the stream that waits for it: such a wait is refused at once. Another stream works. */
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BYTES = 4096 };

static aclrtContext context;
static aclrtStream held, other;
static aclrtEvent later;
static void *device, *pinned;
static char ordinary[BYTES];
static volatile int done;
/* Set once the event is recorded: a wait before that returns at once. */
static atomic_int recorded;
/* Set once there is something behind the callback that resets. */
static atomic_int queued;

static void refused(void *argument)
{
    double start = now_s();

    (void)argument;
    CHECK(aclrtSetCurrentContext(context));
    EXPECT(507000, aclrtSynchronizeStream(held));
    REQUIRE(strstr(aclGetRecentErrMsg(), "callback") != NULL);
    EXPECT(507000, aclrtSynchronizeStreamWithTimeout(held, 60000));
    EXPECT(507000, aclrtSynchronizeDevice());
    EXPECT(507000, aclrtSynchronizeDeviceWithTimeout(60000));
    while (!recorded) {
        sleep_ms(1);
    }
    EXPECT(507000, aclrtSynchronizeEvent(later));
    EXPECT(507000, aclrtDestroyStream(held));
    /* Ordinary host memory makes the call wait for the stream first. */
    EXPECT(507000, aclrtMemcpyAsync(device, BYTES, ordinary, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, held));
    /* Work may be queued behind the callback if the callback does not wait for it, and another stream may be waited for. */
    CHECK(aclrtMemcpyAsync(device, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, held));
    CHECK(aclrtMemsetAsync(device, BYTES, 1, BYTES, other));
    CHECK(aclrtSynchronizeStream(other));
    REQUIRE(now_s() - start < 5.0);
    done++;
}

static void *report(void *argument)
{
    (void)argument;
    /* Until the thread is subscribed the call is refused, and afterwards again. */
    while (done < 2) {
        if (aclrtProcessReport(100) != ACL_SUCCESS) {
            sleep_ms(1);
        }
    }
    return NULL;
}

static void resets(void *argument)
{
    (void)argument;
    while (!queued) {
        sleep_ms(1);
    }
    CHECK(aclrtResetDeviceForce(0));
    done++;
}

int main(void)
{
    pthread_t thread;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtCreateStream(&held));
    CHECK(aclrtCreateStream(&other));
    CHECK(aclrtCreateEvent(&later));
    CHECK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost(&pinned, BYTES));

    /* On the runtime's own thread. */
    CHECK(aclrtLaunchHostFunc(held, refused, NULL));
    CHECK(aclrtRecordEvent(later, held));
    recorded = 1;
    CHECK(aclrtSynchronizeStream(held));
    REQUIRE(done == 1);
    CHECK(aclrtDestroyStream(held));

    /* On a thread of the program. */
    CHECK(aclrtCreateStream(&held));
    REQUIRE(pthread_create(&thread, NULL, report, NULL) == 0);
    CHECK(aclrtSubscribeReport((uint64_t)thread, held));
    recorded = 0;
    CHECK(aclrtLaunchCallback(refused, NULL, ACL_CALLBACK_BLOCK, held));
    CHECK(aclrtRecordEvent(later, held));
    recorded = 1;
    CHECK(aclrtSynchronizeStream(held));
    REQUIRE(done == 2);
    CHECK(aclrtUnSubscribeReport((uint64_t)thread, held));
    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK(aclrtDestroyStream(held));

    /* A callback that resets the device drops the tasks behind it, and no thread hangs. */
    CHECK(aclrtCreateStream(&held));
    CHECK(aclrtLaunchHostFunc(held, resets, NULL));
    CHECK(aclrtMemsetAsync(device, BYTES, 1, BYTES, held));
    queued = 1;
    for (double start = now_s(); done < 3;) {
        REQUIRE(now_s() - start < 5.0);
        sleep_ms(1);
    }
    EXPECT(507007, aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
