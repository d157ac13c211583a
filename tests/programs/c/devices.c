/* Every device that the program sees: a context and a stream on each, work on all at once, memory exchanged between them. */
#include "program.h"

#define MOST 8
#define SIZE 4096

int main(int argc, char **argv)
{
    uint32_t count = 0;
    aclrtContext contexts[MOST];
    aclrtStream streams[MOST];
    aclrtEvent events[MOST];
    void *memory[MOST];
    uint8_t *host;

    if (argc != 2) {
        return 2;
    }
    CHECK(aclrtGetDeviceCount(&count));
    REQUIRE(count == (uint32_t)atoi(argv[1]) && count >= 1 && count <= MOST);
    CHECK(aclInit(NULL));
    EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice((int32_t)count));
    EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
    for (uint32_t i = 0; i < count; i++) {
        int32_t device = -1;
        size_t free_bytes = 0, total = 0;
        CHECK(aclrtCreateContext(&contexts[i], (int32_t)i));
        CHECK(aclrtGetDevice(&device));
        REQUIRE(device == (int32_t)i);
        CHECK(aclrtCreateStream(&streams[i]));
        CHECK(aclrtCreateEventExWithFlag(&events[i], ACL_EVENT_SYNC));
        CHECK(aclrtMalloc(&memory[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
        REQUIRE(free_bytes > 0 && free_bytes < total);
    }
    CHECK(aclrtMallocHost((void **)&host, SIZE * MOST));
    if (count > 1) {
        /* A stream belongs to its context. */
        EXPECT(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemsetAsync(memory[0], SIZE, 1, SIZE, streams[0]));
    }
    for (uint32_t i = 0; i < count; i++) {
        CHECK(aclrtSetCurrentContext(contexts[i]));
        if (count > 1) {
            CHECK(aclrtDeviceEnablePeerAccess((int32_t)((i + 1) % count), 0));
        }
        CHECK(aclrtMemsetAsync(memory[i], SIZE, (int)i + 1, SIZE, streams[i]));
        CHECK(aclrtRecordEvent(events[i], streams[i]));
    }
    /* Each device fetches what its right neighbour has written. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t neighbour = (i + 1) % count;
        void *fetched;
        CHECK(aclrtSetCurrentContext(contexts[i]));
        CHECK(aclrtMalloc(&fetched, SIZE, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
        CHECK(aclrtStreamWaitEvent(streams[i], events[neighbour]));
        CHECK(aclrtMemcpyAsync(fetched, SIZE, memory[neighbour], SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[i]));
        CHECK(aclrtMemcpyAsync(host + i * SIZE, SIZE, fetched, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, streams[i]));
        CHECK(aclrtSynchronizeStream(streams[i]));
        REQUIRE(host[i * SIZE] == neighbour + 1 && host[i * SIZE + SIZE - 1] == neighbour + 1);
        CHECK(aclrtFree(fetched));
    }

    CHECK(aclrtFreeHost(host));
    for (uint32_t i = 0; i < count; i++) {
        CHECK(aclrtSetCurrentContext(contexts[i]));
        CHECK(aclrtFree(memory[i]));
        CHECK(aclrtDestroyEvent(events[i]));
        CHECK(aclrtDestroyStream(streams[i]));
        CHECK(aclrtDestroyContext(contexts[i]));
    }
    CHECK(aclFinalize());
    return 0;
}
