// There is an event, and a stream that waits for it; it is not the stream that reads.
#include "corpus.h"

int main()
{
    constexpr size_t BYTES = 1024;
    aclrtStream producer, other, consumer;
    aclrtEvent made;
    void *buffer, *copy;

    set_up();
    MUST(aclrtCreateStream(&producer));
    MUST(aclrtCreateStream(&other));
    MUST(aclrtCreateStream(&consumer));
    MUST(aclrtCreateEvent(&made));
    MUST(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&copy, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemsetAsync(buffer, BYTES, 5, BYTES, producer));
    MUST(aclrtRecordEvent(made, producer));
#ifdef CLEAN
    MUST(aclrtStreamWaitEvent(consumer, made));
#else
    MUST(aclrtStreamWaitEvent(other, made));
#endif
    MUST(aclrtMemcpyAsync(copy, BYTES, buffer, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer)); // FINDS JMR-SYNC-002
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtFree(copy));
    MUST(aclrtFree(buffer));
    MUST(aclrtDestroyEvent(made));
    MUST(aclrtDestroyStream(consumer));
    MUST(aclrtDestroyStream(other));
    MUST(aclrtDestroyStream(producer));
    tear_down();
    return 0;
}
