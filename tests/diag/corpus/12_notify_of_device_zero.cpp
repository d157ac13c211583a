// A notify of device 0 is recorded by a stream of device 0 while device 1 is current.
// DEVICES 2
#include "corpus.h"

int main()
{
    aclrtNotify notify;
    aclrtStream stream;

    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateNotify(&notify, 0));
    MUST(aclrtCreateStream(&stream));
#ifndef CLEAN
    MUST(aclrtSetDevice(1));
#endif
    TRY(aclrtRecordNotify(notify, stream)); // FINDS JMR-NOTIFY-004
    MUST(aclrtSetDevice(0));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtDestroyNotify(notify));
#ifndef CLEAN
    MUST(aclrtResetDevice(1));
#endif
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return 0;
}
