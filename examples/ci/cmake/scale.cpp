// Copies numbers to a device and back on a stream, as a first program does.

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "acl/acl.h"

namespace {

void require(aclError code, const char *what)
{
    if (code != ACL_SUCCESS) {
        std::fprintf(stderr, "%s: %d\n%s\n", what, code, aclGetRecentErrMsg());
        std::exit(1);
    }
}

} // namespace

int main()
{
    std::vector<float> input(1024), output(1024);
    std::iota(input.begin(), input.end(), 0.0f);
    const size_t bytes = input.size() * sizeof(float);
    aclrtStream stream = nullptr;
    void *device = nullptr;

    require(aclInit(nullptr), "aclInit");
    require(aclrtSetDevice(0), "aclrtSetDevice");
    require(aclrtCreateStream(&stream), "aclrtCreateStream");
    require(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    require(aclrtMemcpyAsync(device, bytes, input.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), "copy in");
    require(aclrtMemcpyAsync(output.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream), "copy out");
    require(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

    require(aclrtFree(device), "aclrtFree");
    require(aclrtDestroyStream(stream), "aclrtDestroyStream");
    require(aclrtResetDevice(0), "aclrtResetDevice");
    require(aclFinalize(), "aclFinalize");
    std::printf("%s\n", input == output ? "equal" : "different");
    return input == output ? 0 : 1;
}
