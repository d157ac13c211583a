#include "corpus.h"

int main(void)
{
    void *device, *second;
    char host[64] = {0};

    set_up();
    MUST(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&second, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(device, 64, 0, 64));
#ifdef CLEAN
    TRY(aclrtMemcpy(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
#else
    TRY(aclrtMemcpy(host, 64, device, 64, ACL_MEMCPY_HOST_TO_HOST)); /* FINDS JMR-COPY-001 */
#endif
    MUST(aclrtFree(second));
    MUST(aclrtFree(device));
    tear_down();
    (void)host;
    return 0;
}
