/* Queued work is done while the program only asks whether it is done: the event first, then the stream. */
#include "program.h"

#define SIZE 65536
#define ROUNDS 50

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    void *device;
    uint8_t *host;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtCreateEvent(&event));
    CHECK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, SIZE));

    for (int round = 0; round < ROUNDS; round++) {
        aclrtEventRecordedStatus event_status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        aclrtStreamStatus stream_status = ACL_STREAM_STATUS_NOT_READY;
        double start = now_s();
        CHECK(aclrtMemsetAsync(device, SIZE, round, SIZE, stream));
        CHECK(aclrtMemcpyAsync(host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtRecordEvent(event, stream));
        while (event_status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
            REQUIRE(now_s() - start < PATIENCE_S);
            CHECK(aclrtQueryEventStatus(event, &event_status));
        }
        REQUIRE(host[0] == round && host[SIZE - 1] == round);
        while (stream_status != ACL_STREAM_STATUS_COMPLETE) {
            REQUIRE(now_s() - start < PATIENCE_S);
            CHECK(aclrtStreamQuery(stream, &stream_status));
        }
    }

    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
