#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclrtNotify notify;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateNotify(&notify, 0));
#ifdef CLEAN
    MUST(aclrtRecordNotify(notify, stream));
#endif
    MUST(aclrtWaitAndResetNotify(notify, stream, 1));
    TRY(aclrtSynchronizeStream(stream)); /* FINDS JMR-SYNC-012 */
    MUST(aclrtDestroyNotify(notify));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
