// The argument block of a launch lies in host memory, and the device finds out when it runs the kernel.
// NEEDS kernels
#include "corpus.h"

#include <cstdint>

int main()
{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    aclrtStream stream;
    void *out, *block;
    uint64_t arguments[1];

    set_up();
    MUST(aclrtBinaryLoadFromFile(getenv("CORPUS_KERNELS"), nullptr, &binary));
    MUST(aclrtBinaryGetFunction(binary, "blocks", &function));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&block, sizeof arguments, ACL_MEM_MALLOC_HUGE_FIRST));
    arguments[0] = reinterpret_cast<uint64_t>(out);
    MUST(aclrtMemcpy(block, sizeof arguments, arguments, sizeof arguments, ACL_MEMCPY_HOST_TO_DEVICE));
#ifdef CLEAN
    MUST(aclrtLaunchKernel(function, 2, block, sizeof arguments, stream));
#else
    MUST(aclrtLaunchKernel(function, 2, arguments, sizeof arguments, stream));
#endif
    TRY(aclrtSynchronizeStream(stream)); // FINDS JMR-SYNC-012
    MUST(aclrtFree(block));
    MUST(aclrtFree(out));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtBinaryUnLoad(binary));
    tear_down();
    return 0;
}
