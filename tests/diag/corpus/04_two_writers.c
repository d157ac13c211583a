#include "corpus.h"

int main(void)
{
    aclrtStream writer, reader;
    aclrtEvent event;
    void *shared, *copy;

    set_up();
    MUST(aclrtCreateStream(&writer));
    MUST(aclrtCreateStream(&reader));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&shared, 1024, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&copy, 1024, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemsetAsync(shared, 1024, 5, 1024, writer));
#ifdef CLEAN
    MUST(aclrtMemsetAsync((char *)copy, 512, 6, 512, reader));
#else
    MUST(aclrtMemsetAsync((char *)shared + 512, 512, 6, 512, reader)); /* FINDS JMR-SYNC-001 */
#endif
    MUST(aclrtSynchronizeStream(writer));
    MUST(aclrtSynchronizeStream(reader));
    MUST(aclrtFree(copy));
    MUST(aclrtFree(shared));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(reader));
    MUST(aclrtDestroyStream(writer));
    tear_down();
    return 0;
}
