#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI model = NULL;
    void *memory;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(memory, 256, 1, 256, stream));
#ifndef CLEAN
    TRY(aclrtMemset(memory, 256, 1, 256)); /* FINDS JMR-CAP-002 */
#endif
    TRY(aclmdlRICaptureEnd(stream, &model));
    if (model != NULL) {
        MUST(aclmdlRIDestroy(model));
    }
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
