/* Four streams in no order write the same word; the program prints who was last. */
#include "../corpus/corpus.h"

#define STREAMS 4

int main(void)
{
    aclrtStream streams[STREAMS];
    void *shared, *own[STREAMS];
    char host[64];

    set_up();
    MUST(aclrtMalloc(&shared, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < STREAMS; i++) {
        MUST(aclrtCreateStream(&streams[i]));
        MUST(aclrtMalloc(&own[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int i = 0; i < STREAMS; i++) {
        MUST(aclrtMemsetAsync(own[i], 64, 'a' + i, 64, streams[i]));
        MUST(aclrtMemcpyAsync(shared, 64, own[i], 64, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[i]));
    }
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtMemcpy(host, 64, shared, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < STREAMS; i++) {
        MUST(aclrtFree(own[i]));
        MUST(aclrtDestroyStream(streams[i]));
    }
    MUST(aclrtFree(shared));
    tear_down();
    printf("%c\n", host[0]);
    return 0;
}
