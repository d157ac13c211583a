#include "corpus.h"

int main(void)
{
#ifdef CLEAN
    MUST(aclInit(NULL));
#else
    TRY(aclInit("no/such/acl.json")); /* FINDS JMR-INIT-003 */
    MUST(aclInit(NULL));
#endif
    MUST(aclFinalize());
    return 0;
}
