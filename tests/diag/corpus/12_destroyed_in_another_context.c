#include "corpus.h"

int main(void)
{
    aclrtContext first, second;
    aclrtStream stream;

    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateContext(&first, 0));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateContext(&second, 0));
#ifndef CLEAN
    TRY(aclrtDestroyStream(stream)); /* FINDS JMR-STREAM-004 */
#endif
    MUST(aclrtSetCurrentContext(first));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtDestroyContext(second));
    MUST(aclrtDestroyContext(first));
    tear_down();
    return 0;
}
