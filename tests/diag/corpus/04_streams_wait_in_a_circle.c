/* Each of two streams waits for a notify that the other one records behind its own wait. */
#include "corpus.h"

int main(void)
{
    aclrtStream first, second;
    aclrtNotify one, two;

    set_up();
    MUST(aclrtCreateStream(&first));
    MUST(aclrtCreateStream(&second));
    MUST(aclrtCreateNotify(&one, 0));
    MUST(aclrtCreateNotify(&two, 0));
#ifdef CLEAN
    MUST(aclrtRecordNotify(two, first));
#endif
    MUST(aclrtWaitAndResetNotify(one, first, 0));
    MUST(aclrtWaitAndResetNotify(two, second, 0));
#ifndef CLEAN
    MUST(aclrtRecordNotify(two, first));
#endif
    MUST(aclrtRecordNotify(one, second));
    MUST(aclrtSynchronizeStream(first)); /* FINDS JMR-SYNC-018 */
    MUST(aclrtSynchronizeStream(second));
    MUST(aclrtDestroyNotify(one));
    MUST(aclrtDestroyNotify(two));
    MUST(aclrtDestroyStream(first));
    MUST(aclrtDestroyStream(second));
    tear_down();
    return 0;
}
