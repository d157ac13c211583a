/* Copies to the host and prints what arrived; without WAIT, before it has arrived. */
#include "../corpus/corpus.h"

int main(int count, char **words)
{
    aclrtStream stream;
    void *device;
    unsigned char *host;
    int seen;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&host, 64));
    MUST(aclrtMemset(device, 64, 7, 64));
    MUST(aclrtMemcpyAsync(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    if (count > 1 && strcmp(words[1], "wait") == 0) {
        MUST(aclrtSynchronizeStream(stream));
    } else if (count > 1) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        while (status != ACL_STREAM_STATUS_COMPLETE) {
            MUST(aclrtStreamQuery(stream, &status));
        }
    }
    seen = host[63];
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    printf("%d\n", seen);
    return 0;
}
