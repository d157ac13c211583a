#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *device, *pinned;
    char host[256] = {0};

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&pinned, 256));
    MUST(aclrtMemset(device, 256, 0, 256));
    memset(pinned, 0, 256);
#ifdef CLEAN
    MUST(aclrtMemcpyAsync(device, 256, pinned, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#else
    MUST(aclrtMemcpyAsync(device, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream)); /* FINDS JMR-PERF-001 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(pinned));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    (void)host;
    return 0;
}
