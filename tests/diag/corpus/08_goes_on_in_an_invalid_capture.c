#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;
    aclrtStream side;
    aclrtEvent before;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&side));
    MUST(aclrtCreateEventExWithFlag(&before, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtRecordEvent(before, side));
    MUST(aclrtSynchronizeStream(side));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
#ifndef CLEAN
    TRY(aclrtStreamWaitEvent(stream, before)); /* FINDS JMR-CAP-009 */
#endif
    TRY(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    TRY(aclmdlRICaptureEnd(stream, &graph)); /* FINDS JMR-CAP-012 */
    if (graph != NULL) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyEvent(before));
    MUST(aclrtDestroyStream(side));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
