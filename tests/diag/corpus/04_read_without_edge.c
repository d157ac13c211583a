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
    MUST(aclrtRecordEvent(event, writer));
    MUST(aclrtStreamWaitEvent(reader, event));
#endif
    MUST(aclrtMemcpyAsync(copy, 1024, shared, 1024, ACL_MEMCPY_DEVICE_TO_DEVICE, reader)); /* FINDS JMR-SYNC-002 */
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
