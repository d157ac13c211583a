// Inside the capture a stream waits for an event that was recorded before it.
#include "corpus.h"

int main()
{
    aclrtStream upload, stream;
    aclrtEvent uploaded;
    aclmdlRI graph = nullptr;
    void *buffer;

    set_up();
    MUST(aclrtCreateStream(&upload));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateEventExWithFlag(&uploaded, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&buffer, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemsetAsync(buffer, 256, 1, 256, upload));
    MUST(aclrtRecordEvent(uploaded, upload));
    MUST(aclrtSynchronizeStream(upload));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
#ifndef CLEAN
    TRY(aclrtStreamWaitEvent(stream, uploaded)); // FINDS JMR-CAP-009
#endif
    TRY(aclrtMemsetAsync(buffer, 256, 2, 256, stream));
    TRY(aclmdlRICaptureEnd(stream, &graph)); // FINDS JMR-CAP-012
    if (graph != nullptr) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFree(buffer));
    MUST(aclrtDestroyEvent(uploaded));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtDestroyStream(upload));
    tear_down();
    return 0;
}
