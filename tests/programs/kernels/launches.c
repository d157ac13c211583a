/* Launches that the behaviour table cannot express: grids of threads, and the values that an exception callback receives. The
 * argument is the binary made from tests/behaviour/kernels.c. */
#include "../c/program.h"

#include <sys/syscall.h>
#include <unistd.h>

static struct {
    int calls;
    uint32_t task, stream, thread, device, code, length;
    aclrtFuncHandle function;
    uint32_t words[2];
    void *user;
} received;

static void note(aclrtExceptionInfo *info, void *user)
{
    void *arguments = NULL;
    received.calls++;
    received.task = aclrtGetTaskIdFromExceptionInfo(info);
    received.stream = aclrtGetStreamIdFromExceptionInfo(info);
    received.thread = aclrtGetThreadIdFromExceptionInfo(info);
    received.device = aclrtGetDeviceIdFromExceptionInfo(info);
    received.code = aclrtGetErrorCodeFromExceptionInfo(info);
    CHECK(aclrtGetFuncHandleFromExceptionInfo(info, &received.function));
    CHECK(aclrtGetArgsFromExceptionInfo(info, &arguments, &received.length));
    memcpy(&received.words[0], arguments, sizeof received.words[0]);
    memcpy(&received.words[1], (char *)arguments + 8, sizeof received.words[1]);
    received.user = user;
}

static void exceptions(aclrtBinHandle binary, aclrtStream stream)
{
    aclrtFuncHandle fails, nothing;
    uint32_t from = 3, first, last;
    int32_t status = 77, number, mark;
    void *arguments[] = {&from, &status};

    CHECK(aclrtBinaryGetFunction(binary, "fails", &fails));
    CHECK(aclrtBinaryGetFunction(binary, "nothing", &nothing));
    CHECK(aclrtBinarySetExceptionCallback(binary, note, &mark));
    CHECK(aclrtStreamGetId(stream, &number));
    CHECK(aclrtLaunchKernelWithArgsArray(nothing, 1, stream, NULL, NULL));
    CHECK(aclrtLaunchKernelWithArgsArray(fails, 5, stream, NULL, arguments));
    CHECK(aclrtGetThreadLastTaskId(&first));
    CHECK(aclrtLaunchKernelWithArgsArray(nothing, 1, stream, NULL, NULL));
    CHECK(aclrtGetThreadLastTaskId(&last));
    REQUIRE(last == first + 1 && received.calls == 0);
    EXPECT(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream));
    REQUIRE(received.calls == 1 && received.task == first && received.stream == (uint32_t)number);
    REQUIRE(received.thread == (uint32_t)syscall(SYS_gettid) && received.device == 0);
    REQUIRE(received.code == ACL_ERROR_RT_AICORE_EXCEPTION && received.function == fails);
    REQUIRE(received.length == 12 && received.words[0] == 3 && received.words[1] == 77 && received.user == &mark);
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtBinarySetExceptionCallback(binary, NULL, NULL));
}

static void threads(aclrtBinHandle binary, aclrtStream stream)
{
    aclrtFuncHandle threads, blocks;
    int64_t out[6];
    void *memory;
    dim3 grid = {3, 1, 1}, group = {2, 1, 1}, none = {1, 0, 1}, many = {4096, 1, 1};
    size_t most;

    CHECK(aclrtBinaryGetFunction(binary, "threads", &threads));
    CHECK(aclrtBinaryGetFunction(binary, "blocks", &blocks));
    CHECK(aclrtMalloc(&memory, sizeof out, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(memory, sizeof out, 0xff, sizeof out));
    CHECK(aclrtFunctionGetAvailDynUbufPerBlock(threads, 0, &most));
    REQUIRE(most >= 1024);

    void *arguments[] = {&memory};
    CHECK(aclrtLaunchSIMTKernelWithArgsArray(threads, grid, group, 256, stream, NULL, arguments));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(out, sizeof out, memory, sizeof out, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 6; i++) REQUIRE(out[i] == i);

    CHECK(aclrtMemset(memory, sizeof out, 0xff, sizeof out));
    CHECK(aclrtLaunchSIMTKernelWithHostArgs(threads, group, grid, 8, stream, NULL, &memory, 8, NULL, 0));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(out, sizeof out, memory, sizeof out, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 6; i++) REQUIRE(out[i] == i);

    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(threads, none, group, 0, stream, NULL, arguments));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(threads, grid, many, 0, stream, NULL, arguments));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(threads, grid, group, most + 1, stream, NULL, arguments));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(blocks, grid, group, 0, stream, NULL, arguments));
    EXPECT(107000, aclrtLaunchSIMTKernelWithArgsArray(threads, grid, group, 0, stream, NULL, NULL));
    EXPECT(100000, aclrtLaunchSIMTKernelWithArgsArray(NULL, grid, group, 0, stream, NULL, arguments));
    EXPECT(100000, aclrtLaunchSIMTKernelWithHostArgs(threads, grid, group, 0, stream, NULL, NULL, 8, NULL, 0));
    EXPECT(100000, aclrtLaunchSIMTKernelWithHostArgs(threads, grid, group, 0, stream, NULL, &memory, 0, NULL, 0));
    EXPECT(107000, aclrtLaunchSIMTKernelWithHostArgs(blocks, grid, group, 0, stream, NULL, &memory, 8, NULL, 0));
    CHECK(aclrtFree(memory));
}

int main(int argc, char **argv)
{
    aclrtStream stream;
    aclrtBinHandle binary;

    REQUIRE(argc == 2);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtBinaryLoadFromFile(argv[1], NULL, &binary));
    exceptions(binary, stream);
    threads(binary, stream);
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
