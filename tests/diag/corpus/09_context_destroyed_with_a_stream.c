#include "corpus.h"

int main(void)
{
    aclrtContext context;
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateContext(&context, 0));
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    MUST(aclrtDestroyStream(stream));
#endif
    MUST(aclrtDestroyContext(context)); /* FINDS JMR-CTX-009 */
    tear_down();
    return 0;
}
