/* Finds a pattern in a graph. */
#ifndef JUMAR_GE_FUSION_PATTERN_MATCHER_H_
#define JUMAR_GE_FUSION_PATTERN_MATCHER_H_

#include <memory>

#include "match_result.h"
#include "pattern_matcher_config.h"

namespace ge {
namespace fusion {

class PatternMatcher {
 public:
  explicit PatternMatcher(std::unique_ptr<Pattern> pattern, const GraphPtr &target_graph);
  PatternMatcher(std::unique_ptr<Pattern> pattern, const GraphPtr &target_graph,
                 std::unique_ptr<PatternMatcherConfig> matcher_config);
  ~PatternMatcher();
  /* Returns the next match in topological order, or null. Matches may overlap. The graph may be changed in between; nodes that
   * were added after the construction are the node of the first output of no match. Graphs inside of nodes are not searched. */
  std::unique_ptr<MatchResult> MatchNext();

 private:
  friend struct jumar::Access;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fusion
}  // namespace ge

#endif
