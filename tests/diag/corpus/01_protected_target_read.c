#include "corpus.h"

/* WITH protect: the line that reads too early is found. */
static int first(const unsigned char *host)
{
    return host[0] == 7; /* FINDS JMR-SYNC-004 */
}

int main(void)
{
    aclrtStream stream;
    void *device;
    unsigned char *host;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&host, 256));
    host[0] = 9;
    MUST(aclrtMemset(device, 256, 7, 256));
    MUST(aclrtMemcpyAsync(host, 256, device, 256, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    int seen = first(host);
    MUST(aclrtSynchronizeStream(stream));
#ifdef CLEAN
    MUST(seen - 1);
#else
    MUST(seen);
#endif
    MUST(host[255] - 7);
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
