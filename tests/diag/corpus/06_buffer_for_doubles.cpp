// The buffer's size is counted in doubles, the memory in floats.
#include "corpus.h"

#include <memory>

int main()
{
    constexpr size_t COUNT = 100;
    void *memory;

    set_up();
    MUST(aclrtMalloc(&memory, COUNT * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    {
#ifdef CLEAN
        using Element = float;
#else
        using Element = double;
#endif
        auto destroy = [](aclDataBuffer *buffer) { TRY(aclDestroyDataBuffer(buffer)); };
        std::unique_ptr<aclDataBuffer, decltype(destroy)> buffer(
            aclCreateDataBuffer(memory, COUNT * sizeof(Element)), destroy); // FINDS JMR-MEM-015
    }
    MUST(aclrtFree(memory));
    tear_down();
    return 0;
}
