#include "corpus.h"

int main(void)
{
    aclrtContext context;

    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateContext(&context, 0));
#ifndef CLEAN
    MUST(aclrtSetDevice(0)); /* FINDS JMR-CTX-003 */
    MUST(aclrtResetDevice(0));
#endif
    MUST(aclrtDestroyContext(context));
    tear_down();
    return 0;
}
