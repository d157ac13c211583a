#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *device;
    char *host, result[4096];

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&host, 4096));
    memset(host, 7, 4096);
    MUST(aclrtMemcpyAsync(device, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    MUST(aclrtMemcpy(result, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST)); /* FINDS JMR-SYNC-005 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
