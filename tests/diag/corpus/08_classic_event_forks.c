#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;
    aclrtStream side;
    aclrtEvent event;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&side));
#ifdef CLEAN
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
#else
    MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
#endif
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    TRY(aclrtRecordEvent(event, stream)); /* FINDS JMR-CAP-010 */
    TRY(aclmdlRICaptureEnd(stream, &graph));
    if (graph != NULL) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(side));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
