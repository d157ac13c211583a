#include "corpus.h"

int main(void)
{
    void *memory = NULL;

    set_up();
#ifndef CLEAN
    TRY(aclrtMalloc(&memory, (size_t)1 << 46, ACL_MEM_MALLOC_HUGE_FIRST)); /* FINDS JMR-MEM-002 */
#endif
    (void)memory;
    tear_down();
    return 0;
}
