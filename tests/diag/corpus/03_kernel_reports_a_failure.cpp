// A kernel fails; the calls after its launch all succeed, and the synchronise far below reports the failure.
// NEEDS kernels
#include "corpus.h"

static void launch(aclrtBinHandle binary, aclrtStream stream)
{
    aclrtFuncHandle function;
    aclrtArgsHandle arguments;
    aclrtParamHandle parameter;
    uint32_t from = 0;
    int32_t status = 7;

    MUST(aclrtBinaryGetFunction(binary, "fails", &function));
    MUST(aclrtKernelArgsInit(function, &arguments));
    MUST(aclrtKernelArgsAppend(arguments, &from, sizeof from, &parameter));
    MUST(aclrtKernelArgsAppend(arguments, &status, sizeof status, &parameter));
    MUST(aclrtKernelArgsFinalize(arguments));
#ifndef CLEAN
    MUST(aclrtLaunchKernelWithConfig(function, 1, stream, nullptr, arguments, nullptr));
#else
    (void)stream;
#endif
}

int main()
{
    aclrtBinHandle binary;
    aclrtStream stream;
    void *buffer;

    set_up();
    MUST(aclrtBinaryLoadFromFile(getenv("CORPUS_KERNELS"), nullptr, &binary));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&buffer, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    launch(binary, stream);
    TRY(aclrtMemsetAsync(buffer, 256, 1, 256, stream));
    TRY(aclrtSynchronizeStream(stream)); // FINDS JMR-SYNC-012
    MUST(aclrtFree(buffer));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtBinaryUnLoad(binary));
    tear_down();
    return 0;
}
