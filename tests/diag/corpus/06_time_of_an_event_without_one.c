#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclrtEvent begin, end;
    float ms;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateEvent(&begin));
    MUST(aclrtCreateEvent(&end));
    MUST(aclrtRecordEvent(begin, stream));
#ifdef CLEAN
    MUST(aclrtRecordEvent(end, stream));
#endif
    MUST(aclrtSynchronizeStream(stream));
    TRY(aclrtEventElapsedTime(&ms, begin, end)); /* FINDS JMR-EVENT-006 */
    MUST(aclrtDestroyEvent(end));
    MUST(aclrtDestroyEvent(begin));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
