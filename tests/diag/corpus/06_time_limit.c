#include "corpus.h"

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    TRY(aclrtSynchronizeStreamWithTimeout(stream, 5000));
#else
    TRY(aclrtSynchronizeStreamWithTimeout(stream, -5)); /* FINDS JMR-SYNC-015 */
#endif
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
