/* Kernels and variables of the program itself, named by their addresses. Linked with -rdynamic. */
#include "../c/program.h"

#include "jumar/kernel.h"

int64_t table[4] = {1, 2, 3, 4};
JUMAR_DEVICE_VARIABLE(table)

void sum(int64_t *out)
{
    *out = table[0] + table[1] + table[2] + table[3];
}
JUMAR_KERNEL(sum, int64_t *)

static void hidden(void)
{
}

int main(void)
{
    aclrtStream stream;
    aclrtFuncHandle function, again;
    int64_t two[2] = {10, 20}, out = 0;
    void *memory, *where;
    size_t size, count;
    uintptr_t kernel = (uintptr_t)sum, unknown = (uintptr_t)hidden;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtGetFuncBySymbol((void *)kernel, &function));
    CHECK(aclrtGetFuncBySymbol((void *)kernel, &again));
    REQUIRE(function == again);
    EXPECT(107044, aclrtGetFuncBySymbol((void *)unknown, &again));
    CHECK(aclrtFunctionGetParamCount((void *)kernel, &count));
    REQUIRE(count == 1);
    CHECK(aclrtGetSymbolAddress(table, &where));
    CHECK(aclrtGetSymbolSize(table, &size));
    REQUIRE(where == (void *)table && size == sizeof table);
    CHECK(aclrtMemcpyToSymbol(table, two, sizeof two, 16, ACL_MEMCPY_HOST_TO_DEVICE));

    CHECK(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST));
    void *arguments[] = {&memory};
    CHECK(aclrtLaunchKernelWithArgsArray((void *)kernel, 1, stream, NULL, arguments));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(&out, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(out == 33);
    EXPECT(107042, aclrtGetSymbolSize(two, &size));

    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("ok");
    return 0;
}
