#include "corpus.h"

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyStream(stream));
#else
    MUST(aclrtDestroyStream(stream));
    TRY(aclrtSynchronizeStream(stream)); /* FINDS JMR-STREAM-002 */
#endif
    tear_down();
    return 0;
}
