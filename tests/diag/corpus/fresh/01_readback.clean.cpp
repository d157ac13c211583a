// Runs a tiny "step" on the device and brings the result back for the host to sum up.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

#define CHECK_ACL(expr)                                                                   \
    do {                                                                                  \
        const aclError status = (expr);                                                   \
        if (status != ACL_SUCCESS) {                                                      \
            std::fprintf(stderr, "[%s:%d] %s failed: %d\n", __FILE__, __LINE__, #expr, status); \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

class Step {
public:
    explicit Step(size_t bytes) : bytes_(bytes)
    {
        CHECK_ACL(aclrtCreateStream(&stream_));
        CHECK_ACL(aclrtMalloc(&device_, bytes_, ACL_MEM_MALLOC_NORMAL_ONLY));
        CHECK_ACL(aclrtMallocHost(&host_, bytes_));
        std::memset(host_, 0, bytes_);
    }

    ~Step()
    {
        CHECK_ACL(aclrtSynchronizeStream(stream_));
        CHECK_ACL(aclrtFreeHost(host_));
        CHECK_ACL(aclrtFree(device_));
        CHECK_ACL(aclrtDestroyStream(stream_));
    }

    Step(const Step &) = delete;
    Step &operator=(const Step &) = delete;

    void run(int value)
    {
        CHECK_ACL(aclrtMemsetAsync(device_, bytes_, value, bytes_, stream_));
        CHECK_ACL(aclrtMemcpyAsync(host_, bytes_, device_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    }

    uint64_t sum() const
    {
        CHECK_ACL(aclrtSynchronizeStream(stream_));
        const auto *p = static_cast<const uint8_t *>(host_);
        uint64_t total = 0;
        for (size_t i = 0; i < bytes_; ++i) {
            total += p[i];
        }
        return total;
    }

private:
    size_t bytes_;
    aclrtStream stream_ = nullptr;
    void *device_ = nullptr;
    void *host_ = nullptr;
};

int main()
{
    constexpr size_t kBytes = 1 << 20;
    CHECK_ACL(aclInit(nullptr));
    CHECK_ACL(aclrtSetDevice(0));
    {
        Step step(kBytes);
        step.run(3);
        std::printf("sum = %llu, expected %llu\n", static_cast<unsigned long long>(step.sum()),
                    static_cast<unsigned long long>(3 * kBytes));
    }
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
