/* A program that compiles its kernel while it runs: what works, and what is refused. */
#include "../c/program.h"

#include "acl/acl_rt_compile.h"

static const char *const GOOD =
    "#include \"jumar/kernel.h\"\n"
    "extern \"C\" void twice(const float *x, float *y, uint32_t n)\n"
    "{\n"
    "    for (uint32_t i = get_block_idx(); i < n; i += get_block_num()) y[i] = FACTOR * x[i];\n"
    "}\n"
    "JUMAR_KERNEL(twice)\n";

int main(void)
{
    aclrtcProg program = NULL, bad = NULL, cpu = NULL, none = NULL;
    const char *options[] = {"-DFACTOR=2.0f"}, *empty[] = {""}, *missing[] = {NULL}, *lowered = NULL;
    aclrtStream stream;
    aclrtBinHandle binary;
    aclrtFuncHandle twice;
    size_t size = 0, length = 0;
    float x[3] = {1, 2, 3}, y[3];
    uint32_t n = 3;
    void *dx, *dy;
    char *data, *log;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));

    EXPECT(176001, aclrtcCreateProg(NULL, GOOD, "twice.cpp", 0, NULL, NULL));
    EXPECT(176001, aclrtcCreateProg(&program, NULL, "twice.cpp", 0, NULL, NULL));
    EXPECT(176001, aclrtcCreateProg(&program, GOOD, NULL, 0, NULL, NULL));
    CHECK(aclrtcCreateProg(&program, GOOD, "twice.cpp", 0, NULL, NULL));
    EXPECT(176001, aclrtcAddNameExpr(program, NULL));
    EXPECT(176000, aclrtcAddNameExpr(NULL, "twice"));
    CHECK(aclrtcAddNameExpr(program, "twice"));
    CHECK(aclrtcAddNameExpr(program, "thrice"));
    EXPECT(176006, aclrtcGetLoweredName(program, "twice", &lowered));
    EXPECT(176000, aclrtcCompileProg(NULL, 0, NULL));
    EXPECT(176001, aclrtcCompileProg(program, -1, NULL));
    EXPECT(176001, aclrtcCompileProg(program, 1, NULL));
    EXPECT(176001, aclrtcCompileProg(program, 1, missing));
    EXPECT(176002, aclrtcCompileProg(program, 1, empty));
    CHECK(aclrtcCompileProg(program, 1, options));
    EXPECT(176005, aclrtcAddNameExpr(program, "later"));
    CHECK(aclrtcGetLoweredName(program, "twice", &lowered));
    REQUIRE(strcmp(lowered, "twice") == 0);
    EXPECT(176007, aclrtcGetLoweredName(program, "thrice", &lowered));
    EXPECT(176007, aclrtcGetLoweredName(program, "unheard", &lowered));

    EXPECT(176001, aclrtcGetBinDataSize(program, NULL));
    EXPECT(176000, aclrtcGetBinDataSize(NULL, &size));
    CHECK(aclrtcGetBinDataSize(program, &size));
    data = malloc(size);
    EXPECT(176001, aclrtcGetBinData(program, NULL));
    CHECK(aclrtcGetBinData(program, data));
    CHECK(aclrtBinaryLoadFromData(data, size, NULL, &binary));
    free(data);
    CHECK(aclrtBinaryGetFunction(binary, "twice", &twice));
    CHECK(aclrtMalloc(&dx, sizeof x, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&dy, sizeof y, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(dx, sizeof x, x, sizeof x, ACL_MEMCPY_HOST_TO_DEVICE));
    void *arguments[] = {&dx, &dy, &n};
    CHECK(aclrtLaunchKernelWithArgsArray(twice, 2, stream, NULL, arguments));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(y, sizeof y, dy, sizeof y, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 3; i++) REQUIRE(y[i] == 2 * x[i]);
    CHECK(aclrtBinaryUnLoad(binary));

    CHECK(aclrtcCreateProg(&bad, "this is not C++\n", "bad.cpp", 0, NULL, NULL));
    EXPECT(176003, aclrtcCompileProg(bad, 0, NULL));
    EXPECT(176001, aclrtcGetCompileLogSize(bad, NULL));
    CHECK(aclrtcGetCompileLogSize(bad, &length));
    log = malloc(length);
    EXPECT(176001, aclrtcGetCompileLog(bad, NULL));
    CHECK(aclrtcGetCompileLog(bad, log));
    REQUIRE(strlen(log) + 1 == length && strstr(log, "bad.cpp") != NULL);
    free(log);
    CHECK(aclrtcDestroyProg(&bad));

    CHECK(aclrtcCreateProg(&cpu, GOOD, "twice.aicpu", 0, NULL, NULL));
    EXPECT(176003, aclrtcCompileProg(cpu, 0, NULL));
    CHECK(aclrtcDestroyProg(&cpu));

    CHECK(aclrtcDestroyProg(&program));
    REQUIRE(program == NULL);
    EXPECT(176000, aclrtcDestroyProg(&program));
    EXPECT(176001, aclrtcDestroyProg(NULL));
    EXPECT(176000, aclrtcDestroyProg(&none));
    CHECK(aclrtFree(dx));
    CHECK(aclrtFree(dy));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
