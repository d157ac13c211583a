#include "corpus.h"

int main(void)
{
    aclrtStream stream;
    void *input, *copy;
    char frame[512];

    set_up();
    memset(frame, 3, sizeof frame);
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&input, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&copy, 512, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(input, 512, frame, 512, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtMemcpyAsync(copy, 512, input, 512, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
#ifdef CLEAN
    MUST(aclrtSynchronizeStream(stream));
#endif
    MUST(aclrtMemcpy(input, 512, frame, 512, ACL_MEMCPY_HOST_TO_DEVICE)); /* FINDS JMR-SYNC-006 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(copy));
    MUST(aclrtFree(input));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
