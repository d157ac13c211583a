/* With ASCEND_LAUNCH_BLOCKING a launch returns when its kernel has ended, however long that computes. Linked with -rdynamic. */
#include "../c/program.h"

#include "jumar/kernel.h"

/* Computes for longer than the second that a stream is given which waits for something. */
void compute(int32_t *ended)
{
    for (double start = now_s(); now_s() - start < 1.3;) {
    }
    *ended = 1;
}
JUMAR_KERNEL(compute, int32_t *)

int main(void)
{
    aclrtStream stream;
    uintptr_t kernel = (uintptr_t)compute;
    void *memory;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMallocHost(&memory, sizeof(int32_t)));
    volatile int32_t *ended = memory;
    *ended = 0;
    void *arguments[] = {&memory};
    CHECK(aclrtLaunchKernelWithArgsArray((void *)kernel, 1, stream, NULL, arguments));
    int32_t seen = *ended;
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtFreeHost(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts(seen ? "ended" : "runs");
    return 0;
}
