// A caching pool of device blocks, shared by two streams.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"

static void Check(aclError err, const char *what)
{
    if (err != ACL_SUCCESS) {
        throw std::runtime_error(std::string(what) + ": " + std::to_string(err));
    }
}
#define ACL(call) Check((call), #call)

constexpr size_t kBlock = 512 * 1024;

class BlockPool {
public:
    ~BlockPool()
    {
        for (void *block : free_) {
            (void)aclrtFree(block);
        }
    }

    void *Get()
    {
        if (free_.empty()) {
            void *block = nullptr;
            ACL(aclrtMalloc(&block, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
            return block;
        }
        void *block = free_.back();
        free_.pop_back();
        return block;
    }

    void Put(void *block) { free_.push_back(block); }

private:
    std::vector<void *> free_;
};

static void Stage(BlockPool &pool, void *out, int value, aclrtStream stream)
{
    void *tmp = pool.Get();
    ACL(aclrtMemsetAsync(tmp, kBlock, value, kBlock, stream));
    ACL(aclrtMemcpyAsync(out, kBlock, tmp, kBlock, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    pool.Put(tmp);
}

static void Run()
{
    BlockPool pool;
    aclrtStream left = nullptr;
    aclrtStream right = nullptr;
    void *outLeft = nullptr;
    void *outRight = nullptr;
    ACL(aclrtCreateStream(&left));
    ACL(aclrtCreateStream(&right));
    ACL(aclrtMalloc(&outLeft, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL(aclrtMalloc(&outRight, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
    Stage(pool, outLeft, 1, left);
    Stage(pool, outRight, 2, right);
    ACL(aclrtSynchronizeStream(left));
    ACL(aclrtSynchronizeStream(right));
    std::vector<unsigned char> host(kBlock);
    ACL(aclrtMemcpy(host.data(), kBlock, outLeft, kBlock, ACL_MEMCPY_DEVICE_TO_HOST));
    std::printf("left holds %d\n", host[kBlock - 1]);
    ACL(aclrtFree(outRight));
    ACL(aclrtFree(outLeft));
    ACL(aclrtDestroyStream(right));
    ACL(aclrtDestroyStream(left));
}

int main()
{
    try {
        ACL(aclInit(nullptr));
        ACL(aclrtSetDevice(0));
        Run();
        ACL(aclrtResetDevice(0));
        ACL(aclFinalize());
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
