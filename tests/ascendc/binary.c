/* Loads a kernel binary and launches its kernel by name. */
#include <stdint.h>
#include <stdio.h>

#include "acl/acl.h"

#define CHECK(call)                                                                                 \
    do {                                                                                            \
        int code = (int)(call);                                                                     \
        if (code != 0) {                                                                            \
            const char *why = aclGetRecentErrMsg();                                                 \
            fprintf(stderr, "binary.c:%d: %s: %d %s\n", __LINE__, #call, code, why ? why : "");     \
            return 1;                                                                               \
        }                                                                                           \
    } while (0)

int main(int count, char **arguments)
{
    aclrtBinHandle binary = NULL;
    aclrtFuncHandle function = NULL;
    aclrtArgsHandle list = NULL;
    aclrtParamHandle parameter = NULL;
    aclrtStream stream = NULL;
    void *x = NULL;
    uint16_t host[32];
    uint32_t length = 32, tile = 16;
    int at;

    if (count != 2) return 2;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&x, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST));
    for (at = 0; at < 32; at++) host[at] = 0x3c00;
    CHECK(aclrtMemcpy(x, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtBinaryLoadFromFile(arguments[1], NULL, &binary));
    CHECK(aclrtBinaryGetFunction(binary, "add", &function));
    CHECK(aclrtKernelArgsInit(function, &list));
    CHECK(aclrtKernelArgsAppend(list, &x, sizeof x, &parameter));
    CHECK(aclrtKernelArgsAppend(list, &x, sizeof x, &parameter));
    CHECK(aclrtKernelArgsAppend(list, &x, sizeof x, &parameter));
    CHECK(aclrtKernelArgsAppend(list, &length, sizeof length, &parameter));
    CHECK(aclrtKernelArgsAppend(list, &tile, sizeof tile, &parameter));
    CHECK(aclrtKernelArgsFinalize(list));
    CHECK(aclrtLaunchKernelWithConfig(function, 2, stream, NULL, list, NULL));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(host, sizeof host, x, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST));
    for (at = 0; at < 32; at++)
        if (host[at] != 0x4000) return fprintf(stderr, "element %d is %#x\n", at, host[at]), 1;
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtFree(x));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("binary: done");
    return 0;
}
