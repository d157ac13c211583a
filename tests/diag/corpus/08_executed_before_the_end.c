#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;
    aclrtStream other;
    aclmdlRICaptureStatus status;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&other));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    MUST(aclmdlRICaptureGetInfo(stream, &status, &graph));
#ifndef CLEAN
    TRY(aclmdlRIExecuteAsync(graph, other)); /* FINDS JMR-CAP-018 */
#endif
    MUST(aclmdlRICaptureEnd(stream, &graph));
    MUST(aclmdlRIExecuteAsync(graph, other));
    MUST(aclrtSynchronizeStream(other));
    MUST(aclmdlRIDestroy(graph));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(other));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
