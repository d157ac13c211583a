/* A program that ends with work queued and nothing released ends all the same, and with its own status. */
#include "program.h"

static void slow(void *argument)
{
    (void)argument;
    sleep_ms(1);
}

static void late(void)
{
    /* Handlers registered before the library was used run after it has begun to go. */
    (void)aclrtSynchronizeDevice();
    (void)aclrtResetDevice(0);
    (void)aclFinalize();
}

int main(int argc, char **argv)
{
    aclrtStream streams[4];
    aclrtEvent event;
    void *device, *host;

    (void)argv;
    if (argc > 1) {
        atexit(late);
    }
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateEvent(&event));
    CHECK(aclrtMalloc(&device, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost(&host, 1 << 20));
    for (int i = 0; i < 4; i++) {
        CHECK(aclrtCreateStream(&streams[i]));
        for (int j = 0; j < 10; j++) {
            CHECK(aclrtMemcpyAsync(device, 1 << 20, host, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE, streams[i]));
            CHECK(aclrtLaunchHostFunc(streams[i], slow, NULL));
        }
        CHECK(aclrtRecordEvent(event, streams[i]));
    }
    return 7;
}
