/* A hundred thousand small tasks on four streams, for the page of a timeline. */
#include "acl/acl.h"

#define CHECK(call)                 \
    do {                            \
        if ((call) != ACL_SUCCESS)  \
            return __LINE__ & 0x7f; \
    } while (0)

int main(void)
{
    aclrtStream streams[4];
    void *memory;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int number = 0; number < 4; number++) {
        CHECK(aclrtCreateStream(&streams[number]));
    }
    for (int task = 0; task < 100000; task++) {
        int number = task % 4;
        CHECK(aclrtMemsetAsync((char *)memory + 1024 * number, 1024, task, 1024, streams[number]));
        if (task % 400 == 399) {
            CHECK(aclrtSynchronizeDevice());
        }
    }
    CHECK(aclrtSynchronizeDevice());
    for (int number = 0; number < 4; number++) {
        CHECK(aclrtDestroyStream(streams[number]));
    }
    CHECK(aclrtFree(memory));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
