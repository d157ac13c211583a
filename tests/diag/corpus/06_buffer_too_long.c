#include "corpus.h"

int main(void)
{
    void *device;
    char host[512];

    set_up();
    memset(host, 1, sizeof host);
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    {
#ifdef CLEAN
        aclDataBuffer *buffer = aclCreateDataBuffer(device, 256);
#else
        aclDataBuffer *buffer = aclCreateDataBuffer(device, 300); /* FINDS JMR-MEM-015 */
#endif
        MUST(aclDestroyDataBuffer(buffer));
    }
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
