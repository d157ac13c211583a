/* A process that only counted its devices and asked for their name may fork: its children use a device, each for itself, and so
 * does it afterwards. A launcher that starts one child for each device does so. */
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 3 };

static void work(unsigned char value)
{
    unsigned char host[64] = {0};
    void *memory;
    aclrtStream stream;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&memory, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemsetAsync(memory, sizeof host, value, sizeof host, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(host, sizeof host, memory, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(host[0] == value && host[63] == value);
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
}

int main(void)
{
    uint32_t count = 0;
    int32_t ended;
    CHECK(aclrtGetDeviceCount(&count));
    REQUIRE(count == 1);
    REQUIRE(aclrtGetSocName() != NULL);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(20);
            work((unsigned char)(i + 1));
            exit(0);
        }
    }
    work(77);
    for (int i = 0; i < CHILDREN; i++) {
        REQUIRE(wait(&ended) > 0);
        REQUIRE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
    printf("ok\n");
    return 0;
}
