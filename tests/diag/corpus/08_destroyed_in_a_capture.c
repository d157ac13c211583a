#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI model = NULL;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
#ifndef CLEAN
    TRY(aclrtDestroyStream(stream)); /* FINDS JMR-STREAM-008 */
#endif
    TRY(aclmdlRICaptureEnd(stream, &model));
    if (model != NULL) {
        MUST(aclmdlRIDestroy(model));
    }
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
