// The stream was made for device 0; the thread has gone on to device 1.
// DEVICES 2
#include "corpus.h"

int main()
{
    aclrtStream stream;
    void *buffer;

    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&buffer, 256, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef CLEAN
    MUST(aclrtSetDevice(1));
#endif
    TRY(aclrtMemsetAsync(buffer, 256, 0, 256, stream)); // FINDS JMR-STREAM-001
    MUST(aclrtSetDevice(0));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(buffer));
    MUST(aclrtDestroyStream(stream));
#ifndef CLEAN
    MUST(aclrtResetDevice(1));
#endif
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return 0;
}
