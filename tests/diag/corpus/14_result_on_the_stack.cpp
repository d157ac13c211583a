// The target of an asynchronous copy is a local array.
#include "corpus.h"

#include <array>

int main()
{
    aclrtStream stream;
    void *device, *pinned;
    std::array<char, 256> scores{};

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, scores.size(), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&pinned, scores.size()));
    MUST(aclrtMemsetAsync(device, scores.size(), 4, scores.size(), stream));
#ifdef CLEAN
    void *target = pinned;
#else
    void *target = scores.data();
#endif
    MUST(aclrtMemcpyAsync(target, scores.size(), device, scores.size(), ACL_MEMCPY_DEVICE_TO_HOST, stream)); // FINDS JMR-PERF-001
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(pinned));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
