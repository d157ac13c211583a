#include "corpus.h"

int main(void)
{
    int count = 0;

    MUST(aclInit(NULL)); /* FINDS JMR-INIT-015 */
#ifdef CLEAN
    MUST(aclFinalize());
#endif
    (void)count;
    return 0;
}
