#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;
    aclrtStream side;
    aclrtEvent fork_event, join_event;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&side));
    MUST(aclrtCreateEventExWithFlag(&fork_event, ACL_EVENT_SYNC));
    MUST(aclrtCreateEventExWithFlag(&join_event, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtRecordEvent(fork_event, stream));
    MUST(aclrtStreamWaitEvent(side, fork_event));
    MUST(aclrtMemsetAsync(memory, 64, 1, 64, side));
#ifdef CLEAN
    MUST(aclrtRecordEvent(join_event, side));
    MUST(aclrtStreamWaitEvent(stream, join_event));
#endif
    TRY(aclmdlRICaptureEnd(stream, &graph)); /* FINDS JMR-CAP-008 */
    if (graph != NULL) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyEvent(join_event));
    MUST(aclrtDestroyEvent(fork_event));
    MUST(aclrtDestroyStream(side));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
