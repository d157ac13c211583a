// Two buffers in turn, but the third frame goes into the first buffer while its copy may still be under way.
#include "corpus.h"

#include <vector>

int main()
{
    constexpr size_t BYTES = 512;
    aclrtStream stream;
    void *device, *ring[2];
    aclrtEvent copied[2];

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 4 * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int slot = 0; slot < 2; slot++) {
        MUST(aclrtMallocHost(&ring[slot], BYTES));
        MUST(aclrtCreateEvent(&copied[slot]));
    }
    for (int frame = 0; frame < 4; frame++) {
        const int slot = frame % 2;
#ifdef CLEAN
        if (frame >= 2) {
            MUST(aclrtSynchronizeEvent(copied[slot]));
        }
#endif
        std::vector<char> pixels(BYTES, static_cast<char>(frame + 1));
        memcpy(ring[slot], pixels.data(), BYTES);
        MUST(aclrtMemcpyAsync(static_cast<char *>(device) + frame * BYTES, BYTES, ring[slot], BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream)); // FINDS JMR-SYNC-003
        MUST(aclrtRecordEvent(copied[slot], stream));
    }
    MUST(aclrtSynchronizeStream(stream));
    for (int slot = 0; slot < 2; slot++) {
        MUST(aclrtDestroyEvent(copied[slot]));
        MUST(aclrtFreeHost(ring[slot]));
    }
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
