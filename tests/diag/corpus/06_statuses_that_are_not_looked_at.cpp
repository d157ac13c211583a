// Calls of the Graph Engine that are refused, and whose statuses the program drops: a graph that was never added is removed, compiled and run.
// In the correct form each status is compared, or the thread asks for its errors.
#include "graph.h"

#ifdef CLEAN
#define LOOK(call)                                              \
    do {                                                        \
        if ((call) != ge::SUCCESS) {                            \
            printf("refused: %s\n", ge::GEGetErrorMsg().c_str()); \
        }                                                       \
    } while (0)
#else
#define LOOK(call) (void)(call)
#endif

int main()
{
    set_up();
    MUST(ge::GEInitialize(Options()));
    {
        ge::Session session{Options()};
        std::vector<ge::Tensor> inputs, outputs;
        MUST(session.AddGraph(1, Doubled()));
        LOOK(session.RemoveGraph(77));                    // FINDS JMR-CALL-001
        LOOK(session.CompileGraph(78));                   // FINDS JMR-CALL-001
        LOOK(session.RunGraph(79, inputs, outputs));      // FINDS JMR-CALL-001
        MUST(session.RemoveGraph(1));
    }
    MUST(ge::GEFinalize());
    tear_down();
    return 0;
}
