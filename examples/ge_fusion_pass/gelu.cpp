// Two passes of the program: one finds a GELU that is written as five operators, the other one splits a Swish. The result is compared
// with plain loops.
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "es_all_ops.h"
#include "ge/fusion/pass/decompose_pass.h"
#include "ge/fusion/pass/pattern_fusion_pass.h"
#include "ge/ge_api.h"

namespace es = ge::es;
using namespace ge::fusion;

// 0.5 * x * (1 + erf(x / sqrt(2)))
static es::EsTensorHolder GeluOf(es::EsGraphBuilder &builder, const es::EsTensorHolder &x) {
  const es::EsTensorHolder erf = es::Erf(x / builder.CreateScalar(std::sqrt(2.0f)));
  return x * (erf + builder.CreateScalar(1.0f)) * builder.CreateScalar(0.5f);
}

class FuseGelu : public PatternFusionPass {
 public:
  // The values of the constants belong to the pattern.
  FuseGelu() : PatternFusionPass(PatternMatcherConfigBuilder().EnableConstValueMatch().Build()) {}

 protected:
  std::vector<PatternUniqPtr> Patterns() override {
    es::EsGraphBuilder builder("gelu_pattern");
    const auto graph = builder.BuildAndReset({GeluOf(builder, builder.CreateInput(0))});
    std::vector<PatternUniqPtr> patterns;
    patterns.push_back(std::make_unique<Pattern>(std::move(*graph)));
    return patterns;
  }
  GraphUniqPtr Replacement(const std::unique_ptr<MatchResult> &match) override {
    std::printf("%s\n", match->ToAscendString().GetString());
    es::EsGraphBuilder builder("gelu");
    return builder.BuildAndReset({es::Gelu(builder.CreateInput(0))});
  }
};
REG_FUSION_PASS(FuseGelu).Stage(ge::CustomPassStage::kBeforeInferShape);

class SplitSwish : public DecomposePass {
 public:
  explicit SplitSwish(const std::vector<ge::AscendString> &types) : DecomposePass(types) {}

 protected:
  bool MeetRequirements(const ge::GNode &node) override {
    float scale = 0;
    return node.GetAttr("scale", scale) == ge::GRAPH_SUCCESS && scale == 1;
  }
  GraphUniqPtr Replacement(const ge::GNode &) override {
    es::EsGraphBuilder builder("swish");
    const es::EsTensorHolder x = builder.CreateInput(0);
    return builder.BuildAndReset({x * es::Sigmoid(x)});
  }
};
REG_DECOMPOSE_PASS(SplitSwish, {"Swish"}).Stage(ge::CustomPassStage::kAfterInferShape);

// A pass that changes nothing: it shows the types of the nodes.
static ge::Status Show(const ge::GraphPtr &graph, const char *when) {
  std::printf("%s:", when);
  for (const ge::GNode &node : graph->GetDirectNode()) {
    ge::AscendString type;
    if (node.GetType(type) == ge::GRAPH_SUCCESS && type != "Const") {
      std::printf(" %s", type.GetString());
    }
  }
  std::printf("\n");
  return ge::GRAPH_NOT_CHANGED;
}
REGISTER_CUSTOM_PASS("After")
    .CustomPassFn([](ge::GraphPtr &graph, ge::CustomPassContext &) { return Show(graph, "after"); })
    .Stage(ge::CustomPassStage::kAfterOriginGraphOptimize);

int main() {
  std::vector<float> x;
  for (int at = -4; at <= 4; ++at) {
    x.push_back(0.75f * static_cast<float>(at));
  }
  const std::vector<int64_t> shape = {static_cast<int64_t>(x.size())};
  es::EsGraphBuilder builder("net");
  const es::EsTensorHolder input = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, shape);
  const std::unique_ptr<ge::Graph> net = builder.BuildAndReset({GeluOf(builder, input), es::Swish(input)});

  std::map<ge::AscendString, ge::AscendString> none;
  if (net == nullptr || ge::GEInitialize(none) != ge::SUCCESS) {
    return 2;
  }
  (void)Show(std::make_shared<ge::Graph>(*net), "before");
  std::vector<ge::Tensor> outputs;
  {
    ge::Session session(none);
    const ge::Tensor tensor(ge::TensorDesc(ge::Shape(shape)), reinterpret_cast<const uint8_t *>(x.data()), x.size() * sizeof(float));
    if (session.AddGraph(1, *net) != ge::SUCCESS || session.RunGraph(1, {tensor}, outputs) != ge::SUCCESS) {
      std::printf("%s\n", ge::GEGetErrorMsgV2().GetString());
      return 1;
    }
  }
  bool agrees = true;
  for (size_t at = 0; at < x.size(); ++at) {
    const float gelu = reinterpret_cast<const float *>(outputs[0].GetData())[at];
    const float swish = reinterpret_cast<const float *>(outputs[1].GetData())[at];
    // Gelu is the tanh form, which is within 5e-4 of the exact one.
    agrees = agrees && std::fabs(gelu - 0.5f * x[at] * (1 + std::erf(x[at] / std::sqrt(2.0f)))) < 5e-4f;
    agrees = agrees && std::fabs(swish - x[at] / (1 + std::exp(-x[at]))) < 1e-5f;
  }
  std::printf(agrees ? "the results agree\n" : "the results differ\n");
  return ge::GEFinalize() == ge::SUCCESS && agrees ? 0 : 1;
}
