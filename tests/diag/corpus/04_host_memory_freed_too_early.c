#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *memory, *host;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&host, 4096));
    memset(host, 1, 4096);
    MUST(aclrtMemcpyAsync(memory, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    MUST(aclrtFreeHost(host)); /* FINDS JMR-SYNC-008 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
