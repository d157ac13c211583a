/* Looks at what its first copy came to and not at the second one's, and uses host memory that it may not have got. */
#include "../corpus/corpus.h"

__attribute__((noinline)) static void fill_with(volatile char *memory, int value)
{
    for (int at = 0; at < 64; at++) {
        memory[at] = (char)value;
    }
}

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    void *device, *host = NULL;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMallocHost(&host, 64));
    fill_with(host, 5);
    MUST(aclrtMemcpyAsync(device, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpyAsync(device, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    TRY(aclrtRecordEvent(event, stream));
    TRY(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
