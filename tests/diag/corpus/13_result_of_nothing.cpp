// The kernel that should have made the result was never launched; the result is fetched all the same.
#include "corpus.h"

#include <vector>

int main()
{
    std::vector<char> result(512);
    void *device;

    set_up();
    MUST(aclrtMalloc(&device, result.size(), ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    MUST(aclrtMemset(device, result.size(), 1, result.size()));
#endif
    MUST(aclrtMemcpy(result.data(), result.size(), device, result.size(), ACL_MEMCPY_DEVICE_TO_HOST)); // FINDS JMR-MEM-009
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
