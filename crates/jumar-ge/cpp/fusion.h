/* What the units of fusion passes share. */
#ifndef JUMAR_GE_CPP_FUSION_H_
#define JUMAR_GE_CPP_FUSION_H_

#include <memory>
#include <vector>

#include "public.h"

namespace ge {
namespace jumar {

/* What matches keep of their pattern. */
struct PatternData {
  Graph graph;
  std::vector<fusion::NodeIo> captured;
};

/* Makes the last error of the thread the message of the context, if the status is a failure. Returns the status. */
Status Explain(Status status, CustomPassContext &context);

/* Returns the boundary around a node: its inputs that read something, and its outputs. */
fusion::SubgraphBoundary BoundaryOf(const GNode &node);

}  // namespace jumar
}  // namespace ge

#endif
