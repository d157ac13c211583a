/* A level that is set again in each round; in the correct form a reset follows each wait, on the stream that waits. */
#include "corpus.h"

#define ROUNDS 3
#define BYTES 65536

int main(void)
{
    aclrtStream producer, consumer;
    aclrtEvent filled;
    void *image, *result;
    set_up();
    MUST(aclrtCreateStream(&producer));
    MUST(aclrtCreateStream(&consumer));
    MUST(aclrtCreateEventWithFlag(&filled, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&image, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&result, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 1; round <= ROUNDS; round++) {
        MUST(aclrtMemsetAsync(image, BYTES, round, BYTES, producer));
        MUST(aclrtRecordEvent(filled, producer));
        MUST(aclrtStreamWaitEvent(consumer, filled)); /* FINDS JMR-EVENT-023 */
        MUST(aclrtMemcpyAsync(result, BYTES, image, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer)); /* FINDS JMR-SYNC-002 */
#ifdef CLEAN
        MUST(aclrtResetEvent(filled, consumer));
#endif
        MUST(aclrtSynchronizeStream(consumer));
    }
    MUST(aclrtSynchronizeStream(producer));
    MUST(aclrtFree(image));
    MUST(aclrtFree(result));
    MUST(aclrtDestroyEvent(filled));
    MUST(aclrtDestroyStream(producer));
    MUST(aclrtDestroyStream(consumer));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return 0;
}
