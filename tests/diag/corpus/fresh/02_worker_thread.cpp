// A loader thread prepares a weight buffer while the main thread sets up the rest.
#include <cstdio>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

bool Ok(aclError err, const char *what)
{
    if (err != ACL_SUCCESS) {
        std::fprintf(stderr, "%s failed, error %d\n", what, err);
        return false;
    }
    return true;
}
#define RETURN_IF_ERROR(call)          \
    do {                               \
        if (!Ok((call), #call)) {      \
            return false;              \
        }                              \
    } while (0)

class WeightLoader {
public:
    explicit WeightLoader(int device) : device_(device), weights_(4096, 0.5f) {}

    bool Load()
    {
        const size_t bytes = weights_.size() * sizeof(float);
        RETURN_IF_ERROR(aclrtMalloc(&dev_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        RETURN_IF_ERROR(aclrtMemcpy(dev_, bytes, weights_.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        return true;
    }

    bool Unload()
    {
        if (dev_ != nullptr) {
            RETURN_IF_ERROR(aclrtFree(dev_));
            dev_ = nullptr;
        }
        return true;
    }

    int Device() const { return device_; }

private:
    int device_;
    std::vector<float> weights_;
    void *dev_ = nullptr;
};

}  // namespace

int main()
{
    if (!Ok(aclInit(nullptr), "aclInit") || !Ok(aclrtSetDevice(0), "aclrtSetDevice")) {
        return 1;
    }
    WeightLoader loader(0);
    bool loaded = false;
    std::thread worker([&loader, &loaded] {
        loaded = loader.Load();
    });
    worker.join();
    std::printf("weights on device %d: %s\n", loader.Device(), loaded ? "loaded" : "NOT loaded");

    bool ok = loader.Unload();
    ok = Ok(aclrtResetDevice(0), "aclrtResetDevice") && ok;
    ok = Ok(aclFinalize(), "aclFinalize") && ok;
    return ok && loaded ? 0 : 1;
}
