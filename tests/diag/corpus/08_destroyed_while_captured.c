#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;
    aclmdlRICaptureStatus status;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclmdlRICaptureGetInfo(stream, &status, &graph));
#ifndef CLEAN
    TRY(aclmdlRIDestroy(graph)); /* FINDS JMR-CAP-019 */
#endif
    MUST(aclmdlRICaptureEnd(stream, &graph));
    MUST(aclmdlRIDestroy(graph));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
