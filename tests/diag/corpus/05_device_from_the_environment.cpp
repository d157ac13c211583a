// The number of the device comes from a variable that was right on another machine.
#include "corpus.h"

int main()
{
#ifdef CLEAN
    const char *wanted = "0";
#else
    const char *wanted = "6";
#endif
    MUST(aclInit(nullptr));
    if (aclrtSetDevice(atoi(wanted)) == ACL_SUCCESS) { // FINDS JMR-DEV-001
        MUST(aclrtResetDevice(0));
    }
    MUST(aclFinalize());
    return 0;
}
