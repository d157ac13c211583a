/* Shapes and types of a replacement. */
#ifndef JUMAR_GE_FUSION_INFER_SHAPE_UTIL_H_
#define JUMAR_GE_FUSION_INFER_SHAPE_UTIL_H_

#include "match_result.h"

namespace ge {
namespace fusion {

class InferShapeUtil {
 public:
  /* The inputs of the replacement get the descriptions of what the boundary reads; where that is a constant, its value is known. */
  static Status InferShape(const Graph &replacement_graph, const SubgraphBoundary &subgraph_boundary);
  static Status InferShape(const Graph &replacement_graph, const MatchResult &match_result);
  static Status InferShape(const Graph &replacement_graph, const GNode &matched_node);
};

}  // namespace fusion
}  // namespace ge

#endif
