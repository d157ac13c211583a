#include "corpus.h"

/* WITH protect: the line that writes is found, not the copy's alone. */
int main(void)
{
    aclrtStream stream;
    void *device;
    char *host, other[64];

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 20000, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&host, 20000));
    memset(host, 1, 20000);
    MUST(aclrtMemcpyAsync(device, 20000, host, 20000, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    /* Reading it is correct. */
    other[0] = host[9000];
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    host[9000] = (char)(other[0] + 1); /* FINDS JMR-SYNC-003 */
    MUST(aclrtSynchronizeStream(stream));
    host[9001] = 3;
    MUST(aclrtMemcpy(other, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return other[0] == 1 ? 0 : 1;
}
