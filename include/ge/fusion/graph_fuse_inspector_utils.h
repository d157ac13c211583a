/* Checks for passes that change nodes and edges themselves. */
#ifndef JUMAR_GE_FUSION_GRAPH_FUSE_INSPECTOR_UTILS_H_
#define JUMAR_GE_FUSION_GRAPH_FUSE_INSPECTOR_UTILS_H_

#include <vector>

#include "../../register/register_custom_pass.h"

namespace ge {
namespace fusion {

class GraphFuseInspectorUtils {
 public:
  /* Returns whether one node in place of the nodes would not wait for itself. */
  static bool CanFuse(const std::vector<GNode> &nodes_before_fuse, AscendString &failed_reason);
  /* Checks that there is a node that was fused. Nothing is recorded: no file lists the fusions of a build. */
  static Status ReportFuse(const std::vector<GNode> &nodes_before_fuse, const std::vector<GNode> &nodes_after_fuse,
                           CustomPassContext &ctx);
};

}  // namespace fusion
}  // namespace ge

#endif
