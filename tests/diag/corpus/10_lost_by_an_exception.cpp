// An exception leaves the function between the allocation and the free.
#include "corpus.h"

#include <stdexcept>

static void decode(int size)
{
    void *scratch = nullptr;
    MUST(aclrtMalloc(&scratch, 4096, ACL_MEM_MALLOC_HUGE_FIRST)); // FINDS JMR-MEM-008
    if (size < 0) {
#ifdef CLEAN
        MUST(aclrtFree(scratch));
#endif
        throw std::invalid_argument("no image has that size");
    }
    MUST(aclrtFree(scratch));
}

int main()
{
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    try {
        decode(10);
        decode(-1);
    } catch (const std::invalid_argument &) {
    }
    MUST(aclFinalize());
    return 0;
}
