#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *memory, *second;
    char host[256] = {0};

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&second, 256, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    MUST(aclrtMemset(memory, 256, 0, 256));
#endif
    MUST(aclrtMemcpy(host, 256, memory, 256, ACL_MEMCPY_DEVICE_TO_HOST)); /* FINDS JMR-MEM-009 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(second));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    (void)host;
    return 0;
}
