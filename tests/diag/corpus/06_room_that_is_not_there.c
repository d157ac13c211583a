#include "corpus.h"

int main(void)
{
    void *device;
    char host[512];

    set_up();
    memset(host, 1, sizeof host);
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    TRY(aclrtMemcpy(device, 256, host, 128, ACL_MEMCPY_HOST_TO_DEVICE));
#else
    TRY(aclrtMemcpy(device, 512, host, 128, ACL_MEMCPY_HOST_TO_DEVICE)); /* FINDS JMR-COPY-003 */
#endif
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
