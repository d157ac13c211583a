// A caching allocator hands a block to the second stream although the first one still reads it.
#include "corpus.h"

#include <vector>

class Pool {
public:
    void *take(size_t bytes)
    {
        if (!free_.empty()) {
            void *block = free_.back();
            free_.pop_back();
            return block;
        }
        void *block = nullptr;
        MUST(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        return block;
    }
    void give(void *block) { free_.push_back(block); }
    ~Pool()
    {
        for (void *block : free_) {
            MUST(aclrtFree(block));
        }
    }

private:
    std::vector<void *> free_;
};

int main()
{
    constexpr size_t BYTES = 4096;
    aclrtStream first, second;
    aclrtEvent released;
    void *result;

    set_up();
    MUST(aclrtCreateStream(&first));
    MUST(aclrtCreateStream(&second));
    MUST(aclrtCreateEvent(&released));
    MUST(aclrtMalloc(&result, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    {
        Pool pool;
        void *block = pool.take(BYTES);
        MUST(aclrtMemsetAsync(block, BYTES, 1, BYTES, first));
        MUST(aclrtMemcpyAsync(result, BYTES, block, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
        MUST(aclrtRecordEvent(released, first));
        pool.give(block);
        void *again = pool.take(BYTES);
#ifdef CLEAN
        MUST(aclrtStreamWaitEvent(second, released));
#endif
        MUST(aclrtMemsetAsync(again, BYTES, 2, BYTES, second)); // FINDS JMR-SYNC-002
        MUST(aclrtSynchronizeDevice());
        pool.give(again);
    }
    MUST(aclrtFree(result));
    MUST(aclrtDestroyEvent(released));
    MUST(aclrtDestroyStream(second));
    MUST(aclrtDestroyStream(first));
    tear_down();
    return 0;
}
