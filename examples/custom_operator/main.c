/* Runs the operator of axpy.cc on device 0: main [axpy.so], by default libaxpy.so in the folder of the program's start. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "acl/acl.h"

#define CHECK(call)                                                                            \
    do {                                                                                       \
        aclError code = (call);                                                                \
        if (code != ACL_SUCCESS) {                                                             \
            const char *text = aclGetRecentErrMsg();                                           \
            fprintf(stderr, "%s answered %d\n%s\n", #call, code, text == NULL ? "" : text);    \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

enum { N = 1000 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "./libaxpy.so";
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle axpy;
    float x[N], y[N], a = 2.5f;
    uint32_t n = N;
    void *dx, *dy;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtBinaryLoadFromFile(path, NULL, &binary));
    CHECK(aclrtBinaryGetFunction(binary, "axpy", &axpy));

    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    CHECK(aclrtMalloc(&dx, sizeof x, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&dy, sizeof y, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(dx, sizeof x, x, sizeof x, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(dy, sizeof y, y, sizeof y, ACL_MEMCPY_HOST_TO_DEVICE));

    /* The kernel describes its parameters, so that a pointer to each value is enough. */
    void *arguments[] = {&a, &dx, &dy, &n};
    CHECK(aclrtLaunchKernelWithArgsArray(axpy, 8, stream, NULL, arguments));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(y, sizeof y, dy, sizeof y, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < N; i++) {
        if (y[i] != 1.0f + 2.5f * (float)i) {
            fprintf(stderr, "y[%d] is %g\n", i, y[i]);
            return 1;
        }
    }

    /* A kernel that fails is reported when the host synchronises. */
    a = NAN;
    CHECK(aclrtLaunchKernelWithArgsArray(axpy, 8, stream, NULL, arguments));
    if (aclrtSynchronizeStream(stream) != ACL_ERROR_RT_AICORE_EXCEPTION) {
        fprintf(stderr, "the failure was not reported\n");
        return 1;
    }

    CHECK(aclrtFree(dx));
    CHECK(aclrtFree(dy));
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("axpy: %d values are right\n", N);
    return 0;
}
