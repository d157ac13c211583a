#include "corpus.h"

static aclrtContext context;

static void finished(void *stream)
{
    MUST(aclrtSetCurrentContext(context));
#ifndef CLEAN
    TRY(aclrtSynchronizeStream(stream)); /* FINDS JMR-CB-001 */
#else
    (void)stream;
#endif
}

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtGetCurrentContext(&context));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtLaunchHostFunc(stream, finished, stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
