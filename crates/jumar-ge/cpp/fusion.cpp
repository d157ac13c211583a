/* Patterns, their matches, and parts of graphs that are replaced. */
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "access.h"
#include "fusion.h"

namespace ge {
namespace fusion {

using jumar::About;
using jumar::Access;
using jumar::Call;
using jumar::CallId;
using jumar::Message;
using jumar::Reply;

namespace {

Status Refuse(const std::string &text) { return jumar::Fail(text.c_str()); }

std::string Named(const GNode &node) {
  AscendString name, type;
  (void)node.GetName(name);
  (void)node.GetType(type);
  return std::string(name.GetString()) + " (" + type.GetString() + ")";
}

/* Objects by their indexes, which start at 0 and have no gap. */
template <typename T>
Status Insert(std::map<int64_t, T> &list, int64_t index, const T &object, const char *what) {
  if (index < 0 || !list.insert(std::make_pair(index, object)).second) {
    return Refuse(std::string(what) + " " + std::to_string(index) + " of a subgraph boundary" +
                  (index < 0 ? ": an index is at least 0" : " exists already"));
  }
  return SUCCESS;
}
template <typename T>
Status Find(const std::map<int64_t, T> &list, int64_t index, T &object) {
  const auto found = list.find(index);
  if (found == list.end()) {
    return FAILED;
  }
  object = found->second;
  return SUCCESS;
}
template <typename T>
Status All(const std::map<int64_t, T> &list, std::vector<T> &all, const char *what) {
  all.clear();
  for (const auto &entry : list) {
    if (entry.first != static_cast<int64_t>(all.size())) {
      return Refuse(std::string("a subgraph boundary has ") + std::to_string(list.size()) + " " + what + ", and number " +
                    std::to_string(all.size()) + " is missing; number them from 0 without gaps");
    }
    all.push_back(entry.second);
  }
  return SUCCESS;
}

void Write(Message &to, const std::vector<NodeIo> &list) {
  to.U64(list.size());
  for (const NodeIo &io : list) {
    to.U64(Access::Id(io.node)).U64(static_cast<uint64_t>(io.index));
  }
}

}  // namespace

struct SubgraphInput::Impl {
  std::vector<NodeIo> inputs;
};
SubgraphInput::SubgraphInput() : impl_(new Impl()) {}
SubgraphInput::SubgraphInput(std::vector<NodeIo> node_inputs) : impl_(new Impl{std::move(node_inputs)}) {}
SubgraphInput::~SubgraphInput() = default;
SubgraphInput::SubgraphInput(const SubgraphInput &other) noexcept : impl_(new Impl(*other.impl_)) {}
SubgraphInput &SubgraphInput::operator=(SubgraphInput &&other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
SubgraphInput &SubgraphInput::operator=(const SubgraphInput &other) noexcept {
  *impl_ = Impl(*other.impl_);
  return *this;
}
Status SubgraphInput::AddInput(const NodeIo &node_input) {
  impl_->inputs.push_back(node_input);
  return SUCCESS;
}
std::vector<NodeIo> SubgraphInput::GetAllInputs() const { return impl_->inputs; }

struct SubgraphOutput::Impl {
  bool set = false;
  NodeIo output = {GNode(), 0};
};
SubgraphOutput::SubgraphOutput() : impl_(new Impl()) {}
SubgraphOutput::SubgraphOutput(const NodeIo &node_output) : impl_(new Impl()) { (void)SetOutput(node_output); }
SubgraphOutput::~SubgraphOutput() = default;
SubgraphOutput::SubgraphOutput(const SubgraphOutput &other) noexcept : impl_(new Impl(*other.impl_)) {}
SubgraphOutput &SubgraphOutput::operator=(SubgraphOutput &&other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
SubgraphOutput &SubgraphOutput::operator=(const SubgraphOutput &other) noexcept {
  *impl_ = Impl(*other.impl_);
  return *this;
}
Status SubgraphOutput::SetOutput(const NodeIo &node_output) {
  impl_->output = node_output;
  impl_->set = true;
  return SUCCESS;
}
Status SubgraphOutput::GetOutput(NodeIo &node_output) const {
  node_output = impl_->output;
  return impl_->set ? SUCCESS : FAILED;
}

struct SubgraphBoundary::Impl {
  std::map<int64_t, SubgraphInput> inputs;
  std::map<int64_t, SubgraphOutput> outputs;
};
SubgraphBoundary::SubgraphBoundary() : impl_(new Impl()) {}
SubgraphBoundary::SubgraphBoundary(std::vector<SubgraphInput> inputs, std::vector<SubgraphOutput> outputs)
    : impl_(new Impl()) {
  for (const SubgraphInput &input : inputs) {
    (void)AddInput(static_cast<int64_t>(impl_->inputs.size()), input);
  }
  for (const SubgraphOutput &output : outputs) {
    (void)AddOutput(static_cast<int64_t>(impl_->outputs.size()), output);
  }
}
SubgraphBoundary::~SubgraphBoundary() = default;
SubgraphBoundary::SubgraphBoundary(const SubgraphBoundary &other) noexcept : impl_(new Impl(*other.impl_)) {}
SubgraphBoundary &SubgraphBoundary::operator=(SubgraphBoundary &&other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
SubgraphBoundary &SubgraphBoundary::operator=(const SubgraphBoundary &other) noexcept {
  *impl_ = Impl(*other.impl_);
  return *this;
}
Status SubgraphBoundary::AddInput(int64_t index, SubgraphInput input) {
  return Insert(impl_->inputs, index, input, "input");
}
Status SubgraphBoundary::AddOutput(int64_t index, SubgraphOutput output) {
  return Insert(impl_->outputs, index, output, "output");
}
Status SubgraphBoundary::GetInput(int64_t index, SubgraphInput &subgraph_input) const {
  return Find(impl_->inputs, index, subgraph_input);
}
Status SubgraphBoundary::GetAllInputs(std::vector<SubgraphInput> &subgraph_input) const {
  return All(impl_->inputs, subgraph_input, "inputs");
}
Status SubgraphBoundary::GetOutput(int64_t index, SubgraphOutput &subgraph_output) const {
  return Find(impl_->outputs, index, subgraph_output);
}
Status SubgraphBoundary::GetAllOutputs(std::vector<SubgraphOutput> &subgraph_outputs) const {
  return All(impl_->outputs, subgraph_outputs, "outputs");
}

/* Matches keep what they need of their pattern. */
struct Pattern::Impl {
  std::shared_ptr<jumar::PatternData> data;
};
Pattern::Pattern(Graph &&pattern_graph)
    : impl_(new Impl{std::make_shared<jumar::PatternData>(jumar::PatternData{std::move(pattern_graph), {}})}) {}
Pattern::~Pattern() = default;
const Graph &Pattern::GetGraph() const { return impl_->data->graph; }
Pattern &Pattern::CaptureTensor(const NodeIo &node_output) {
  impl_->data->captured.push_back(node_output);
  return *this;
}
Status Pattern::GetCapturedTensors(std::vector<NodeIo> &node_outputs) const {
  node_outputs = impl_->data->captured;
  return SUCCESS;
}

struct PatternMatcherConfig::Impl {
  bool constants = false;
  bool attributes = false;
};
PatternMatcherConfig::PatternMatcherConfig() : impl_(new Impl()) {}
PatternMatcherConfig::~PatternMatcherConfig() = default;
PatternMatcherConfig::PatternMatcherConfig(const PatternMatcherConfig &other) : impl_(new Impl(*other.impl_)) {}
PatternMatcherConfig &PatternMatcherConfig::operator=(const PatternMatcherConfig &other) {
  *impl_ = Impl(*other.impl_);
  return *this;
}
PatternMatcherConfig::PatternMatcherConfig(PatternMatcherConfig &&other) noexcept : impl_(new Impl()) {
  std::swap(impl_, other.impl_);
}
PatternMatcherConfig &PatternMatcherConfig::operator=(PatternMatcherConfig &&other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
bool PatternMatcherConfig::IsEnableConstValueMatch() const { return impl_->constants; }
bool PatternMatcherConfig::IsEnableIrAttrMatch() const { return impl_->attributes; }

PatternMatcherConfigBuilder::PatternMatcherConfigBuilder() : config_(new PatternMatcherConfig()) {}
PatternMatcherConfigBuilder::~PatternMatcherConfigBuilder() = default;
PatternMatcherConfigBuilder &PatternMatcherConfigBuilder::EnableConstValueMatch() {
  config_->impl_->constants = true;
  return *this;
}
PatternMatcherConfigBuilder &PatternMatcherConfigBuilder::EnableIrAttrMatch() {
  config_->impl_->attributes = true;
  return *this;
}
std::unique_ptr<PatternMatcherConfig> PatternMatcherConfigBuilder::Build() const {
  return std::unique_ptr<PatternMatcherConfig>(new PatternMatcherConfig(*config_));
}

struct MatchResult::Impl {
  /* Finds what was paired with an output of a node of the pattern; another output of a node inside is of the same node. */
  bool Matched(const NodeIo &own, NodeIo &matched) const {
    for (const auto &pair : pairs) {
      if (Access::Id(pair.first.node) != Access::Id(own.node)) {
        continue;
      }
      AscendString type;
      (void)own.node.GetType(type);
      if (pair.first.index == own.index || type != "Data") {
        matched = {pair.second.node, type == "Data" ? pair.second.index : own.index};
        return true;
      }
    }
    return false;
  }
  bool IsInside(const NodeIo &own) const {
    AscendString type;
    (void)own.node.GetType(type);
    return type != "Data";
  }

  std::shared_ptr<jumar::PatternData> pattern;
  std::vector<std::pair<NodeIo, NodeIo>> pairs;
};
MatchResult::MatchResult(const Pattern *pattern) : impl_(new Impl{Access::Data(pattern), {}}) {}
MatchResult::~MatchResult() = default;
MatchResult::MatchResult(const MatchResult &other) noexcept : impl_(new Impl(*other.impl_)) {}
MatchResult::MatchResult(MatchResult &&other) noexcept : impl_(new Impl(*other.impl_)) {}
MatchResult &MatchResult::operator=(const MatchResult &other) noexcept {
  *impl_ = Impl(*other.impl_);
  return *this;
}
MatchResult &MatchResult::operator=(MatchResult &&other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
Status MatchResult::AppendNodeMatchPair(const NodeIo &pattern_node_out, const NodeIo &matched_node_out) {
  impl_->pairs.emplace_back(pattern_node_out, matched_node_out);
  return SUCCESS;
}
Status MatchResult::GetMatchedNode(const GNode &pattern_node, GNode &matched_node) const {
  NodeIo matched = {GNode(), 0};
  if (!impl_->Matched({pattern_node, 0}, matched)) {
    return Refuse("no node is matched with " + Named(pattern_node) + ", which is not a node of the pattern of the match");
  }
  matched_node = matched.node;
  return SUCCESS;
}
std::vector<GNode> MatchResult::GetMatchedNodes() const {
  std::vector<GNode> nodes;
  std::vector<uint64_t> known;
  for (const auto &pair : impl_->pairs) {
    const uint64_t id = Access::Id(pair.second.node);
    if (impl_->IsInside(pair.first) && std::find(known.begin(), known.end(), id) == known.end()) {
      known.push_back(id);
      nodes.push_back(pair.second.node);
    }
  }
  return nodes;
}
Status MatchResult::GetCapturedTensor(size_t capture_idx, NodeIo &node_output) const {
  const std::vector<NodeIo> &captured = impl_->pattern->captured;
  if (capture_idx >= captured.size()) {
    return Refuse("captured tensor " + std::to_string(capture_idx) + " was asked for, and the pattern captures " +
                  std::to_string(captured.size()));
  }
  if (!impl_->Matched(captured[capture_idx], node_output)) {
    return Refuse("captured tensor " + std::to_string(capture_idx) + " is one of " + Named(captured[capture_idx].node) +
                  ", which is not a node of the pattern");
  }
  return SUCCESS;
}
const Graph &MatchResult::GetPatternGraph() const { return impl_->pattern->graph; }
std::unique_ptr<SubgraphBoundary> MatchResult::ToSubgraphBoundary() const {
  Reply reply;
  if (Call(CallId::kFusionOutline, About(impl_->pattern->graph), reply) != SUCCESS) {
    return nullptr;
  }
  std::map<uint64_t, GNode> nodes;
  for (const auto &pair : impl_->pairs) {
    nodes[Access::Id(pair.first.node)] = pair.second.node;
  }
  bool whole = true;
  const auto read = [&]() {
    const auto found = nodes.find(reply.U64());
    whole = whole && found != nodes.end();
    const int64_t index = reply.Int();
    return NodeIo{found == nodes.end() ? GNode() : found->second, index};
  };
  std::unique_ptr<SubgraphBoundary> boundary(new SubgraphBoundary());
  const uint64_t inputs = reply.U64();
  for (uint64_t index = 0; index < inputs; ++index) {
    SubgraphInput input;
    for (uint64_t left = reply.U64(); left > 0; --left) {
      (void)input.AddInput(read());
    }
    (void)boundary->AddInput(static_cast<int64_t>(index), input);
  }
  const uint64_t outputs = reply.U64();
  for (uint64_t index = 0; index < outputs; ++index) {
    (void)boundary->AddOutput(static_cast<int64_t>(index), SubgraphOutput(read()));
  }
  if (!whole) {
    (void)Refuse("the match has no boundary: a node of the pattern is matched with no node");
    return nullptr;
  }
  return boundary;
}
AscendString MatchResult::ToAscendString() const {
  AscendString name;
  (void)impl_->pattern->graph.GetName(name);
  std::string text = std::string("pattern ") + name.GetString() + ":";
  for (const auto &pair : impl_->pairs) {
    if (impl_->IsInside(pair.first)) {
      text += " " + Named(pair.first.node) + " = " + Named(pair.second.node);
    }
  }
  return AscendString(text.c_str());
}

struct PatternMatcher::Impl {
  std::unique_ptr<Pattern> pattern;
  GraphPtr target;
  bool constants;
  bool attributes;
  Status status;
  /* The nodes that the first output may match, the next of them, and how many of its matches were returned. */
  std::vector<uint64_t> candidates;
  size_t next = 0;
  uint64_t returned = 0;
};
PatternMatcher::PatternMatcher(std::unique_ptr<Pattern> pattern, const GraphPtr &target_graph)
    : PatternMatcher(std::move(pattern), target_graph, nullptr) {}
PatternMatcher::PatternMatcher(std::unique_ptr<Pattern> pattern, const GraphPtr &target_graph,
                               std::unique_ptr<PatternMatcherConfig> matcher_config)
    : impl_(new Impl()) {
  impl_->pattern = std::move(pattern);
  impl_->target = target_graph;
  impl_->constants = matcher_config != nullptr && matcher_config->IsEnableConstValueMatch();
  impl_->attributes = matcher_config != nullptr && matcher_config->IsEnableIrAttrMatch();
  if (impl_->pattern == nullptr || impl_->target == nullptr) {
    impl_->status = Refuse(impl_->pattern == nullptr ? "a pattern is null" : "the graph to search for a pattern is null");
    return;
  }
  Reply reply;
  impl_->status = Call(CallId::kFusionCandidates, About(impl_->pattern->GetGraph()).U64(Access::Id(*impl_->target)), reply);
  for (uint64_t left = impl_->status == SUCCESS ? reply.U64() : 0; left > 0; --left) {
    impl_->candidates.push_back(reply.U64());
  }
}
PatternMatcher::~PatternMatcher() = default;
std::unique_ptr<MatchResult> PatternMatcher::MatchNext() {
  while (impl_->next < impl_->candidates.size()) {
    Reply reply;
    const Status status = Call(CallId::kFusionFind,
                               About(impl_->pattern->GetGraph())
                                   .U64(Access::Id(*impl_->target))
                                   .U64(impl_->constants ? 1 : 0)
                                   .U64(impl_->attributes ? 1 : 0)
                                   .U64(impl_->candidates[impl_->next])
                                   .U64(impl_->returned),
                               reply);
    if (status != SUCCESS || reply.U64() == 0) {
      impl_->next += 1;
      impl_->returned = 0;
      continue;
    }
    impl_->returned += 1;
    std::unique_ptr<MatchResult> match(new MatchResult(impl_->pattern.get()));
    for (uint64_t left = reply.U64(); left > 0; --left) {
      const GNode node = Access::NodeOf(reply.U64());
      (void)match->AppendNodeMatchPair({node, 0}, {Access::NodeOf(reply.U64()), 0});
    }
    for (uint64_t left = reply.U64(); left > 0; --left) {
      const GNode node = Access::NodeOf(reply.U64());
      const GNode producer = Access::NodeOf(reply.U64());
      (void)match->AppendNodeMatchPair({node, 0}, {producer, reply.Int()});
    }
    return match;
  }
  return nullptr;
}

Status SubgraphRewriter::Replace(const SubgraphBoundary &subgraph, const Graph &replacement) {
  std::vector<SubgraphInput> inputs;
  std::vector<SubgraphOutput> outputs;
  if (subgraph.GetAllInputs(inputs) != SUCCESS || subgraph.GetAllOutputs(outputs) != SUCCESS) {
    return FAILED;
  }
  Message message;
  message.U64(inputs.size());
  for (const SubgraphInput &input : inputs) {
    Write(message, input.GetAllInputs());
  }
  std::vector<NodeIo> ends;
  for (const SubgraphOutput &output : outputs) {
    NodeIo end = {GNode(), 0};
    if (output.GetOutput(end) != SUCCESS) {
      return Refuse("output " + std::to_string(ends.size()) + " of a subgraph boundary has no output of a node; set one by SetOutput");
    }
    ends.push_back(end);
  }
  Write(message, ends);
  return Call(CallId::kFusionReplace, message.U64(Access::Id(replacement)));
}
Status SubgraphRewriter::Replace(const SubgraphBoundary &subgraph, Graph &&replacement) {
  return Replace(subgraph, static_cast<const Graph &>(replacement));
}
Status SubgraphRewriter::Replace(const SubgraphBoundary &subgraph, const Graph &replacement, CustomPassContext &ctx) {
  return jumar::Explain(Replace(subgraph, replacement), ctx);
}
Status SubgraphRewriter::Replace(const SubgraphBoundary &subgraph, Graph &&replacement, CustomPassContext &ctx) {
  return Replace(subgraph, static_cast<const Graph &>(replacement), ctx);
}

Status InferShapeUtil::InferShape(const Graph &replacement_graph, const SubgraphBoundary &subgraph_boundary) {
  std::vector<SubgraphInput> inputs;
  if (subgraph_boundary.GetAllInputs(inputs) != SUCCESS) {
    return FAILED;
  }
  std::vector<NodeIo> reads;
  for (const SubgraphInput &input : inputs) {
    const std::vector<NodeIo> all = input.GetAllInputs();
    if (all.empty()) {
      return Refuse("input " + std::to_string(reads.size()) + " of a subgraph boundary has no input of a node; add one by AddInput");
    }
    reads.push_back(all[0]);
  }
  Message message = About(replacement_graph);
  Write(message, reads);
  return Call(CallId::kFusionInfer, message);
}
Status InferShapeUtil::InferShape(const Graph &replacement_graph, const MatchResult &match_result) {
  const std::unique_ptr<SubgraphBoundary> boundary = match_result.ToSubgraphBoundary();
  return boundary == nullptr ? FAILED : InferShape(replacement_graph, *boundary);
}
Status InferShapeUtil::InferShape(const Graph &replacement_graph, const GNode &matched_node) {
  return InferShape(replacement_graph, jumar::BoundaryOf(matched_node));
}

bool GraphFuseInspectorUtils::CanFuse(const std::vector<GNode> &nodes_before_fuse, AscendString &failed_reason) {
  Message message;
  message.U64(nodes_before_fuse.size());
  for (const GNode &node : nodes_before_fuse) {
    message.U64(Access::Id(node));
  }
  Reply reply;
  if (nodes_before_fuse.empty() || Call(CallId::kFusionCircle, message, reply) != SUCCESS) {
    failed_reason = nodes_before_fuse.empty() ? "there is no node" : "one of the nodes is empty";
    return false;
  }
  if (reply.U64() == 0) {
    return true;
  }
  const std::string text = "a node in place of " + Named(nodes_before_fuse[0]) +
                           " and the others would wait for itself: another node runs between two of them";
  failed_reason = text.c_str();
  return false;
}
Status GraphFuseInspectorUtils::ReportFuse(const std::vector<GNode> &nodes_before_fuse, const std::vector<GNode> &,
                                           CustomPassContext &ctx) {
  return nodes_before_fuse.empty() ? jumar::Explain(Refuse("a fusion was reported without a node that was fused"), ctx) : SUCCESS;
}

}  // namespace fusion

namespace jumar {

std::shared_ptr<PatternData> Access::Data(const fusion::Pattern *pattern) {
  return pattern == nullptr ? std::make_shared<PatternData>() : pattern->impl_->data;
}
Status Access::StatusOf(const fusion::PatternMatcher &matcher) { return matcher.impl_->status; }

fusion::SubgraphBoundary BoundaryOf(const GNode &node) {
  fusion::SubgraphBoundary boundary;
  int64_t count = 0;
  for (size_t index = 0; index < node.GetInputsSize(); ++index) {
    if (node.GetInDataNodesAndPortIndexs(static_cast<int32_t>(index)).first != nullptr) {
      (void)boundary.AddInput(count++, fusion::SubgraphInput({{node, static_cast<int64_t>(index)}}));
    }
  }
  for (size_t index = 0; index < node.GetOutputsSize(); ++index) {
    (void)boundary.AddOutput(static_cast<int64_t>(index), fusion::SubgraphOutput({node, static_cast<int64_t>(index)}));
  }
  return boundary;
}

}  // namespace jumar
}  // namespace ge
