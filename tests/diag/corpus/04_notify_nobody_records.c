/* The record of a notify is lost on the way, so that the stream waits for ever. */
#include "corpus.h"

int main(void)
{
    aclrtStream waits, records;
    aclrtNotify notify;

    set_up();
    MUST(aclrtCreateStream(&waits));
    MUST(aclrtCreateStream(&records));
    MUST(aclrtCreateNotify(&notify, 0));
    MUST(aclrtWaitAndResetNotify(notify, waits, 0));
#ifdef CLEAN
    MUST(aclrtRecordNotify(notify, records));
#endif
    MUST(aclrtSynchronizeStream(records));
    MUST(aclrtSynchronizeStream(waits)); /* FINDS JMR-SYNC-019 */
    MUST(aclrtDestroyNotify(notify));
    MUST(aclrtDestroyStream(waits));
    MUST(aclrtDestroyStream(records));
    tear_down();
    return 0;
}
