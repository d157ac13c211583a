#include <algorithm>
#include <numeric>

#include "corpus.h"

// WITH protect: two halves of one buffer in turn, without a wait for the one that comes next.
namespace {
constexpr size_t HALF = 1000;

class Frames {
public:
    explicit Frames(float *memory) : memory_(memory) {}
    float *half(int which) { return memory_ + which * HALF; }
    void fill(int which, float with) { std::fill_n(half(which), HALF, with); } // FINDS JMR-SYNC-003

private:
    float *memory_;
};
} // namespace

int main()
{
    aclrtStream streams[2];
    void *device, *memory;

    set_up();
    for (auto &stream : streams)
        MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 2 * HALF * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&memory, 2 * HALF * sizeof(float)));
    Frames frames(static_cast<float *>(memory));
    for (int round = 0; round < 4; round++) {
        int half = round % 2;
#ifdef CLEAN
        MUST(aclrtSynchronizeStream(streams[half]));
#endif
        frames.fill(half, static_cast<float>(round));
        MUST(aclrtMemcpyAsync(static_cast<float *>(device) + half * HALF, HALF * sizeof(float), frames.half(half),
                              HALF * sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE, streams[half]));
    }
    for (auto &stream : streams) {
        MUST(aclrtSynchronizeStream(stream));
        MUST(aclrtDestroyStream(stream));
    }
    MUST(aclrtFreeHost(memory));
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
