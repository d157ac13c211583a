#include "corpus.h"

static void nothing(void *argument)
{
    (void)argument;
}

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    MUST(aclrtLaunchHostFunc(stream, nothing, NULL));
#else
    TRY(aclrtLaunchCallback(nothing, NULL, ACL_CALLBACK_NO_BLOCK, stream)); /* FINDS JMR-CB-006 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
