#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
#else
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
#endif
    MUST(aclrtRecordEvent(event, stream));
    TRY(aclrtResetEvent(event, stream)); /* FINDS JMR-EVENT-003 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
