#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *device;
    char *host, other[256];

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&host, 256));
    memset(host, 1, 256);
    MUST(aclrtMemcpyAsync(device, 256, host, 256, ACL_MEMCPY_HOST_TO_DEVICE, stream)); /* FINDS JMR-SYNC-003 */
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    memset(host, 2, 256);
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(other, 256, device, 256, ACL_MEMCPY_DEVICE_TO_HOST));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    printf("%d\n", other[0]);
    return 0;
}
