#include "corpus.h"

int main(void)
{
    aclmdlRI graph = NULL;
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifdef CLEAN
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclmdlRICaptureEnd(stream, &graph));
    MUST(aclmdlRIDestroy(graph));
#else
    TRY(aclmdlRICaptureBegin(NULL, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)); /* FINDS JMR-CAP-005 */
#endif
    (void)graph;
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
