// Passes that replace what matches a pattern, nodes of a type, or a part with a boundary: values with and without them, and refusals.
#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include "es_all_ops.h"
#include "ge/fusion/graph_fuse_inspector_utils.h"
#include "ge/fusion/graph_rewriter.h"
#include "ge/fusion/infer_shape_util.h"
#include "ge/fusion/pass/decompose_pass.h"
#include "ge/fusion/pass/pattern_fusion_pass.h"
#include "ge/fusion/pattern_matcher.h"
#include "parser/onnx_parser.h"
#include "support.h"

namespace es = ge::es;
using ge::GNode;
using ge::fusion::GraphUniqPtr;
using ge::fusion::MatchResult;
using ge::fusion::NodeIo;
using ge::fusion::Pattern;
using ge::fusion::PatternMatcherConfigBuilder;
using ge::fusion::PatternUniqPtr;
using ge::fusion::SubgraphBoundary;
using ge::fusion::SubgraphInput;
using ge::fusion::SubgraphOutput;
using ge::fusion::SubgraphRewriter;

namespace {

// The passes that are to change something, and the names of nodes that they saw.
std::set<std::string> on;
std::vector<std::string> seen;

std::string TypeOf(const GNode &node) {
  ge::AscendString type;
  CHECK(node.GetType(type) == ge::GRAPH_SUCCESS);
  return type.GetString();
}
std::string NameOf(const GNode &node) {
  ge::AscendString name;
  CHECK(node.GetName(name) == ge::GRAPH_SUCCESS);
  return name.GetString();
}

// Counts the nodes of a type that the graph to build had at the end of its passes.
std::map<std::string, int> types;
class Counts : public ge::fusion::FusionBasePass {
 public:
  ge::Status Run(ge::GraphPtr &graph, ge::CustomPassContext &) override {
    types.clear();
    for (const GNode &node : graph->GetDirectNode()) {
      types[TypeOf(node)] += 1;
      seen.push_back(NameOf(node));
    }
    return ge::GRAPH_NOT_CHANGED;
  }
};
REG_FUSION_PASS(Counts).Stage(ge::CustomPassStage::kAfterOriginGraphOptimize);

// MatMul and Add become MatMulV2 with a bias. What was captured decides, and its attributes are those of the new node.
class Bias : public ge::fusion::PatternFusionPass {
 protected:
  std::vector<PatternUniqPtr> Patterns() override {
    es::EsGraphBuilder builder("bias_pattern");
    const auto inputs = builder.CreateInputs<3>();
    const es::EsTensorHolder product = es::MatMul(inputs[0], inputs[1]);
    const es::EsTensorHolder sum = es::Add(product, inputs[2]);
    PatternUniqPtr pattern(new Pattern(std::move(*builder.BuildAndReset({sum}))));
    pattern->CaptureTensor({*product.GetProducer(), 0}).CaptureTensor({*inputs[2].GetProducer(), 0});
    std::vector<NodeIo> captured;
    CHECK(pattern->GetCapturedTensors(captured) == ge::SUCCESS && captured.size() == 2);
    ge::AscendString name;
    CHECK(pattern->GetGraph().GetName(name) == ge::GRAPH_SUCCESS && name == "bias_pattern");
    std::vector<PatternUniqPtr> patterns;
    patterns.push_back(std::move(pattern));
    return patterns;
  }
  bool MeetRequirements(const std::unique_ptr<MatchResult> &match) override {
    NodeIo bias;
    CHECK(match->GetCapturedTensor(1, bias) == ge::SUCCESS);
    ge::TensorDesc desc;
    CHECK(bias.node.GetOutputDesc(static_cast<int32_t>(bias.index), desc) == ge::GRAPH_SUCCESS);
    return on.count("Bias") == 1 && desc.GetDataType() == ge::DT_FLOAT && desc.GetShape().GetDims().size() == 1;
  }
  GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &match) override {
    NodeIo product, none;
    CHECK(match->GetCapturedTensor(0, product) == ge::SUCCESS && TypeOf(product.node) == "MatMul");
    CHECK(match->GetCapturedTensor(2, none) != ge::SUCCESS && Contains(Error(), "the pattern captures 2"));
    CHECK(match->GetMatchedNodes().size() == 2);
    bool first = false, second = false;
    CHECK(product.node.GetAttr("transpose_x1", first) == ge::GRAPH_SUCCESS);
    CHECK(product.node.GetAttr("transpose_x2", second) == ge::GRAPH_SUCCESS);
    es::EsGraphBuilder builder("bias");
    const auto inputs = builder.CreateInputs<3>();
    return builder.BuildAndReset({es::MatMulV2(inputs[0], inputs[1], inputs[2], nullptr, first, second)});
  }
};
REG_FUSION_PASS(Bias).Stage(ge::CustomPassStage::kBeforeInferShape);

// x + 0 becomes x, where the constant is a scalar 0.
class Zero : public ge::fusion::PatternFusionPass {
 public:
  Zero() : PatternFusionPass(PatternMatcherConfigBuilder().EnableConstValueMatch().EnableIrAttrMatch().Build()) {}

 protected:
  std::vector<PatternUniqPtr> Patterns() override {
    es::EsGraphBuilder builder("zero_pattern");
    const es::EsTensorHolder sum = es::Add(builder.CreateInput(0), builder.CreateScalar(0.0f));
    std::vector<PatternUniqPtr> patterns;
    patterns.emplace_back(new Pattern(std::move(*builder.BuildAndReset({sum}))));
    return patterns;
  }
  GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &) override {
    es::EsGraphBuilder builder("same");
    return builder.BuildAndReset({builder.CreateInput(0)});
  }
  bool MeetRequirements(const std::unique_ptr<MatchResult> &) override { return on.count("Zero") == 1; }
};
REG_FUSION_PASS(Zero).Stage(ge::CustomPassStage::kBeforeInferShape);

// Tanh(x) becomes 2 * Sigmoid(2 * x) - 1. Shapes are known at the stage of the pass, and those of the replacement are inferred.
class Sigmoids : public ge::fusion::DecomposePassV2 {
 public:
  explicit Sigmoids(const std::vector<ge::AscendString> &types) : DecomposePassV2(types) {}

 protected:
  bool MeetRequirements(const GNode &node, ge::CustomPassContext &context) override {
    ge::AscendString mode;
    CHECK(context.GetOptionValue("ge.exec.precision_mode", mode) == ge::GRAPH_SUCCESS);
    ge::TensorDesc desc;
    CHECK(node.GetInputDesc(0, desc) == ge::GRAPH_SUCCESS);
    CHECK((desc.GetShape().GetDims() == std::vector<int64_t>{4, 2}));
    return on.count("Sigmoids") == 1;
  }
  GraphUniqPtr Replacement(const GNode &node, ge::CustomPassContext &) override {
    es::EsGraphBuilder builder("sigmoids");
    const es::EsTensorHolder two = builder.CreateScalar(2.0f);
    const es::EsTensorHolder y = es::Sigmoid(builder.CreateInput(0) * two) * two - builder.CreateScalar(1.0f);
    GraphUniqPtr graph = builder.BuildAndReset({y});
    CHECK(ge::fusion::InferShapeUtil::InferShape(*graph, node) == ge::SUCCESS);
    ge::TensorDesc desc;
    CHECK(y.GetProducer()->GetOutputDesc(0, desc) == ge::GRAPH_SUCCESS);
    CHECK((desc.GetShape().GetDims() == std::vector<int64_t>{4, 2}));
    return graph;
  }
};
REG_DECOMPOSE_PASS(Sigmoids, {"Tanh", "TanhV9"}).Stage(ge::CustomPassStage::kAfterInferShape);

// Relu(x) and Neg(x) of one tensor become Maximum(x, 0) and Mul(x, -1): a pattern with two outputs.
class Pair : public ge::fusion::PatternFusionPassV2 {
 protected:
  std::vector<PatternUniqPtr> Patterns() override {
    es::EsGraphBuilder builder("pair_pattern");
    const es::EsTensorHolder x = builder.CreateInput(0);
    std::vector<PatternUniqPtr> patterns;
    patterns.emplace_back(new Pattern(std::move(*builder.BuildAndReset({es::Relu(x), es::Neg(x)}))));
    return patterns;
  }
  bool MeetRequirements(const std::unique_ptr<MatchResult> &, ge::CustomPassContext &) override { return on.count("Pair") == 1; }
  GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &, ge::CustomPassContext &context) override {
    CHECK(context.GetPassName() == "Pair");
    es::EsGraphBuilder builder("pair");
    const es::EsTensorHolder x = builder.CreateInput(0);
    return builder.BuildAndReset({es::Maximum(x, builder.CreateScalar(0.0f)), x * builder.CreateScalar(-1.0f)});
  }
};
REG_FUSION_PASS(Pair).Stage(ge::CustomPassStage::kAfterBuiltinFusionPass);

// Relu of a ConcatV2 moves before it. The program finds the nodes, and names the part by its boundary.
class ReluFirst : public ge::fusion::FusionBasePass {
 public:
  ge::Status Run(ge::GraphPtr &graph, ge::CustomPassContext &context) override {
    for (const GNode &node : graph->GetDirectNode()) {
      if (TypeOf(node) != "ConcatV2" || on.count("ReluFirst") == 0) {
        continue;
      }
      const auto consumers = node.GetOutDataNodesAndPortIndexs(0);
      if (consumers.size() != 1 || TypeOf(*consumers[0].first) != "Relu") {
        continue;
      }
      ge::AscendString reason;
      CHECK(ge::fusion::GraphFuseInspectorUtils::CanFuse({node, *consumers[0].first}, reason));
      es::EsGraphBuilder builder("relu_first");
      SubgraphBoundary boundary;
      std::vector<es::EsTensorHolder> parts;
      const size_t count = node.GetInputsSize() - 1;
      for (size_t at = 0; at <= count; ++at) {
        SubgraphInput input;
        CHECK(input.AddInput({node, static_cast<int64_t>(at)}) == ge::SUCCESS && input.GetAllInputs().size() == 1);
        CHECK(boundary.AddInput(static_cast<int64_t>(at), input) == ge::SUCCESS);
        const es::EsTensorHolder x = builder.CreateInput(static_cast<int64_t>(at));
        parts.push_back(at < count ? static_cast<es::EsTensorHolder>(es::Relu(x)) : x);
      }
      const es::EsTensorHolder axis = parts.back();
      parts.pop_back();
      CHECK(boundary.AddOutput(0, SubgraphOutput({*consumers[0].first, 0})) == ge::SUCCESS);
      const GraphUniqPtr replacement = builder.BuildAndReset({es::ConcatV2(parts, axis, static_cast<int64_t>(count))});
      CHECK(SubgraphRewriter::Replace(boundary, *replacement, context) == ge::SUCCESS);
      CHECK(ge::fusion::GraphFuseInspectorUtils::ReportFuse({node}, {}, context) == ge::SUCCESS);
    }
    return ge::SUCCESS;
  }
};
REG_FUSION_PASS(ReluFirst).Stage(ge::CustomPassStage::kBeforeInferShape);

// This stage is for passes that assign streams: a pass that is a class does not run there.
class Never : public ge::fusion::FusionBasePass {
 public:
  ge::Status Run(ge::GraphPtr &, ge::CustomPassContext &) override { std::abort(); }
};
REG_FUSION_PASS(Never).Stage(ge::CustomPassStage::kAfterAssignLogicStream);

const Options kOptions = {{"ge.exec.precision_mode", "must_keep_origin_dtype"}};

// Relu(Concat(Tanh(x w + b) + 0, x w2 + matrix)), and Relu and Neg of that. The matrix has two dimensions, so that it cannot be a bias; b is used twice.
ge::Graph Net(const std::vector<float> &numbers) {
  const auto take = [&numbers](size_t from, size_t count) {
    return std::vector<float>(numbers.begin() + static_cast<long>(from), numbers.begin() + static_cast<long>(from + count));
  };
  es::EsGraphBuilder builder("net");
  const es::EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {4, 3});
  const es::EsTensorHolder w = builder.CreateConst(take(0, 6), {2, 3}), b = builder.CreateVector(take(6, 2));
  const es::EsTensorHolder w2 = builder.CreateConst(take(8, 6), {3, 2}), m = builder.CreateConst(take(14, 8), {4, 2});
  const es::EsTensorHolder left = es::Tanh(es::Add(es::MatMul(x, w, nullptr, false, true), b)) + builder.CreateScalar(0.0f);
  const es::EsTensorHolder right = es::Add(es::MatMul(x, w2), m) + builder.CreateScalar(0.5f);
  const es::EsTensorHolder all = es::Relu(es::ConcatV2({left, right - b}, builder.CreateScalar(1), 2)) - builder.CreateScalar(0.25f);
  return *builder.BuildAndReset({es::Relu(all), es::Neg(all), left});
}

std::vector<float> Run(const ge::Graph &graph, const std::vector<ge::Tensor> &inputs) {
  ge::Session session(kOptions);
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS && session.RunGraph(1, inputs, outputs) == ge::SUCCESS);
  std::vector<float> all;
  for (const ge::Tensor &output : outputs) {
    const std::vector<float> own = Values<float>(output);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

// Writes the outputs without and with the passes, for the comparison with NumPy.
void Values() {
  const std::vector<char> bytes = ReadFile("numbers.bin");
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  const std::vector<ge::Tensor> x = {Floats({4, 3}, std::vector<float>(numbers.begin() + 22, numbers.begin() + 34))};
  const ge::Graph net = Net(numbers);
  const std::vector<float> without = Run(net, x);
  CHECK(types["MatMul"] == 2 && types["MatMulV2"] == 0 && types["Tanh"] == 1 && types["Relu"] == 2 && types["Neg"] == 1);
  on = {"Bias", "Zero", "Sigmoids", "Pair", "ReluFirst"};
  seen.clear();
  const std::vector<float> with = Run(net, x);
  CHECK(types["MatMul"] == 1 && types["MatMulV2"] == 1 && types["Tanh"] == 0 && types["Sigmoid"] == 1);
  CHECK(types["Relu"] == 2 && types["Maximum"] == 1 && types["Neg"] == 0);
  // Two of four additions are left: the one of a matrix and the one of 0.5.
  CHECK(types["Add"] == 2);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == seen.size());
  WriteFile("without.bin", without.data(), without.size() * sizeof(float));
  WriteFile("with.bin", with.data(), with.size() * sizeof(float));
  // The graph of the program is as it was.
  std::vector<ge::Operator> found;
  CHECK(net.FindOpByType("MatMul", found) == ge::GRAPH_SUCCESS && found.size() == 2);
  on.clear();
}

// A pass of a test: its pattern and its replacement are functions of the test.
std::function<std::vector<PatternUniqPtr>()> patterns_of_test;
std::function<GraphUniqPtr(const std::unique_ptr<MatchResult> &, ge::CustomPassContext &)> replacement_of_test;
class OfTest : public ge::fusion::PatternFusionPassV2 {
 protected:
  std::vector<PatternUniqPtr> Patterns() override { return patterns_of_test(); }
  GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &match, ge::CustomPassContext &context) override {
    return replacement_of_test(match, context);
  }
};

typedef std::vector<es::EsTensorHolder> Tensors;
// A pattern or a replacement of so many inputs.
GraphUniqPtr Small(const char *name, int64_t inputs, const std::function<Tensors(es::EsGraphBuilder &, const Tensors &)> &outputs) {
  es::EsGraphBuilder builder(name);
  Tensors all;
  for (int64_t at = 0; at < inputs; ++at) {
    all.push_back(builder.CreateInput(at));
  }
  return builder.BuildAndReset(outputs(builder, all));
}
std::vector<PatternUniqPtr> One(GraphUniqPtr graph) {
  std::vector<PatternUniqPtr> patterns;
  patterns.emplace_back(graph == nullptr ? nullptr : new Pattern(std::move(*graph)));
  return patterns;
}

// Relu(x), Neg(Relu(x)).
ge::Graph Line(const char *name) {
  es::EsGraphBuilder builder(name);
  const es::EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  return *builder.BuildAndReset({es::Neg(es::Relu(x))});
}

std::string Refused(const ge::Graph &graph) {
  ge::fusion::FusionPassRegistrationData data("OfTest");
  data.CreatePassFn([]() -> ge::fusion::FusionBasePass * { return new OfTest(); }).Stage(ge::CustomPassStage::kBeforeInferShape);
  CHECK(data.GetPassName() == "OfTest" && data.GetStage() == ge::CustomPassStage::kBeforeInferShape);
  CHECK(data.GetCreatePassFn() != nullptr && Contains(data.ToString().GetString(), "OfTest"));
  const ge::fusion::PassRegistrar registrar(data);
  ge::Session session(kOptions);
  (void)Error();
  const ge::Status status = session.AddGraph(1, graph);
  const std::string text = Error();
  CHECK((status == ge::SUCCESS) == text.empty());
  CHECK(text.empty() || Contains(text, "the pass OfTest of the program failed"));
  return text;
}

void AFailureOfAPassFailsTheBuildAndSaysWhy() {
  const auto relu = [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{es::Relu(x[0])}; };
  patterns_of_test = [] {
    return One(Small("apart", 2, [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{es::Relu(x[0]), es::Neg(x[1])}; }));
  };
  CHECK(Contains(Refused(Line("net")), "pattern apart: its nodes Relu_0 and Neg_0 are not connected"));
  patterns_of_test = [] { return One(nullptr); };
  CHECK(Contains(Refused(Line("net")), "a pattern is null"));
  patterns_of_test = [] {
    return One(Small("dynamic", 2, [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{es::ConcatD({x[0], x[1]}, 0, 2)}; }));
  };
  CHECK(Contains(Refused(Line("net")), "ConcatD_0 (ConcatD) has a dynamic number of inputs"));

  patterns_of_test = [relu] { return One(Small("relu", 1, relu)); };
  replacement_of_test = [](const std::unique_ptr<MatchResult> &, ge::CustomPassContext &context) {
    context.SetErrorMessage("no fit");
    return GraphUniqPtr();
  };
  CHECK(Contains(Refused(Line("net")), "Replacement returned null for the match of pattern relu: Relu_0 (Relu) = Relu_0 (Relu): no fit"));
  replacement_of_test = [](const std::unique_ptr<MatchResult> &, ge::CustomPassContext &) -> GraphUniqPtr {
    throw std::runtime_error("thrown");
  };
  CHECK(Contains(Refused(Line("net")), "it threw an exception: thrown"));
  replacement_of_test = [](const std::unique_ptr<MatchResult> &, ge::CustomPassContext &) {
    return Small("two", 2, [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{x[0] + x[1]}; });
  };
  CHECK(Contains(Refused(Line("net")), "the replacement two has 2 inputs, and the part of graph net that it replaces has 1"));
  replacement_of_test = [](const std::unique_ptr<MatchResult> &, ge::CustomPassContext &) {
    return Small("both", 1, [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{es::Relu(x[0]), es::Neg(x[0])}; });
  };
  CHECK(Contains(Refused(Line("net")), "the replacement both has 2 outputs, and the part of graph net that it replaces has 1"));
  // The new node has the pattern's type, and is not replaced again.
  replacement_of_test = [relu](const std::unique_ptr<MatchResult> &, ge::CustomPassContext &) { return Small("again", 1, relu); };
  seen.clear();
  CHECK(Refused(Line("net")).empty() && types["Relu"] == 1);
  CHECK(std::find(seen.begin(), seen.end(), "again_1/Relu_0") != seen.end());
}

// p -> outside -> q: one node for p and q would wait for itself, so that the match is left alone.
void AMatchWithANodeInBetweenIsLeftAlone() {
  patterns_of_test = [] {
    return One(Small("ends", 2, [](es::EsGraphBuilder &, const Tensors &x) {
      const es::EsTensorHolder p = es::Relu(x[0]);
      return Tensors{p, es::Add(p, x[1])};
    }));
  };
  int asked = 0;
  replacement_of_test = [&asked](const std::unique_ptr<MatchResult> &, ge::CustomPassContext &) {
    ++asked;
    return Small("sum", 2, [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{x[0], x[0] + x[1]}; });
  };
  es::EsGraphBuilder builder("between");
  const es::EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  const es::EsTensorHolder p = es::Relu(x);
  CHECK(Refused(*builder.BuildAndReset({es::Add(p, es::Neg(p))})).empty() && asked == 0 && types["Add"] == 1);
  const es::EsTensorHolder y = builder.CreateInput(0, "y", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  CHECK(Refused(*builder.BuildAndReset({es::Add(es::Relu(y), es::Neg(y))})).empty() && asked == 1 && types["Relu"] == 0);
}

// Matches of Add(Add(a, b), c) in a chain of three overlap: the first one is replaced, and the rest does not match any more.
void OverlappingMatches() {
  const auto chain = [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{es::Add(es::Add(x[0], x[1]), x[2])}; };
  es::EsGraphBuilder builder("chain");
  es::EsTensorHolder sum = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  for (int at = 0; at < 3; ++at) {
    sum = es::Add(sum, builder.CreateVector(std::vector<float>{1, 2}));
  }
  const ge::GraphPtr graph = std::make_shared<ge::Graph>(*builder.BuildAndReset({sum}));
  ge::fusion::PatternMatcher matcher(PatternUniqPtr(new Pattern(std::move(*Small("chain", 3, chain)))), graph);
  std::vector<std::string> found;
  std::unique_ptr<MatchResult> last;
  while (std::unique_ptr<MatchResult> match = matcher.MatchNext()) {
    found.push_back(match->ToAscendString().GetString());
    last = std::move(match);
  }
  CHECK((found == std::vector<std::string>{"pattern chain: Add_0 (Add) = Add_0 (Add) Add_1 (Add) = Add_1 (Add)",
                                           "pattern chain: Add_0 (Add) = Add_1 (Add) Add_1 (Add) = Add_2 (Add)"}));
  // A match outlives its matcher's use, and can be made again from its pairs.
  MatchResult copy(*last);
  MatchResult made = std::move(copy);
  const std::unique_ptr<SubgraphBoundary> boundary = made.ToSubgraphBoundary();
  std::vector<SubgraphInput> inputs;
  std::vector<SubgraphOutput> outputs;
  CHECK(boundary->GetAllInputs(inputs) == ge::SUCCESS && inputs.size() == 3);
  CHECK(boundary->GetAllOutputs(outputs) == ge::SUCCESS && outputs.size() == 1);
  NodeIo end;
  CHECK(outputs[0].GetOutput(end) == ge::SUCCESS && NameOf(end.node) == "Add_2" && end.index == 0);
  GNode matched;
  const ge::GNodePtr own = made.GetPatternGraph().FindNodeByName("Add_0");
  CHECK(own != nullptr && made.GetMatchedNode(*own, matched) == ge::SUCCESS && NameOf(matched) == "Add_1");
  CHECK(made.GetMatchedNode(end.node, matched) != ge::SUCCESS && Contains(Error(), "not a node of the pattern"));
  const Pattern again(std::move(*Small("chain", 3, chain)));
  MatchResult empty(&again);
  CHECK(empty.ToSubgraphBoundary() == nullptr && Contains(Error(), "matched with no node"));
  CHECK(empty.AppendNodeMatchPair({*again.GetGraph().FindNodeByName("Add_0"), 0}, {matched, 0}) == ge::SUCCESS);

  patterns_of_test = [chain] { return One(Small("chain", 3, chain)); };
  replacement_of_test = [](const std::unique_ptr<MatchResult> &match, ge::CustomPassContext &) {
    GraphUniqPtr sum = Small("sum", 3, [](es::EsGraphBuilder &, const Tensors &x) { return Tensors{es::AddN(x, nullptr, 3)}; });
    CHECK(ge::fusion::InferShapeUtil::InferShape(*sum, *match) == ge::SUCCESS);
    return sum;
  };
  CHECK(Refused(*graph).empty() && types["AddN"] == 1 && types["Add"] == 1);
}

void Configurations() {
  ge::fusion::PatternMatcherConfig plain;
  CHECK(!plain.IsEnableConstValueMatch() && !plain.IsEnableIrAttrMatch());
  const auto built = PatternMatcherConfigBuilder().EnableConstValueMatch().Build();
  CHECK(built->IsEnableConstValueMatch() && !built->IsEnableIrAttrMatch());
  plain = *PatternMatcherConfigBuilder().EnableIrAttrMatch().Build();
  const ge::fusion::PatternMatcherConfig copy(plain);
  CHECK(!copy.IsEnableConstValueMatch() && copy.IsEnableIrAttrMatch());
}

void BoundariesThatDoNotFit() {
  const ge::GraphPtr graph = std::make_shared<ge::Graph>(Line("line"));
  const GNode relu = *graph->FindNodeByName("Relu_0"), neg = *graph->FindNodeByName("Neg_0");
  const GraphUniqPtr same = Small("same", 1, [](es::EsGraphBuilder &, const Tensors &x) { return x; });
  SubgraphBoundary boundary;
  CHECK(boundary.AddInput(-1, SubgraphInput()) != ge::SUCCESS && Contains(Error(), "an index is at least 0"));
  CHECK(boundary.AddInput(1, SubgraphInput({{relu, 0}})) == ge::SUCCESS);
  CHECK(boundary.AddInput(1, SubgraphInput({{relu, 0}})) != ge::SUCCESS && Contains(Error(), "input 1 of a subgraph boundary exists already"));
  CHECK(SubgraphRewriter::Replace(boundary, *same) != ge::SUCCESS && Contains(Error(), "number 0 is missing"));
  SubgraphInput input;
  SubgraphOutput output;
  NodeIo end;
  CHECK(boundary.GetInput(1, input) == ge::SUCCESS && boundary.GetInput(0, input) != ge::SUCCESS);
  CHECK(boundary.GetOutput(0, output) != ge::SUCCESS && output.GetOutput(end) != ge::SUCCESS);
  boundary = SubgraphBoundary({SubgraphInput({{relu, 0}})}, {SubgraphOutput()});
  CHECK(SubgraphRewriter::Replace(boundary, *same) != ge::SUCCESS && Contains(Error(), "set one by SetOutput"));
  boundary = SubgraphBoundary({SubgraphInput({{neg, 0}})}, {SubgraphOutput({relu, 0})});
  ge::CustomPassContext context;
  CHECK(SubgraphRewriter::Replace(boundary, *same, context) != ge::SUCCESS && Contains(Error(), "no input of the boundary names it"));
  CHECK(Contains(context.GetErrorMessage().GetString(), "input x of Relu_0 (Relu) reads x (Data)"));
  CHECK(output.SetOutput({neg, 0}) == ge::SUCCESS);
  boundary = SubgraphBoundary({SubgraphInput({{relu, 0}})}, {output});
  CHECK(SubgraphRewriter::Replace(boundary, std::move(*same)) == ge::SUCCESS && graph->GetDirectNode().size() == 1);
  CHECK(SubgraphRewriter::Replace(boundary, *same) != ge::SUCCESS && Contains(Error(), "is in no graph"));
  ge::AscendString reason;
  CHECK(!ge::fusion::GraphFuseInspectorUtils::CanFuse({}, reason) && reason == "there is no node");
}

// Nodes of a graph that was read from ONNX are visible only.
void AGraphFromOnnxIsNotChanged(const char *path) {
  ge::Graph graph("read");
  CHECK(ge::aclgrphParseONNX(path, Options(), graph) == ge::GRAPH_SUCCESS);
  CHECK(graph.GetDirectNode().size() > 3);
  GNode node = graph.GetDirectNode().back();
  CHECK(graph.RemoveNode(node) != ge::GRAPH_SUCCESS && Contains(Error(), "was read from an ONNX model; its nodes cannot be changed"));
}

}  // namespace

int main(int, char **arguments) {
  CHECK(ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}}) == ge::SUCCESS);
  Values();
  AFailureOfAPassFailsTheBuildAndSaysWhy();
  AMatchWithANodeInBetweenIsLeftAlone();
  OverlappingMatches();
  Configurations();
  BoundariesThatDoNotFit();
  AGraphFromOnnxIsNotChanged(arguments[1]);
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("fusion: ok\n");
  return 0;
}
