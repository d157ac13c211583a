// A helper for both directions gets them the wrong way round.
#include "corpus.h"

template <bool Up> static aclError copy(void *to, const void *from, size_t bytes)
{
    constexpr aclrtMemcpyKind kind = Up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    return aclrtMemcpy(to, bytes, from, bytes, kind); // FINDS JMR-COPY-001
}

int main()
{
    char host[256] = {};
    void *device;

    set_up();
    MUST(aclrtMalloc(&device, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    TRY(copy<true>(device, host, sizeof host));
#else
    TRY(copy<false>(device, host, sizeof host));
#endif
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
