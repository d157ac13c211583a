/* PROFILE small
 * A model is captured for each of several sizes, and none of them is destroyed before the last one: each takes a stream of the device. */
#include "corpus.h"

#define SIZES 3

int main(void)
{
    aclmdlRI models[SIZES];
    aclrtStream stream;
    void *memory;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int size = 0; size < SIZES; size++) {
        MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        MUST(aclrtMemsetAsync(memory, 64, size, 64, stream));
        MUST(aclmdlRICaptureEnd(stream, &models[size])); /* FINDS JMR-LIMIT-001 */
#ifdef CLEAN
        MUST(aclmdlRIDestroy(models[size]));
#endif
    }
#ifndef CLEAN
    for (int size = 0; size < SIZES; size++) {
        MUST(aclmdlRIDestroy(models[size]));
    }
#endif
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
