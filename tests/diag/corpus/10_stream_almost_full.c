/* A loop queues work for hours on a stream that waits for what comes behind the loop. */
#include "corpus.h"

#ifdef CLEAN
enum { RECORDS = 1000 };
#else
enum { RECORDS = 1000000 };
#endif

int main(void)
{
    aclrtStream waits, records;
    aclrtNotify notify;
    aclrtEvent event;
    long turn;

    set_up();
    MUST(aclrtCreateStream(&waits));
    MUST(aclrtCreateStream(&records));
    MUST(aclrtCreateNotify(&notify, 0));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclrtWaitAndResetNotify(notify, waits, 0));
    for (turn = 0; turn < RECORDS; turn++) {
        MUST(aclrtRecordEvent(event, waits)); /* FINDS JMR-STREAM-020 */
    }
    MUST(aclrtRecordNotify(notify, records));
    MUST(aclrtSynchronizeStream(records));
    MUST(aclrtSynchronizeStream(waits));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyNotify(notify));
    MUST(aclrtDestroyStream(waits));
    MUST(aclrtDestroyStream(records));
    tear_down();
    return 0;
}
