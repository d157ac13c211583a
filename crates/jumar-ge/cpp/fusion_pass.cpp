/* Passes that replace what matches a pattern, or nodes of a type. */
#include <algorithm>
#include <string>
#include <utility>

#include "access.h"
#include "fusion.h"

namespace ge {
namespace jumar {
namespace {

/* Replaces a part of a graph by what the program returned for it. */
Status Put(const fusion::SubgraphBoundary &boundary, const fusion::GraphUniqPtr &replacement, const std::string &what,
           CustomPassContext &context) {
  if (replacement != nullptr) {
    return fusion::SubgraphRewriter::Replace(boundary, *replacement, context);
  }
  const std::string before = context.GetErrorMessage().GetString();
  const std::string text = "Replacement returned null for " + what + (before.empty() ? "" : ": ") + before;
  context.SetErrorMessage(text.c_str());
  return FAILED;
}

template <typename Meets, typename Replace>
Status RunPatterns(const GraphPtr &graph, CustomPassContext &context, const fusion::PatternMatcherConfig &config,
                   std::vector<fusion::PatternUniqPtr> patterns, const Meets &meets, const Replace &replace) {
  for (fusion::PatternUniqPtr &pattern : patterns) {
    std::unique_ptr<fusion::PatternMatcherConfig> own(new fusion::PatternMatcherConfig(config));
    fusion::PatternMatcher matcher(std::move(pattern), graph, std::move(own));
    if (Access::StatusOf(matcher) != SUCCESS) {
      return Explain(FAILED, context);
    }
    while (std::unique_ptr<fusion::MatchResult> match = matcher.MatchNext()) {
      AscendString reason;
      /* A match whose replacement could wait for itself is left as it is. */
      if (!meets(match) || !fusion::GraphFuseInspectorUtils::CanFuse(match->GetMatchedNodes(), reason)) {
        continue;
      }
      const std::string what = std::string("the match of ") + match->ToAscendString().GetString();
      const std::unique_ptr<fusion::SubgraphBoundary> boundary = match->ToSubgraphBoundary();
      if (boundary == nullptr) {
        return Explain(FAILED, context);
      }
      const Status status = Put(*boundary, replace(match), what, context);
      if (status != SUCCESS) {
        return status;
      }
    }
  }
  return SUCCESS;
}

template <typename Meets, typename Replace>
Status RunNodes(const GraphPtr &graph, CustomPassContext &context, const std::vector<AscendString> &types,
                const Meets &meets, const Replace &replace) {
  for (const GNode &node : graph->GetDirectNode()) {
    AscendString type, name;
    if (node.GetType(type) != GRAPH_SUCCESS || node.GetName(name) != GRAPH_SUCCESS ||
        std::find(types.begin(), types.end(), type) == types.end() || !meets(node)) {
      continue;
    }
    const std::string what = std::string("node ") + name.GetString() + " (" + type.GetString() + ")";
    const Status status = Put(BoundaryOf(node), replace(node), what, context);
    if (status != SUCCESS) {
      return status;
    }
  }
  return SUCCESS;
}

Status Present(const GraphPtr &graph, CustomPassContext &context) {
  return graph != nullptr ? SUCCESS : Explain(Fail("the graph of a pass is null"), context);
}

}  // namespace

Status Explain(Status status, CustomPassContext &context) {
  Reply reply;
  if (status != SUCCESS && Call(CallId::kGeLastError, Message(), reply) == SUCCESS) {
    context.SetErrorMessage(reply.Text());
  }
  return status;
}

}  // namespace jumar

namespace fusion {

PatternFusionPass::PatternFusionPass() : match_config_(new PatternMatcherConfig()) {}
PatternFusionPass::PatternFusionPass(std::unique_ptr<PatternMatcherConfig> match_config)
    : match_config_(match_config == nullptr ? std::unique_ptr<PatternMatcherConfig>(new PatternMatcherConfig())
                                            : std::move(match_config)) {}
Status PatternFusionPass::Run(GraphPtr &graph, CustomPassContext &pass_context) {
  if (jumar::Present(graph, pass_context) != SUCCESS) {
    return FAILED;
  }
  return jumar::RunPatterns(
      graph, pass_context, *match_config_, Patterns(),
      [this](const std::unique_ptr<MatchResult> &match) { return MeetRequirements(match); },
      [this](const std::unique_ptr<MatchResult> &match) { return Replacement(match); });
}
bool PatternFusionPass::MeetRequirements(const std::unique_ptr<MatchResult> &) { return true; }

PatternFusionPassV2::PatternFusionPassV2() : match_config_(new PatternMatcherConfig()) {}
PatternFusionPassV2::PatternFusionPassV2(std::unique_ptr<PatternMatcherConfig> match_config)
    : match_config_(match_config == nullptr ? std::unique_ptr<PatternMatcherConfig>(new PatternMatcherConfig())
                                            : std::move(match_config)) {}
Status PatternFusionPassV2::Run(GraphPtr &graph, CustomPassContext &pass_context) {
  if (jumar::Present(graph, pass_context) != SUCCESS) {
    return FAILED;
  }
  return jumar::RunPatterns(
      graph, pass_context, *match_config_, Patterns(),
      [&](const std::unique_ptr<MatchResult> &match) { return MeetRequirements(match, pass_context); },
      [&](const std::unique_ptr<MatchResult> &match) { return Replacement(match, pass_context); });
}
bool PatternFusionPassV2::MeetRequirements(const std::unique_ptr<MatchResult> &, CustomPassContext &) { return true; }

DecomposePass::DecomposePass(const std::vector<AscendString> &op_types) : op_types_(op_types) {}
Status DecomposePass::Run(GraphPtr &graph, CustomPassContext &pass_context) {
  if (jumar::Present(graph, pass_context) != SUCCESS) {
    return FAILED;
  }
  return jumar::RunNodes(
      graph, pass_context, op_types_, [this](const GNode &node) { return MeetRequirements(node); },
      [this](const GNode &node) { return Replacement(node); });
}
bool DecomposePass::MeetRequirements(const GNode &) { return true; }

DecomposePassV2::DecomposePassV2(const std::vector<AscendString> &op_types) : op_types_(op_types) {}
Status DecomposePassV2::Run(GraphPtr &graph, CustomPassContext &pass_context) {
  if (jumar::Present(graph, pass_context) != SUCCESS) {
    return FAILED;
  }
  return jumar::RunNodes(
      graph, pass_context, op_types_, [&](const GNode &node) { return MeetRequirements(node, pass_context); },
      [&](const GNode &node) { return Replacement(node, pass_context); });
}
bool DecomposePassV2::MeetRequirements(const GNode &, CustomPassContext &) { return true; }

}  // namespace fusion
}  // namespace ge
