// One thread begins a capture, another one ends it.
#include "corpus.h"

#include <thread>

int main()
{
    aclrtContext context;
    aclrtStream stream;
    aclmdlRI graph = nullptr;
    void *buffer;

    set_up();
    MUST(aclrtGetCurrentContext(&context));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&buffer, 256, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclrtMemsetAsync(buffer, 256, 0, 256, stream));
#ifndef CLEAN
    std::thread([&] {
        MUST(aclrtSetCurrentContext(context));
        TRY(aclmdlRICaptureEnd(stream, &graph)); // FINDS JMR-CAP-007
    }).join();
#else
    MUST(aclmdlRICaptureEnd(stream, &graph));
    std::thread([&] { MUST(aclrtSetCurrentContext(context)); }).join();
#endif
    if (graph != nullptr) {
        MUST(aclmdlRIDestroy(graph));
    }
    MUST(aclrtFree(buffer));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
