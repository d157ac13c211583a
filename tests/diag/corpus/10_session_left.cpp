// A session of the Graph Engine is made with new, and not deleted before GEFinalize.
#include "graph.h"

int main()
{
    set_up();
    MUST(ge::GEInitialize(Options()));
    ge::Session *session = new ge::Session(Options()); // FINDS JMR-GE-001
    MUST(session->AddGraph(1, Doubled()));
#ifdef CLEAN
    delete session;
    MUST(ge::GEFinalize());
#endif
    tear_down();
    return 0;
}
