#include "corpus.h"

int main(void)
{
    char *memory;
    aclrtStream stream;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc((void **)&memory, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(memory, 256, 0, 256));
#ifdef CLEAN
    TRY(aclrtMemcpyAsync(memory + 128, 128, memory, 128, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
#else
    TRY(aclrtMemcpyAsync(memory + 64, 128, memory, 128, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)); /* FINDS JMR-COPY-009 */
#endif
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
