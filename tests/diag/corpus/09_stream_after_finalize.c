#include "corpus.h"

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    MUST(aclrtDestroyStream(stream));
    tear_down();
#else
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    TRY(aclrtDestroyStream(stream)); /* FINDS JMR-ORDER-001 */
#endif
    return 0;
}
