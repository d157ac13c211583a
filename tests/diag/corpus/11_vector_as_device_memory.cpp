// A vector is host memory, and the kind says that both ends are on the device.
#include "corpus.h"

#include <vector>

int main()
{
    std::vector<float> weights(128, 0.5f);
    const size_t bytes = weights.size() * sizeof(float);
    void *device;

    set_up();
    MUST(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    const aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
#else
    const aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
#endif
    TRY(aclrtMemcpy(device, bytes, weights.data(), bytes, kind)); // FINDS JMR-COPY-001
    MUST(aclrtFree(device));
    tear_down();
    return 0;
}
