/* Nodes of a graph that match a pattern. */
#ifndef JUMAR_GE_FUSION_MATCH_RESULT_H_
#define JUMAR_GE_FUSION_MATCH_RESULT_H_

#include <memory>
#include <vector>

#include "pattern.h"

namespace ge {
namespace fusion {

class MatchResult {
 public:
  explicit MatchResult(const Pattern *pattern);
  ~MatchResult();
  MatchResult(const MatchResult &other) noexcept;
  MatchResult(MatchResult &&other) noexcept;
  MatchResult &operator=(const MatchResult &other) noexcept;
  MatchResult &operator=(MatchResult &&other) noexcept;
  Status AppendNodeMatchPair(const NodeIo &pattern_node_out, const NodeIo &matched_node_out);
  Status GetMatchedNode(const GNode &pattern_node, GNode &matched_node) const;
  /* Returns the nodes inside, constants among them. */
  std::vector<GNode> GetMatchedNodes() const;
  Status GetCapturedTensor(size_t capture_idx, NodeIo &node_output) const;
  const Graph &GetPatternGraph() const;
  /* Returns null if nodes of the pattern have no node. */
  std::unique_ptr<SubgraphBoundary> ToSubgraphBoundary() const;
  AscendString ToAscendString() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fusion
}  // namespace ge

#endif
