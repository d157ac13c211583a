#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    aclmdlRI model = NULL;

    set_up();
    MUST(aclrtCreateStream(&stream));
#ifndef CLEAN
    TRY(aclmdlRICaptureEnd(stream, &model)); /* FINDS JMR-CAP-007 */
#endif
    MUST(aclrtDestroyStream(stream));
    tear_down();
    (void)model;
    return 0;
}
