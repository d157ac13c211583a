#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    MUST(aclmdlRICaptureEnd(stream, &graph)); /* FINDS JMR-CAP-025 */
#ifdef CLEAN
    MUST(aclmdlRIDestroy(graph));
#endif
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
