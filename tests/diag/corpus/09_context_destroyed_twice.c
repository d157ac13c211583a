#include "corpus.h"

int main(void)
{
    aclrtContext context;

    set_up();
    MUST(aclrtCreateContext(&context, 0));
    MUST(aclrtDestroyContext(context));
#ifndef CLEAN
    TRY(aclrtDestroyContext(context)); /* FINDS JMR-CTX-005 */
#endif
    tear_down();
    return 0;
}
