#include "corpus.h"

int main(void)
{
    void *memory;

    set_up();
    MUST(aclrtMallocHost(&memory, 64)); /* FINDS JMR-HOST-002 */
#ifdef CLEAN
    MUST(aclrtFreeHost(memory));
#else
    (void)memory;
#endif
    tear_down();
    return 0;
}
