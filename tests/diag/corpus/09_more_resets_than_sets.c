#include "corpus.h"

int main(void)
{
    set_up();
    MUST(aclrtResetDevice(0));
#ifndef CLEAN
    TRY(aclrtResetDevice(0)); /* FINDS JMR-DEV-005 */
#endif
    MUST(aclFinalize());
    return 0;
}
