// One staging buffer for every frame, and the program does not wait until it has been read.
#include "corpus.h"

#include <array>

class Uploader {
public:
    Uploader()
    {
        MUST(aclrtCreateStream(&stream_));
        MUST(aclrtMallocHost(&staging_, BYTES));
        for (void *&frame : frames_) {
            MUST(aclrtMalloc(&frame, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        }
    }
    ~Uploader()
    {
        MUST(aclrtSynchronizeStream(stream_));
        for (void *frame : frames_) {
            MUST(aclrtFree(frame));
        }
        MUST(aclrtFreeHost(staging_));
        MUST(aclrtDestroyStream(stream_));
    }
    void upload(int number)
    {
        memset(staging_, 10 + number, BYTES);
        MUST(aclrtMemcpyAsync(frames_[number], BYTES, staging_, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream_)); // FINDS JMR-SYNC-003
#ifdef CLEAN
        MUST(aclrtSynchronizeStream(stream_));
#endif
    }

private:
    static constexpr size_t BYTES = 1024;
    aclrtStream stream_ = nullptr;
    void *staging_ = nullptr;
    std::array<void *, 3> frames_{};
};

int main()
{
    set_up();
    {
        Uploader uploader;
        for (int number = 0; number < 3; number++) {
            uploader.upload(number);
        }
    }
    tear_down();
    return 0;
}
