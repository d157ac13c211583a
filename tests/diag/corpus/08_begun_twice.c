#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI graph = NULL;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
#ifndef CLEAN
    TRY(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)); /* FINDS JMR-CAP-006 */
#endif
    TRY(aclmdlRICaptureEnd(stream, &graph));
    if (graph != NULL) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
