#include "corpus.h"

int main(void)
{
    void *memory;
#ifdef CLEAN
    MUST(aclInit(NULL));
#endif
    MUST(aclrtSetDevice(0)); /* FINDS JMR-INIT-009 */
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtFree(memory));
    MUST(aclrtResetDevice(0));
#ifdef CLEAN
    MUST(aclFinalize());
#endif
    return 0;
}
