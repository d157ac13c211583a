/* Passes that replace what matches a pattern. */
#ifndef JUMAR_GE_PATTERN_FUSION_PASS_H_
#define JUMAR_GE_PATTERN_FUSION_PASS_H_

#include <memory>
#include <vector>

#include "../match_result.h"
#include "../pattern_matcher_config.h"
#include "fusion_base_pass.h"

namespace ge {
namespace fusion {

typedef std::unique_ptr<Graph> GraphUniqPtr;
typedef std::unique_ptr<Pattern> PatternUniqPtr;

class PatternFusionPass : public FusionBasePass {
 public:
  PatternFusionPass();
  explicit PatternFusionPass(std::unique_ptr<PatternMatcherConfig> match_config);
  /* Replaces, pattern by pattern, each match that meets the requirements. Graphs inside of nodes are not searched. */
  Status Run(GraphPtr &graph, CustomPassContext &pass_context) override;

 protected:
  virtual std::vector<PatternUniqPtr> Patterns() = 0;
  /* Returns whether a match is replaced. */
  virtual bool MeetRequirements(const std::unique_ptr<MatchResult> &match_result);
  /* Returns a graph with the inputs and outputs of the pattern. Null fails the pass. */
  virtual GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &match_result) = 0;

 private:
  std::unique_ptr<PatternMatcherConfig> match_config_;
};

/* A pass whose functions find options in the context, and explain failures there. */
class PatternFusionPassV2 : public FusionBasePass {
 public:
  PatternFusionPassV2();
  explicit PatternFusionPassV2(std::unique_ptr<PatternMatcherConfig> match_config);
  Status Run(GraphPtr &graph, CustomPassContext &pass_context) override;

 protected:
  virtual std::vector<PatternUniqPtr> Patterns() = 0;
  virtual bool MeetRequirements(const std::unique_ptr<MatchResult> &match_result, CustomPassContext &pass_context);
  virtual GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &match_result, CustomPassContext &pass_context) = 0;

 private:
  std::unique_ptr<PatternMatcherConfig> match_config_;
};

}  // namespace fusion
}  // namespace ge

#endif
