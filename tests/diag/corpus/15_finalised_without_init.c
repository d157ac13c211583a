#include "corpus.h"

int main(void)
{
#ifdef CLEAN
    MUST(aclInit(NULL));
#endif
    TRY(aclFinalize()); /* FINDS JMR-INIT-012 */
    return 0;
}
