#include "corpus.h"

int main(void)
{
    set_up();
#ifdef CLEAN
    MUST(aclrtResetDevice(0));
#endif
    MUST(aclFinalize());
#ifndef CLEAN
    TRY(aclrtResetDevice(0)); /* FINDS JMR-ORDER-003 */
#endif
    return 0;
}
