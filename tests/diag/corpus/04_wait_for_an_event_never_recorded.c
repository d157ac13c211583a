#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
#ifdef CLEAN
    MUST(aclrtRecordEvent(event, stream));
#endif
    TRY(aclrtStreamWaitEvent(stream, event)); /* FINDS JMR-EVENT-001 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
