#include "corpus.h"

int main(void)
{
    void *memory;

    set_up();
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtFree(memory));
#ifndef CLEAN
    TRY(aclrtFree(memory)); /* FINDS JMR-MEM-004 */
#endif
    tear_down();
    return 0;
}
