// A scalar is brought over while the graph is being captured.
#include "corpus.h"

int main()
{
    aclrtStream stream;
    aclmdlRI graph = nullptr;
    void *scale, *buffer;
    const float one = 1.0f;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&scale, sizeof one, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&buffer, 256, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    MUST(aclrtMemcpy(scale, sizeof one, &one, sizeof one, ACL_MEMCPY_HOST_TO_DEVICE));
#endif
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(buffer, 256, 0, 256, stream));
#ifndef CLEAN
    TRY(aclrtMemcpy(scale, sizeof one, &one, sizeof one, ACL_MEMCPY_HOST_TO_DEVICE)); // FINDS JMR-CAP-002
#endif
    TRY(aclmdlRICaptureEnd(stream, &graph));
    if (graph != nullptr) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFree(buffer));
    MUST(aclrtFree(scale));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
