/* Threads start without a device, share contexts that they make current, and submit to one stream and to their own. */
#include "program.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS 100
#define SIZE 256

static aclrtContext context;
static aclrtStream shared;

static void *worker(void *argument)
{
    int me = (int)(intptr_t)argument;
    aclrtContext current;
    aclrtStream own;
    void *device;
    uint8_t *host;

    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&current));
    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&own));
    CHECK(aclrtSetCurrentContext(context));
    CHECK(aclrtGetCurrentContext(&current));
    REQUIRE(current == context);
    CHECK(aclrtCreateStream(&own));
    CHECK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, SIZE));
    for (int round = 0; round < ROUNDS; round++) {
        aclrtStream stream = round % 2 == 0 ? own : shared;
        int value = (me * ROUNDS + round) & 0xff;
        CHECK(aclrtMemsetAsync(device, SIZE, value, SIZE, stream));
        CHECK(aclrtMemcpyAsync(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtSynchronizeStream(stream));
        REQUIRE(host[0] == value && host[SIZE - 1] == value);
    }
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(own));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateContext(&context, 0));
    CHECK(aclrtCreateStream(&shared));
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(aclrtDestroyStream(shared));
    CHECK(aclrtDestroyContext(context));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
