#include "corpus.h"

int main(void)
{
    void *memory = NULL;

    set_up();
#ifndef CLEAN
    TRY(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST)); /* FINDS JMR-MEM-001 */
#endif
    (void)memory;
    tear_down();
    return 0;
}
