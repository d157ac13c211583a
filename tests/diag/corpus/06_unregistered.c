#include "corpus.h"

int main(void)
{
    static char memory[4096];

    set_up();
#ifndef CLEAN
    TRY(aclrtHostUnregister(memory)); /* FINDS JMR-HOST-004 */
#endif
    (void)memory;
    tear_down();
    return 0;
}
