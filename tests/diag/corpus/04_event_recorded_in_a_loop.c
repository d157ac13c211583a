/* A loop with an event that stays set from its first record on: from the second round on the wait passes at once. */
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
#ifdef CLEAN
    MUST(aclrtCreateEventExWithFlag(&filled, ACL_EVENT_SYNC));
#else
    MUST(aclrtCreateEventWithFlag(&filled, ACL_EVENT_SYNC));
#endif
    MUST(aclrtMalloc(&image, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&result, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 1; round <= ROUNDS; round++) {
        MUST(aclrtMemsetAsync(image, BYTES, round, BYTES, producer));
        MUST(aclrtRecordEvent(filled, producer));
        MUST(aclrtStreamWaitEvent(consumer, filled)); /* FINDS JMR-EVENT-023 */
        MUST(aclrtMemcpyAsync(result, BYTES, image, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer)); /* FINDS JMR-SYNC-002 */
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
