/* What can be asked of a graph without building it. */
#ifndef JUMAR_GE_UTILS_H_
#define JUMAR_GE_UTILS_H_

#include <vector>

#include "../graph/graph.h"
#include "ge_api_types.h"

namespace ge {

class GeUtils {
 public:
  /* Finds the shapes and types of all nodes, and writes them into their output descriptions. */
  static Status InferShape(const Graph &graph, const std::vector<Shape> &input_shape) {
    jumar::Message message;
    message.U64(graph.JumarId()).U64(input_shape.size());
    for (const Shape &shape : input_shape) {
      message.Ints(shape.GetDims());
    }
    return jumar::Call(jumar::CallId::kGraphInfer, message);
  }
  static Status CheckNodeSupportOnAicore(const GNode &node, bool &is_supported, AscendString &unsupported_reason) {
    AscendString type;
    if (node.GetType(type) != GRAPH_SUCCESS) {
      return FAILED;
    }
    is_supported = jumar::Number(jumar::CallId::kOpSupported, jumar::Message().Text(type)) != 0;
    unsupported_reason = is_supported ? AscendString("") : AscendString("the operator is not known");
    return SUCCESS;
  }
};

}  // namespace ge

#endif
