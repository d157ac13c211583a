/* Two captured models on two streams, ordered by an event that the first records and the second waits for: the second reads what the
 * first wrote. */
#include "program.h"

enum { SIZE = 4096 };

int main(void)
{
    aclrtStream first, second;
    aclrtEvent event;
    aclmdlRI writes, reads;
    void *from, *to;
    static uint8_t host[SIZE];

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&first));
    CHECK(aclrtCreateStream(&second));
    CHECK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
    CHECK(aclrtMalloc(&from, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&to, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));

    CHECK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclrtMemsetAsync(from, SIZE, 7, SIZE, first));
    CHECK(aclrtRecordEvent(event, first));
    CHECK(aclmdlRICaptureEnd(first, &writes));

    CHECK(aclmdlRICaptureBegin(second, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclrtStreamWaitEvent(second, event));
    CHECK(aclrtMemcpyAsync(to, SIZE, from, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
    CHECK(aclmdlRICaptureEnd(second, &reads));

    CHECK(aclmdlRIExecuteAsync(writes, first));
    CHECK(aclmdlRIExecuteAsync(reads, second));
    CHECK(aclrtSynchronizeStream(second));
    CHECK(aclrtSynchronizeStream(first));
    CHECK(aclrtMemcpy(host, SIZE, to, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(host[0] == 7 && host[SIZE - 1] == 7);

    CHECK(aclmdlRIDestroy(writes));
    CHECK(aclmdlRIDestroy(reads));
    CHECK(aclrtFree(from));
    CHECK(aclrtFree(to));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(first));
    CHECK(aclrtDestroyStream(second));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
