#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;
    void *memory;
    char host[64] = {0};
    void *pinned;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&pinned, 64));
    memcpy(pinned, host, 64);
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
#ifdef CLEAN
    MUST(aclrtMemcpyAsync(memory, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#else
    TRY(aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream)); /* FINDS JMR-CAP-004 */
#endif
    TRY(aclmdlRICaptureEnd(stream, &graph));
    if (graph != NULL) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFreeHost(pinned));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
