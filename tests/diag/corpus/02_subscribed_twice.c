#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    uint64_t self = (uint64_t)pthread_self();

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtSubscribeReport(self, stream));
#ifndef CLEAN
    TRY(aclrtSubscribeReport(self, stream)); /* FINDS JMR-CB-002 */
#endif
    MUST(aclrtUnSubscribeReport(self, stream));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
