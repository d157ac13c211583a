#include "corpus.h"

int main(void)
{
    void *memory;

    set_up();
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST)); /* FINDS JMR-MEM-008 */
#ifdef CLEAN
    MUST(aclrtFree(memory));
#else
    (void)memory;
#endif
    MUST(aclFinalize());
    return 0;
}
