// An application that uses a small pre-processing "library" half way through.
#include <cstdio>
#include <vector>

#include "acl/acl.h"

#define LOG_IF_FAILED(call)                                                     \
    do {                                                                        \
        aclError e = (call);                                                    \
        if (e != ACL_SUCCESS) {                                                 \
            std::fprintf(stderr, "%s:%d %s -> %d\n", __FILE__, __LINE__, #call, e); \
        }                                                                       \
    } while (0)

namespace preproc {

class Normalizer {
public:
    Normalizer() = default;

    ~Normalizer()
    {
        LOG_IF_FAILED(aclFinalize());
    }

    void Apply(void *dev, size_t bytes, aclrtStream stream)
    {
        LOG_IF_FAILED(aclrtMemsetAsync(dev, bytes, 1, bytes, stream));
        LOG_IF_FAILED(aclrtSynchronizeStream(stream));
    }
};

}  // namespace preproc

static bool AllEqual(const std::vector<unsigned char> &v, unsigned char want)
{
    for (unsigned char c : v) {
        if (c != want) {
            return false;
        }
    }
    return true;
}

int main()
{
    constexpr size_t kBytes = 4096;
    aclrtStream stream = nullptr;
    void *dev = nullptr;
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        std::fprintf(stderr, "cannot start\n");
        return 1;
    }
    LOG_IF_FAILED(aclrtCreateStream(&stream));
    LOG_IF_FAILED(aclrtMalloc(&dev, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    {
        preproc::Normalizer normalizer;
        normalizer.Apply(dev, kBytes, stream);
    }
    std::vector<unsigned char> host(kBytes);
    LOG_IF_FAILED(aclrtMemcpy(host.data(), kBytes, dev, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    const bool ok = AllEqual(host, 1);
    std::printf("normalised: %s\n", ok ? "yes" : "no");
    LOG_IF_FAILED(aclrtFree(dev));
    LOG_IF_FAILED(aclrtDestroyStream(stream));
    LOG_IF_FAILED(aclrtResetDevice(0));
    LOG_IF_FAILED(aclFinalize());
    return ok ? 0 : 1;
}
