// The wait moved into a task of its own, and so onto a thread without a context.
#include "corpus.h"

#include <future>

int main()
{
    aclrtContext context;
    aclrtStream stream;
    void *buffer;

    set_up();
    MUST(aclrtGetCurrentContext(&context));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&buffer, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemsetAsync(buffer, 256, 1, 256, stream));
    auto waits = std::async(std::launch::async, [=] {
#ifdef CLEAN
        MUST(aclrtSetCurrentContext(context));
#endif
        return aclrtSynchronizeStream(stream); // FINDS JMR-CTX-001
    });
    TRY(waits.get());
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtFree(buffer));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
