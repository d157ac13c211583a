/* One pinned buffer is input and output of one stream: it goes up, is worked on there, and comes down into the same bytes, several
 * times over without a wait in between, and then is read. */
#include "program.h"

#define SIZE 8192
#define ROUNDS 20
#define STEPS 4

int main(void)
{
    aclrtStream stream;
    void *first, *second;
    uint8_t *host;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&first, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&second, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void **)&host, SIZE));

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SIZE; i++) {
            host[i] = (uint8_t)(i * 7 + round);
        }
        /* Each step swaps the halves, so that an even number of steps restores the data. */
        for (int step = 0; step < STEPS; step++) {
            CHECK(aclrtMemcpyAsync(first, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
            CHECK(aclrtMemcpyAsync(second, SIZE, (char *)first + SIZE / 2, SIZE / 2, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
            CHECK(aclrtMemcpyAsync((char *)second + SIZE / 2, SIZE / 2, first, SIZE / 2, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
            CHECK(aclrtMemcpyAsync(host, SIZE, second, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        }
        CHECK(aclrtSynchronizeStream(stream));
        for (int i = 0; i < SIZE; i++) {
            REQUIRE(host[i] == (uint8_t)(i * 7 + round));
        }
    }
    printf("%d rounds\n", ROUNDS);

    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(second));
    CHECK(aclrtFree(first));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
