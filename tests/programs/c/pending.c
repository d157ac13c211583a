/* What destroy and reset do with work that is pending: the plain forms do it first, the Force forms drop what has not begun; a
 * stream that waits for something that never happens blocks neither a reset nor a Force. */
#include "program.h"

#include <pthread.h>

enum { BYTES = 1 << 20, MANY = 200 };

static volatile int calls;

static void slow(void *argument)
{
    (void)argument;
    sleep_ms(2);
    calls++;
}

static void *device, *host;

static void check_bytes(int value)
{
    CHECK(aclrtMemcpy(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < BYTES; i++) {
        REQUIRE(((unsigned char *)host)[i] == value);
    }
}

static aclrtStream filled(int value, int times)
{
    aclrtStream stream;
    CHECK(aclrtCreateStream(&stream));
    for (int i = 0; i < times; i++) {
        CHECK(aclrtMemsetAsync(device, BYTES, i + 1 == times ? value : i, BYTES, stream));
    }
    return stream;
}

int main(void)
{
    aclrtStream stream;
    aclrtEvent never;
    aclrtContext context;
    double start;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    host = malloc(BYTES);
    CHECK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC));

    /* Plain: everything is done first. */
    CHECK(aclrtDestroyStream(filled(7, MANY)));
    check_bytes(7);
    CHECK(aclrtCreateStream(&stream));
    for (int i = 0; i < 20; i++) {
        CHECK(aclrtLaunchHostFunc(stream, slow, NULL));
    }
    CHECK(aclrtDestroyStream(stream));
    REQUIRE(calls == 20);

    /* Force: what waits is dropped, at once. */
    CHECK(aclrtMemset(device, BYTES, 9, BYTES));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtStreamWaitEvent(stream, never));
    CHECK(aclrtMemsetAsync(device, BYTES, 1, BYTES, stream));
    CHECK(aclrtLaunchHostFunc(stream, slow, NULL));
    start = now_s();
    CHECK(aclrtDestroyStreamForce(stream));
    REQUIRE(now_s() - start < 5.0);
    check_bytes(9);
    REQUIRE(calls == 20);
    EXPECT(107017, aclrtSynchronizeStream(stream));

    /* A context that goes takes its streams with it, after their work. */
    CHECK(aclrtCreateContext(&context, 0));
    (void)filled(3, MANY);
    CHECK(aclrtDestroyContext(context));
    CHECK(aclrtSetDevice(0));
    check_bytes(3);

    /* A reset does what can be done and drops tasks whose wait cannot end, among them callbacks without a report thread. */
    CHECK(aclrtMemset(device, BYTES, 9, BYTES));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    CHECK(aclrtLaunchCallback(slow, NULL, ACL_CALLBACK_BLOCK, stream));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtStreamWaitEvent(stream, never));
    CHECK(aclrtMemsetAsync(device, BYTES, 1, BYTES, stream));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtValueWait(device, 1, 1, stream));
    start = now_s();
    CHECK(aclrtResetDeviceForce(0));
    REQUIRE(now_s() - start < 5.0);
    REQUIRE(calls == 20);
    EXPECT(107002, aclrtMemset(device, BYTES, 1, BYTES));
    CHECK(aclFinalize());
    return 0;
}
