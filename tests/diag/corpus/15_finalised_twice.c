#include "corpus.h"

int main(void)
{
    set_up();
    tear_down();
#ifndef CLEAN
    TRY(aclFinalize()); /* FINDS JMR-INIT-010 */
#endif
    return 0;
}
