#include "corpus.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    aclrtStream stream;
    aclmdlRI model;
    void *device;

    /* A folder of its own, so that nothing of others is overwritten. */
    mkdir("inner", 0700);
    if (chdir("inner") != 0) {
        return 1;
    }
    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(device, 256, 0, 256, stream));
    MUST(aclmdlRICaptureEnd(stream, &model));
#ifdef CLEAN
    MUST(aclmdlRIDebugJsonPrint(model, "model.json", 0));
    remove("model.json");
#else
    MUST(aclmdlRIDebugJsonPrint(model, "../model.json", 0)); /* FINDS JMR-FILE-001 */
    remove("../model.json");
#endif
    MUST(aclmdlRIDestroy(model));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
