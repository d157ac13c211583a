#include "corpus.h"

int main(void)
{
#ifdef CLEAN
    MUST(aclInit(NULL));
#endif
    MUST(aclrtSetDevice(0)); /* FINDS JMR-INIT-009 */
    MUST(aclrtResetDevice(0));
#ifdef CLEAN
    MUST(aclFinalize());
#endif
    return 0;
}
