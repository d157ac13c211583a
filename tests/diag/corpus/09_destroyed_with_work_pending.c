#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *memory;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemsetAsync(memory, 4096, 1, 4096, stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    MUST(aclrtDestroyStream(stream)); /* FINDS JMR-STREAM-005 */
    MUST(aclrtFree(memory));
    tear_down();
    return 0;
}
