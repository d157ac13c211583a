#include "corpus.h"

int main(void)
{
    aclrtContext context;

    set_up();
    MUST(aclrtCreateContext(&context, 0)); /* FINDS JMR-CTX-010 */
#ifdef CLEAN
    MUST(aclrtDestroyContext(context));
#endif
    MUST(aclFinalize());
    return 0;
    tear_down();
    return 0;
}
