/* A pattern: a small graph whose structure is looked for in another graph. */
#ifndef JUMAR_GE_FUSION_PATTERN_H_
#define JUMAR_GE_FUSION_PATTERN_H_

#include <memory>
#include <vector>

#include "subgraph_boundary.h"

namespace ge {
namespace fusion {

class Pattern {
 public:
  /* Inputs of the graph stand for any tensor; its outputs are the tensors that may be used outside of a match. */
  explicit Pattern(Graph &&pattern_graph);
  ~Pattern();
  const Graph &GetGraph() const;
  /* The match has what stands for the tensor, under the number of the call. */
  Pattern &CaptureTensor(const NodeIo &node_output);
  Status GetCapturedTensors(std::vector<NodeIo> &node_outputs) const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fusion
}  // namespace ge

#endif
