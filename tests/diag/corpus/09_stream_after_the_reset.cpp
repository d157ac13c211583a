// The device is reset, and a queue still uses the stream that it created before.
#include "corpus.h"

class Queue {
public:
    Queue() { MUST(aclrtCreateStream(&stream_)); }
    aclError drain() { return aclrtSynchronizeStream(stream_); } // FINDS JMR-DEV-009
    void close() { MUST(aclrtDestroyStream(stream_)); }

private:
    aclrtStream stream_ = nullptr;
};

int main()
{
    set_up();
    Queue queue;
#ifdef CLEAN
    MUST(queue.drain());
    queue.close();
    MUST(aclrtResetDevice(0));
#else
    MUST(aclrtResetDevice(0)); // FINDS JMR-ORDER-002
    MUST(aclrtSetDevice(0));
    TRY(queue.drain());
    MUST(aclrtResetDevice(0));
#endif
    MUST(aclFinalize());
    return 0;
}
