#include "corpus.h"

int main(void)
{
    MUST(aclInit(NULL));
#ifndef CLEAN
    TRY(aclrtSetDevice(7)); /* FINDS JMR-DEV-001 */
#endif
    MUST(aclrtSetDevice(0));
    tear_down();
    return 0;
}
