#include "corpus.h"

/* WITH protect: bytes beside those of the copy, on the same page, are the program's own, however often they are used. */
int main(void)
{
    aclrtStream stream;
    void *device;
    volatile unsigned char *host;
    void *memory;
    unsigned sum = 0;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&device, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost(&memory, 4096));
    host = memory;
    memset(memory, 1, 4096);
    MUST(aclrtMemset(device, 256, 7, 256));
    MUST(aclrtMemcpyAsync((char *)memory + 256, 256, device, 256, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    for (int at = 0; at < 4096; at += 51)
        if (at < 256 || at >= 512) {
            host[at] = (unsigned char)at;
            sum += host[at];
        }
    memset((char *)memory + 600, 2, 1000);
#ifndef CLEAN
    sum += host[511]; /* FINDS JMR-SYNC-004 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(host[256] - 7);
    MUST(host[255] - 255);
    MUST(aclrtFreeHost(memory));
    MUST(aclrtFree(device));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return sum == 0;
}
