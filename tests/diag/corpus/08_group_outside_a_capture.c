#include "corpus.h"

int main(void)
{
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifndef CLEAN
    TRY(aclmdlRICaptureTaskGrpBegin(stream)); /* FINDS JMR-CAP-015 */
#endif
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
