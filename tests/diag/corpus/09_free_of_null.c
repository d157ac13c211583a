#include "corpus.h"

int main(void)
{

    set_up();
#ifndef CLEAN
    TRY(aclrtFree(NULL)); /* FINDS JMR-MEM-003 */
#endif
    tear_down();
    return 0;
}
