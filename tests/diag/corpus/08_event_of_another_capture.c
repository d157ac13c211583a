#include "corpus.h"

int main(void)
{
    aclrtStream stream, second;
    aclmdlRI graph = NULL, other = NULL;
    aclrtEvent event;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateStream(&second));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    MUST(aclmdlRICaptureBegin(second, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    MUST(aclrtRecordEvent(event, stream));
#ifndef CLEAN
    TRY(aclrtStreamWaitEvent(second, event)); /* FINDS JMR-CAP-011 */
#endif
    TRY(aclmdlRICaptureEnd(second, &other)); /* FINDS JMR-CAP-012 */
    TRY(aclmdlRICaptureEnd(stream, &graph));
    if (other != NULL) {
        MUST(aclmdlRIDestroy(other));
    }
    if (graph != NULL) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(second));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
