#include "corpus.h"

int main(void)
{
    void *memory;
    char host[64] = {0};

    set_up();
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    MUST(aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtFree(memory));
#else
    MUST(aclrtFree(memory));
    TRY(aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE)); /* FINDS JMR-MEM-007 */
#endif
    tear_down();
    return 0;
}
