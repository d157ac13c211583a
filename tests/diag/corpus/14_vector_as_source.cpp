// An asynchronous copy from a vector waits for the stream.
#include "corpus.h"

#include <vector>

int main()
{
    aclrtStream stream;
    void *device, *staging = nullptr;
    std::vector<char> frame(4096, 1);

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, frame.size(), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&staging, frame.size()));
    memcpy(staging, frame.data(), frame.size());
#ifdef CLEAN
    const void *source = staging;
#else
    const void *source = frame.data();
#endif
    MUST(aclrtMemcpyAsync(device, frame.size(), source, frame.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream)); // FINDS JMR-PERF-001
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(staging));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
