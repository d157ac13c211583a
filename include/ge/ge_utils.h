/* Questions about graphs that need no build. */
#ifndef JUMAR_GE_UTILS_H_
#define JUMAR_GE_UTILS_H_

#include <vector>

#include "../graph/graph.h"
#include "ge_api_types.h"

namespace ge {

class GeUtils {
 public:
  /* Infers the shapes and types of all nodes and stores them in their output descriptions. */
  static Status InferShape(const Graph &graph, const std::vector<Shape> &input_shape);
  static Status CheckNodeSupportOnAicore(const GNode &node, bool &is_supported, AscendString &unsupported_reason);
};

}  // namespace ge

#endif
