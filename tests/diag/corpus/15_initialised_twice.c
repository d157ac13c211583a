#include "corpus.h"

int main(void)
{
    set_up();
#ifndef CLEAN
    TRY(aclInit(NULL)); /* FINDS JMR-INIT-001 */
#endif
    tear_down();
    return 0;
}
