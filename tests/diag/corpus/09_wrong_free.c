#include "corpus.h"

int main(void)
{
    void *memory;

    set_up();
    MUST(aclrtMallocHost(&memory, 64));
#ifndef CLEAN
    TRY(aclrtFree(memory)); /* FINDS JMR-MEM-005 */
#endif
    MUST(aclrtFreeHost(memory));
    tear_down();
    return 0;
}
