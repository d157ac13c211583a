#include "corpus.h"

int main(void)
{
    char *memory;

    set_up();
    MUST(aclrtMalloc((void **)&memory, 256, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef CLEAN
    TRY(aclrtFree(memory + 64)); /* FINDS JMR-MEM-006 */
#endif
    MUST(aclrtFree(memory));
    tear_down();
    return 0;
}
