/* One stream writes, another one reads; without WAIT nothing puts the two in order. Prints what was read: 7 is right. */
#include "../corpus/corpus.h"

int main(int count, char **words)
{
    aclrtStream writes, reads;
    aclrtEvent event;
    void *source, *copy;
    unsigned char host[64];

    set_up();
    MUST(aclrtCreateStream(&writes));
    MUST(aclrtCreateStream(&reads));
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclrtMalloc(&source, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&copy, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(source, 64, 1, 64));
    MUST(aclrtMemsetAsync(source, 64, 7, 64, writes));
    if (count > 1 && strcmp(words[1], "wait") == 0) {
        MUST(aclrtRecordEvent(event, writes));
        MUST(aclrtStreamWaitEvent(reads, event));
    }
    MUST(aclrtMemcpyAsync(copy, 64, source, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, reads));
    MUST(aclrtSynchronizeStream(reads));
    MUST(aclrtMemcpy(host, 64, copy, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    MUST(aclrtSynchronizeStream(writes));
    MUST(aclrtFree(source));
    MUST(aclrtFree(copy));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(writes));
    MUST(aclrtDestroyStream(reads));
    tear_down();
    printf("%d\n", host[63]);
    return 0;
}
