// A graph runs on one stream, and again on another stream with the first run's result; nothing orders the two.
#include "graph.h"

int main()
{
    aclrtStream first, second;
    aclrtEvent done;
    void *x, *y, *z;

    set_up();
    MUST(ge::GEInitialize(Options()));
    MUST(aclrtCreateStream(&first));
    MUST(aclrtCreateStream(&second));
    MUST(aclrtCreateEvent(&done));
    for (void **memory : {&x, &y, &z}) {
        MUST(aclrtMalloc(memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemset(*memory, BYTES, 0, BYTES));
    }
    {
        ge::Session session((Options()));
        MUST(session.AddGraph(1, Doubled()));
        std::vector<ge::Tensor> middle = {OnDevice(y)}, result = {OnDevice(z)};
        MUST(session.RunGraphWithStreamAsync(1, first, {OnDevice(x)}, middle));
        MUST(aclrtRecordEvent(done, first));
#ifdef CLEAN
        MUST(aclrtStreamWaitEvent(second, done));
#endif
        MUST(session.RunGraphWithStreamAsync(1, second, {OnDevice(y)}, result)); // FINDS JMR-SYNC-002
        MUST(aclrtSynchronizeDevice());
    }
    for (void *memory : {x, y, z}) {
        MUST(aclrtFree(memory));
    }
    MUST(aclrtDestroyEvent(done));
    MUST(aclrtDestroyStream(second));
    MUST(aclrtDestroyStream(first));
    MUST(ge::GEFinalize());
    tear_down();
    return 0;
}
