/* A blocking callback copies device memory on the subscribed thread. The main thread waits for the stream, and so for the callback, ends
 * the thread and frees the memory. The thread polls from its start: before it is subscribed its polls are refused, and it tries again. */
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 4096, ROUNDS = 20 };

static aclrtContext context;
static void *memory;
static uint8_t host[SIZE];
static atomic_bool begun, ended;

static void *poll_reports(void *unused)
{
    (void)unused;
    CHECK(aclrtSetCurrentContext(context));
    /* This thread cannot be subscribed yet. */
    REQUIRE(aclrtProcessReport(1) != ACL_SUCCESS);
    atomic_store(&begun, true);
    while (!atomic_load(&ended)) {
        (void)aclrtProcessReport(10);
    }
    return NULL;
}

static void copy_back(void *round)
{
    CHECK(aclrtMemcpy(host, SIZE, memory, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(host[SIZE - 1] == *(uint8_t *)round);
}

int main(void)
{
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    for (uint8_t round = 0; round < ROUNDS; ++round) {
        aclrtStream stream;
        pthread_t thread;
        CHECK(aclrtCreateStream(&stream));
        CHECK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        atomic_store(&begun, false);
        atomic_store(&ended, false);
        REQUIRE(pthread_create(&thread, NULL, poll_reports, NULL) == 0);
        while (!atomic_load(&begun)) {
            sleep_ms(1);
        }
        CHECK(aclrtSubscribeReport((uint64_t)thread, stream));
        CHECK(aclrtMemsetAsync(memory, SIZE, round, SIZE, stream));
        CHECK(aclrtLaunchCallback(copy_back, &round, ACL_CALLBACK_BLOCK, stream));
        CHECK(aclrtSynchronizeStream(stream));
        /* Only a subscribed thread may poll: it ends before it is unsubscribed. */
        atomic_store(&ended, true);
        REQUIRE(pthread_join(thread, NULL) == 0);
        CHECK(aclrtUnSubscribeReport((uint64_t)thread, stream));
        CHECK(aclrtFree(memory));
        CHECK(aclrtDestroyStream(stream));
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
