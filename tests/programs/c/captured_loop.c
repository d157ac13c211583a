/* A captured chain of tasks is executed 1,000 times with different input, and each result is right; nothing is left behind. */
#include "program.h"

#define ROUNDS 1000
#define BYTES 256

int main(void)
{
    aclrtStream stream;
    aclmdlRI model;
    aclmdlRICaptureStatus status;
    uint8_t *in, *out;
    void *a, *b;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&a, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&b, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&in, BYTES));
    CHECK(aclrtMallocHost((void **)&out, BYTES));
    memset(in, 0, BYTES);
    memset(out, 0xEE, BYTES);

    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclrtMemcpyAsync(a, BYTES, in, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtMemcpyAsync(b, BYTES, a, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclrtMemsetAsync(a, BYTES, 0, BYTES, stream));
    CHECK(aclrtMemcpyAsync((uint8_t *)b + BYTES / 2, BYTES / 2, b, BYTES / 2, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclrtMemcpyAsync(out, BYTES, b, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    REQUIRE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    EXPECT(ACL_ERROR_RT_STREAM_CAPTURED, aclrtSynchronizeStream(stream));
    CHECK(aclmdlRICaptureEnd(stream, &model));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(out[0] == 0xEE);

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BYTES; i++) {
            in[i] = (uint8_t)(round + 7 * i);
        }
        CHECK(aclmdlRIExecuteAsync(model, stream));
        CHECK(aclrtSynchronizeStream(stream));
        for (int i = 0; i < BYTES; i++) {
            REQUIRE(out[i] == (uint8_t)(round + 7 * (i % (BYTES / 2))));
        }
    }

    CHECK(aclmdlRIDestroy(model));
    EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(model, stream));
    CHECK(aclrtFree(a));
    CHECK(aclrtFree(b));
    CHECK(aclrtFreeHost(in));
    CHECK(aclrtFreeHost(out));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
