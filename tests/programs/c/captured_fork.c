/* Two streams forked and joined inside a capture: each execution has the order of the events, on whatever stream it runs. */
#include "program.h"

#define ROUNDS 200
#define BYTES 4096

static void *device_memory(void)
{
    void *memory;
    CHECK(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

int main(void)
{
    aclrtStream first, second, elsewhere;
    aclrtEvent fork, back;
    aclmdlRI model;
    uint32_t streams = 0;
    uint8_t *seed, *left_result, *right_result;
    void *source, *left, *right;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&first));
    CHECK(aclrtCreateStream(&second));
    CHECK(aclrtCreateStream(&elsewhere));
    CHECK(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
    CHECK(aclrtCreateEventExWithFlag(&back, ACL_EVENT_SYNC));
    source = device_memory();
    left = device_memory();
    right = device_memory();
    CHECK(aclrtMallocHost((void **)&seed, BYTES));
    CHECK(aclrtMallocHost((void **)&left_result, BYTES));
    CHECK(aclrtMallocHost((void **)&right_result, BYTES));

    CHECK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(aclrtMemcpyAsync(source, BYTES, seed, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, first));
    CHECK(aclrtRecordEvent(fork, first));
    CHECK(aclrtStreamWaitEvent(second, fork));
    CHECK(aclrtMemcpyAsync(left, BYTES, source, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
    CHECK(aclrtMemcpyAsync(right, BYTES, source, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
    CHECK(aclrtMemsetAsync(right, BYTES / 2, 0x5A, BYTES / 2, second));
    CHECK(aclrtRecordEvent(back, second));
    EXPECT(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, aclmdlRICaptureEnd(second, &model));
    CHECK(aclrtStreamWaitEvent(first, back));
    CHECK(aclrtMemcpyAsync(left_result, BYTES, left, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, first));
    CHECK(aclrtMemcpyAsync(right_result, BYTES, right, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, first));
    CHECK(aclmdlRICaptureEnd(first, &model));
    CHECK(aclmdlRIGetStreams(model, NULL, &streams));
    REQUIRE(streams == 2);

    for (int round = 0; round < ROUNDS; round++) {
        aclrtStream on = round % 3 == 0 ? first : round % 3 == 1 ? second : elsewhere;
        memset(seed, round, BYTES);
        CHECK(aclmdlRIExecuteAsync(model, on));
        CHECK(aclrtSynchronizeStream(on));
        for (int i = 0; i < BYTES; i++) {
            REQUIRE(left_result[i] == (uint8_t)round);
            REQUIRE(right_result[i] == (i < BYTES / 2 ? 0x5A : (uint8_t)round));
        }
    }

    CHECK(aclmdlRIDestroy(model));
    CHECK(aclrtDestroyEvent(fork));
    CHECK(aclrtDestroyEvent(back));
    CHECK(aclrtFree(source));
    CHECK(aclrtFree(left));
    CHECK(aclrtFree(right));
    CHECK(aclrtFreeHost(seed));
    CHECK(aclrtFreeHost(left_result));
    CHECK(aclrtFreeHost(right_result));
    CHECK(aclrtDestroyStream(first));
    CHECK(aclrtDestroyStream(second));
    CHECK(aclrtDestroyStream(elsewhere));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
