/* Replaces parts of a graph. */
#ifndef JUMAR_GE_FUSION_GRAPH_REWRITER_H_
#define JUMAR_GE_FUSION_GRAPH_REWRITER_H_

#include "../../register/register_custom_pass.h"
#include "subgraph_boundary.h"

namespace ge {
namespace fusion {

class SubgraphRewriter {
 public:
  /* Puts a copy of the nodes of `replacement`, whose inputs and outputs are those of the boundary, in place of what lies inside.
   * If that fails, nothing is changed; with a context, its error message is the reason. */
  static Status Replace(const SubgraphBoundary &subgraph, const Graph &replacement);
  static Status Replace(const SubgraphBoundary &subgraph, Graph &&replacement);
  static Status Replace(const SubgraphBoundary &subgraph, Graph &&replacement, CustomPassContext &ctx);
  static Status Replace(const SubgraphBoundary &subgraph, const Graph &replacement, CustomPassContext &ctx);
};

}  // namespace fusion
}  // namespace ge

#endif
