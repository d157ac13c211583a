/* A producer and a consumer stream hand one device buffer to and fro through events, with no wait of the host. */
#include "program.h"

#define SIZE 1024
#define ROUNDS 200

static void dawdle(void *argument)
{
    (void)argument;
    sleep_ms(2);
}

int main(void)
{
    aclrtStream producer, consumer;
    aclrtEvent full, empty;
    void *device;
    uint8_t *host;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&producer));
    CHECK(aclrtCreateStream(&consumer));
    CHECK(aclrtCreateEventExWithFlag(&full, ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventExWithFlag(&empty, ACL_EVENT_SYNC));
    CHECK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, SIZE * ROUNDS));

    for (int round = 0; round < ROUNDS; round++) {
        /* A wait for an event that was never recorded does not block: the buffer is free in the first round. */
        CHECK(aclrtStreamWaitEvent(producer, empty));
        if (round % 20 == 0) {
            CHECK(aclrtLaunchHostFunc(producer, dawdle, NULL));
        }
        CHECK(aclrtMemsetAsync(device, SIZE, round, SIZE, producer));
        CHECK(aclrtRecordEvent(full, producer));

        CHECK(aclrtStreamWaitEvent(consumer, full));
        if (round % 20 == 10) {
            CHECK(aclrtLaunchHostFunc(consumer, dawdle, NULL));
        }
        CHECK(aclrtMemcpyAsync(host + (size_t)round * SIZE, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, consumer));
        CHECK(aclrtRecordEvent(empty, consumer));
    }
    CHECK(aclrtSynchronizeEvent(empty));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SIZE; i++) {
            REQUIRE(host[round * SIZE + i] == (uint8_t)round);
        }
    }

    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyEvent(empty));
    CHECK(aclrtDestroyEvent(full));
    CHECK(aclrtDestroyStream(consumer));
    CHECK(aclrtDestroyStream(producer));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
