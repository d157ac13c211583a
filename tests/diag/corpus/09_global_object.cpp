// A global object destroys its stream when the program has long finalised.
#include "corpus.h"

struct Stream {
    aclrtStream handle = nullptr;
    void open() { MUST(aclrtCreateStream(&handle)); }
    void close()
    {
        if (handle != nullptr) {
            TRY(aclrtDestroyStream(handle)); // FINDS JMR-ORDER-001
        }
        handle = nullptr;
    }
    ~Stream() { close(); }
};

static Stream stream;

int main()
{
    set_up();
    stream.open();
#ifdef CLEAN
    stream.close();
#endif
    MUST(aclFinalize());
    return 0;
}
