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
    MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE));
#endif
    MUST(aclrtRecordEvent(event, stream));
    TRY(aclrtStreamWaitEvent(stream, event)); /* FINDS JMR-EVENT-002 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
