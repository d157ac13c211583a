/* Half of a buffer is filled, all of it is copied, and the program looks at the filled half alone. */
#include "program.h"

enum { SIZE = 1024, FILLED = 512 };

int main(void)
{
    void *memory;
    static uint8_t host[SIZE];

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(memory, SIZE, 3, FILLED));
    CHECK(aclrtMemcpy(host, SIZE, memory, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(host[0] == 3 && host[FILLED - 1] == 3);
    CHECK(aclrtFree(memory));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
