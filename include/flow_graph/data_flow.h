/* Data-flow graphs are not supported: this header reports it where a program includes it. */
#error "Jumar has no data-flow graphs (FlowGraph, FlowData, FlowNode): build an ordinary graph with graph/graph.h and run it by ge/ge_api.h"
