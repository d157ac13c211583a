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
    TRY(aclrtSynchronizeEvent(event)); /* FINDS JMR-EVENT-020 */
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
