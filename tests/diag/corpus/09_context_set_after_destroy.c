#include "corpus.h"

int main(void)
{
    aclrtContext context;

    set_up();
    MUST(aclrtCreateContext(&context, 0));
    MUST(aclrtDestroyContext(context));
#ifndef CLEAN
    TRY(aclrtSetCurrentContext(context)); /* FINDS JMR-CTX-007 */
#endif
    tear_down();
    return 0;
}
