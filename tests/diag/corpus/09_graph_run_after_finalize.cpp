// The Graph Engine is ended while the session still has a graph to run.
#include "graph.h"

int main()
{
    const std::vector<float> values = {1, 2, 3, 4};

    set_up();
    MUST(ge::GEInitialize(Options()));
    {
        ge::Session session((Options()));
        MUST(session.AddGraph(1, Doubled()));
        const std::vector<ge::Tensor> inputs = {
            ge::Tensor(Desc(), reinterpret_cast<const uint8_t *>(values.data()), BYTES)};
        std::vector<ge::Tensor> outputs;
#ifndef CLEAN
        MUST(ge::GEFinalize());
        TRY(session.RunGraph(1, inputs, outputs)); // FINDS JMR-GE-002
#else
        MUST(session.RunGraph(1, inputs, outputs));
#endif
    }
#ifdef CLEAN
    MUST(ge::GEFinalize());
#endif
    tear_down();
    return 0;
}
