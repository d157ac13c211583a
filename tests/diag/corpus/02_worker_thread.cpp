// A worker allocates, and its thread never said for which device.
#include "corpus.h"

#include <thread>

int main()
{
    set_up();
    std::thread worker([] {
        void *buffer = nullptr;
#ifdef CLEAN
        MUST(aclrtSetDevice(0));
#endif
        if (aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) { // FINDS JMR-CTX-001
            MUST(aclrtFree(buffer));
        }
#ifdef CLEAN
        MUST(aclrtResetDevice(0));
#endif
    });
    worker.join();
    tear_down();
    return 0;
}
