#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    aclrtEventStatus status;
    aclrtEventRecordedStatus recorded;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclrtRecordEvent(event, stream));
#ifdef CLEAN
    MUST(aclrtQueryEventStatus(event, &recorded));
#else
    TRY(aclrtQueryEvent(event, &status)); /* FINDS JMR-EVENT-005 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(stream));
    (void)status;
    (void)recorded;
    tear_down();
    return 0;
}
