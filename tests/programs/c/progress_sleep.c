/* Queued work is done while the program does nothing but sleep and look at its own memory. */
#include "program.h"

#define SIZE 4096

int main(void)
{
    aclrtStream stream;
    void *device;
    volatile uint8_t *host;
    double start;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, SIZE));
    memset((void *)host, 0, SIZE);

    CHECK(aclrtMemsetAsync(device, SIZE, 0x5a, SIZE, stream));
    CHECK(aclrtMemcpyAsync((void *)host, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    start = now_s();
    while (host[0] != 0x5a || host[SIZE - 1] != 0x5a) {
        REQUIRE(now_s() - start < PATIENCE_S);
        sleep_ms(1);
    }

    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtFreeHost((void *)host));
    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
