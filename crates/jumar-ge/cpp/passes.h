/* Runs the passes that a program registered. */
#ifndef JUMAR_GE_CPP_PASSES_H_
#define JUMAR_GE_CPP_PASSES_H_

#include <map>

#include "public.h"

namespace ge {
namespace jumar {

typedef std::map<AscendString, AscendString> Options;

/* Returns the graph to build: a copy that the registered passes changed, or the graph itself if none is registered.
 * `options` are found by the passes; the first list wins. A pass that fails, fails the call, with its name. */
Status RunPasses(const Graph &graph, const Options &options, const Options &outer, Graph &result);

}  // namespace jumar
}  // namespace ge

#endif
