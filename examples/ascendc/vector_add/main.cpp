// Adds two vectors of half on 8 blocks and checks each element.
#include <cstdint>
#include <cstdio>
#include <vector>

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

int main()
{
    constexpr uint32_t length = 100003, blocks = 8, tile = 2048;
    constexpr size_t bytes = length * sizeof(uint16_t);
    // 1.5 and 2.25 as half; their sum is 3.75.
    const std::vector<uint16_t> x(length, 0x3e00), y(length, 0x4080);
    std::vector<uint16_t> z(length);

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

    CHECK(ACLRT_LAUNCH_KERNEL(add)(blocks, stream, device_x, device_y, device_z, length, tile));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(z.data(), bytes, device_z, bytes, ACL_MEMCPY_DEVICE_TO_HOST));

    uint32_t wrong = 0;
    for (uint16_t value : z) wrong += value != 0x4380;
    std::printf("%u of %u sums are wrong\n", wrong, length);

    CHECK(aclrtFree(device_x));
    CHECK(aclrtFree(device_y));
    CHECK(aclrtFree(device_z));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong != 0;
}
