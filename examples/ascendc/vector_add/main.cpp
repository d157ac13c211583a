// Adds two vectors of half on 8 blocks and checks each element.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#ifdef ASCENDC_CPU_DEBUG

// Without a device: the kernel's blocks run in this call, on memory of GmAlloc.
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length, uint32_t tile);

static int add_on_device(const std::vector<uint16_t>& x, const std::vector<uint16_t>& y, std::vector<uint16_t>& z, uint32_t blocks, uint32_t tile)
{
    const size_t bytes = x.size() * sizeof(uint16_t);
    uint8_t* memory[3];
    for (uint8_t*& one : memory) one = static_cast<uint8_t*>(AscendC::GmAlloc(bytes));
    std::memcpy(memory[0], x.data(), bytes);
    std::memcpy(memory[1], y.data(), bytes);
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(add, blocks, memory[0], memory[1], memory[2], static_cast<uint32_t>(x.size()), tile);
    std::memcpy(z.data(), memory[2], bytes);
    for (uint8_t* one : memory) AscendC::GmFree(one);
    return 0;
}

#else

#include "acl/acl.h"
#include "aclrtlaunch_add.h"

#define CHECK(call)                                                              \
    do {                                                                         \
        const int code = static_cast<int>(call);                                 \
        if (code != 0) {                                                         \
            const char* why = aclGetRecentErrMsg();                              \
            std::fprintf(stderr, "%s: %d %s\n", #call, code, why ? why : "");    \
            return 1;                                                            \
        }                                                                        \
    } while (0)

static int add_on_device(const std::vector<uint16_t>& x, const std::vector<uint16_t>& y, std::vector<uint16_t>& z, uint32_t blocks, uint32_t tile)
{
    const size_t bytes = x.size() * sizeof(uint16_t);
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    void *device_x = nullptr, *device_y = nullptr, *device_z = nullptr;
    CHECK(aclrtMalloc(&device_x, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&device_y, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&device_z, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(device_x, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(device_y, bytes, y.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));

    CHECK(ACLRT_LAUNCH_KERNEL(add)(blocks, stream, device_x, device_y, device_z, static_cast<uint32_t>(x.size()), tile));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(z.data(), bytes, device_z, bytes, ACL_MEMCPY_DEVICE_TO_HOST));

    CHECK(aclrtFree(device_x));
    CHECK(aclrtFree(device_y));
    CHECK(aclrtFree(device_z));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}

#endif

int main()
{
    constexpr uint32_t length = 100003, blocks = 8, tile = 2048;
    // 1.5 and 2.25 as half; their sum is 3.75.
    const std::vector<uint16_t> x(length, 0x3e00), y(length, 0x4080);
    std::vector<uint16_t> z(length);
    if (add_on_device(x, y, z, blocks, tile) != 0) return 1;

    uint32_t wrong = 0;
    for (uint16_t value : z) wrong += value != 0x4380;
    std::printf("%u of %u sums are wrong\n", wrong, length);
    return wrong != 0;
}
