#include "corpus.h"

int main(void)
{
    aclrtContext first, second;
    aclrtStream stream;
    aclrtEvent event;
    void *memory;

    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateContext(&first, 0));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtCreateContext(&second, 0));
#ifdef CLEAN
    MUST(aclrtSetCurrentContext(first));
#endif
    TRY(aclrtRecordEvent(event, stream)); /* FINDS JMR-EVENT-012 */
    MUST(aclrtSetCurrentContext(first));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtDestroyContext(second));
    MUST(aclrtDestroyContext(first));
    tear_down();
    return 0;
}
