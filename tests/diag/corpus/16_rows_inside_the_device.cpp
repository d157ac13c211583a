#include "corpus.h"

// WITH profiles 910B1,910A: one of the two copies rows inside the device.
int main()
{
    aclrtStream stream;
    void *from, *to;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&from, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&to, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(from, 4096, 1, 4096));
#ifdef CLEAN
    for (int row = 0; row < 4; row++)
        MUST(aclrtMemcpyAsync(static_cast<char *>(to) + row * 1024, 512, static_cast<char *>(from) + row * 1024, 512,
                              ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
#else
    MUST(aclrtMemcpy2dAsync(to, 1024, from, 1024, 512, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)); // FINDS JMR-PORT-001
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(to));
    MUST(aclrtFree(from));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
