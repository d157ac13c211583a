/* The documented order of teardown works, again and again; what comes too late or twice is answered. */
#include "program.h"

#define SIZE 4096

static void slow(void *argument)
{
    sleep_ms(5);
    *(volatile int *)argument = 1;
}

int main(void)
{
    aclrtStream stream, pending;
    aclrtEvent event;
    aclrtContext context, current;
    void *device, *host;
    volatile int ran = 0;

    for (int life = 0; life < 3; life++) {
        ran = 0;
        CHECK(aclInit(NULL));
        CHECK(aclrtSetDevice(0));
        CHECK(aclrtCreateContext(&context, 0));
        CHECK(aclrtCreateStream(&stream));
        CHECK(aclrtCreateStream(&pending));
        CHECK(aclrtCreateEvent(&event));
        CHECK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMallocHost(&host, SIZE));
        CHECK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        CHECK(aclrtRecordEvent(event, stream));
        CHECK(aclrtSynchronizeStream(stream));

        /* Destroying a stream with work under way waits for the work. */
        CHECK(aclrtLaunchHostFunc(pending, slow, (void *)&ran));
        CHECK(aclrtDestroyStream(pending));
        REQUIRE(ran == 1);
        /* Destroying an event does not. */
        CHECK(aclrtRecordEvent(event, stream));
        CHECK(aclrtDestroyEvent(event));
        EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event));

        CHECK(aclrtFreeHost(host));
        CHECK(aclrtFree(device));
        CHECK(aclrtDestroyStream(stream));
        EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
        EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyContext(context));
        EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(context));
        EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&current));
        EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
        CHECK(aclrtResetDevice(0));
        EXPECT(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
        CHECK(aclFinalize());
        EXPECT(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    }

    /* Late calls, as destructors make them, are answered too. */
    EXPECT(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0));
    REQUIRE(aclrtDestroyStream(stream) != ACL_SUCCESS);
    REQUIRE(aclrtDestroyEvent(event) != ACL_SUCCESS);
    REQUIRE(aclrtFree(device) != ACL_SUCCESS);
    REQUIRE(aclrtFreeHost(host) != ACL_SUCCESS);
    return 0;
}
