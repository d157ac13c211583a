// Graphs by function calls: values, control flow, misuse, and a program's own operators.
#include "es_all_ops.h"
#include "es_all_ops_c.h"
#include "ge/compliant_node_builder.h"
#include "ge/es_graph_builder.h"
#include "support.h"

namespace {

using ge::es::EsGraphBuilder;
using ge::es::EsTensorHolder;

std::vector<std::vector<float>> Run(const ge::Graph &graph, const std::vector<ge::Tensor> &inputs) {
  ge::Session session(Options{});
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS && session.RunGraph(1, inputs, outputs) == ge::SUCCESS);
  std::vector<std::vector<float>> all;
  for (const ge::Tensor &output : outputs) {
    all.push_back(Values<float>(output));
  }
  return all;
}

bool Explained(const char *words) {
  const std::string text = ge::GEGetErrorMsgV2().GetString();
  if (text.find(words) == std::string::npos) {
    std::printf("%s\n", text.c_str());
    return false;
  }
  return true;
}

void ArithmeticAndNumbersAsTensors() {
  EsGraphBuilder builder("arithmetic");
  const EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2, 2});
  const EsTensorHolder y = builder.CreateInput(1, "y", ge::DT_FLOAT, ge::FORMAT_ND, {2, 2});
  const EsTensorHolder sum = ge::es::Add(x, 1.0f);
  CHECK(EsGraphBuilder::SetOutput((sum - y) * y / builder.CreateScalar(2.0f), 0) == 0);
  CHECK(EsGraphBuilder::SetOutput(ge::es::Reshape(sum, std::vector<int64_t>{4}), 1) == 0);
  const std::unique_ptr<ge::Graph> graph = builder.BuildAndReset();
  CHECK(graph != nullptr);
  const auto found = Run(*graph, {Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 2}, {2, 2, 4, 8})});
  CHECK(Near(found[0], {0, 1, 0, -12}) && Near(found[1], {2, 3, 4, 5}));
  CHECK(ge::GEGetErrorMsgV2().GetLength() == 0);
  // The builder starts a new graph.
  const std::unique_ptr<ge::Graph> next = builder.BuildAndReset({ge::es::Relu(builder.CreateInput(0, "Relu_0", ge::DT_FLOAT, ge::FORMAT_ND, {2}))});
  CHECK(next != nullptr && Near(Run(*next, {Floats({2}, {-1, 2})})[0], {0, 2}));
}

void SeveralInputsAndOutputs() {
  EsGraphBuilder builder("several");
  const auto inputs = builder.CreateInputs<2>();
  const EsTensorHolder joined = ge::es::ConcatV2({inputs[0], inputs[1]}, builder.CreateScalar(0), 2);
  const std::vector<EsTensorHolder> parts = ge::es::Split(builder.CreateScalar(0), joined, 3, 3);
  CHECK(parts.size() == 3);
  const ge::es::TopKV2Output top = ge::es::TopKV2(joined, builder.CreateScalar(2));
  const std::unique_ptr<ge::Graph> graph = builder.BuildAndReset({parts[2], top.values, parts[0]});
  CHECK(graph != nullptr);
  const auto found = Run(*graph, {Floats({4}, {1, 9, 3, 4}), Floats({2}, {5, 7})});
  CHECK(Near(found[0], {5, 7}) && Near(found[1], {9, 7}) && Near(found[2], {1, 9}));
}

void OptionalInputsAttributesAndTypes() {
  EsGraphBuilder builder("attributes");
  const EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2, 3});
  const EsTensorHolder w = builder.CreateConst(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const EsTensorHolder b = builder.CreateVector(std::vector<float>{10, 20});
  const EsTensorHolder product = ge::es::MatMulV2(x, w, b, nullptr, false, true);
  const EsTensorHolder whole = ge::es::Cast(ge::es::Cast(product, ge::DT_INT32), ge::DT_FLOAT);
  const std::unique_ptr<ge::Graph> graph = builder.BuildAndReset({product, whole});
  CHECK(graph != nullptr);
  const auto found = Run(*graph, {Floats({2, 3}, {1, 0, 0, 0.5f, 0, 0})});
  CHECK(Near(found[0], {11, 24, 10.5f, 22}) && Near(found[1], {11, 24, 10, 22}));
}

void Branches() {
  for (int32_t condition : {0, 1}) {
    EsGraphBuilder builder("if");
    const EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
    const EsTensorHolder flag = builder.CreateInput(1, "flag", ge::DT_INT32, ge::FORMAT_ND, {});
    std::unique_ptr<ge::Graph> branches[2];
    for (int which : {0, 1}) {
      EsGraphBuilder inner(which == 1 ? "then" : "else");
      const EsTensorHolder own = inner.CreateInput(0, "own", ge::DT_FLOAT, ge::FORMAT_ND, {2});
      branches[which] = inner.BuildAndReset({own * inner.CreateScalar(which == 1 ? 2.0f : 0.0f)});
      CHECK(branches[which] != nullptr);
    }
    const std::vector<EsTensorHolder> result = ge::es::If(flag, {x}, 1, std::move(branches[1]), std::move(branches[0]));
    CHECK(result.size() == 1);
    const std::unique_ptr<ge::Graph> graph = builder.BuildAndReset({result[0]});
    CHECK(graph != nullptr);
    const ge::Tensor given = Filled<int32_t>({}, ge::DT_INT32, {condition});
    const auto found = Run(*graph, {Floats({2}, {1, 3}), given});
    CHECK(Near(found[0], condition == 1 ? std::vector<float>{2, 6} : std::vector<float>{0, 0}));
  }
}

void FunctionsInC() {
  EsCGraphBuilder *const builder = EsCreateGraphBuilder("c");
  const int64_t dims[] = {3};
  EsCTensorHolder *const x = EsCreateGraphInputWithDetails(builder, 0, "x", "Data", C_DT_FLOAT, C_FORMAT_ND, dims, 1);
  const float values[] = {1, 2, 3};
  EsCTensorHolder *const sum = EsAdd(x, EsCreateVectorFloat(builder, values, 3));
  EsBatchNormOutput unused = EsBatchNormOutput();
  CHECK(unused.y == nullptr && EsGetOwnerBuilder(sum) == builder && EsGetProducer(sum) != nullptr);
  CHECK(EsSetInt64AttrForNode(sum, "own", 7) == 0 && EsSetGraphOutput(sum, 0) == 0);
  const std::unique_ptr<ge::Graph> graph(static_cast<ge::Graph *>(EsBuildGraphAndReset(builder)));
  EsDestroyGraphBuilder(builder);
  CHECK(graph != nullptr && Near(Run(*graph, {Floats({3}, {1, 1, 1})})[0], {2, 3, 4}));
}

void MisuseIsExplained() {
  EsGraphBuilder one("one"), other("other");
  const EsTensorHolder x = one.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  const EsTensorHolder y = other.CreateInput(0, "y", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  CHECK(ge::es::Add(x, y).GetCTensorHolder() == nullptr && Explained("EsAdd: its input x2 belongs to the builder of another graph"));
  // The graph of a failed call is not built.
  CHECK(one.BuildAndReset({x}) == nullptr && Explained("graph one cannot be built"));
  CHECK(ge::es::Relu(EsTensorHolder()).GetCTensorHolder() == nullptr && Explained("EsRelu: no input belongs to a builder"));
  CHECK(ge::es::Add(1.0f, 2.0f).GetCTensorHolder() == nullptr && Explained("EsAdd: no input belongs to a builder"));
  CHECK(other.BuildAndReset() == nullptr && Explained("0 outputs; set one by SetOutput"));
  EsGraphBuilder gaps("gaps");
  const EsTensorHolder far = gaps.CreateInput(1, "x", ge::DT_FLOAT, ge::FORMAT_ND, {2});
  CHECK(gaps.BuildAndReset({far}) == nullptr && Explained("number them from 0 without gaps"));
  EsGraphBuilder twice("twice");
  (void)twice.CreateInput(0);
  CHECK(twice.CreateInput(0).GetCTensorHolder() == nullptr && Explained("input 0 of graph twice exists already"));
  CHECK(EsGraphBuilder::SetOutput(EsTensorHolder(), 0) != 0 && Explained("the tensor is null"));
  CHECK(EsCreateEsCTensorFromFile("nothing.bin", nullptr, 0, C_DT_FLOAT, C_FORMAT_ND) == nullptr && Explained("nothing.bin cannot be opened"));
  CHECK(EsSetOriginSymbolShape(far.GetCTensorHolder(), nullptr, 0) != 0 && Explained("SetOriginSymbolShape is not supported"));
}

void NodesByTheirDefinition() {
  typedef ge::es::CompliantNodeBuilder Builder;
  EsGraphBuilder builder("definition");
  const EsTensorHolder x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {4});
  ge::Graph *const graph = builder.GetCGraphBuilder()->GetGraph();
  ge::GNode node = Builder(graph)
                       .OpType("LeakyRelu")
                       .Name("leaky")
                       .IrDefInputsV2({{"x", Builder::kEsIrInputRequired, ""}})
                       .IrDefOutputsV2({{"y", Builder::kEsIrOutputRequired, ""}})
                       .IrDefAttrsV2({{"negative_slope", Builder::kEsAttrOptional, "Float", ge::es::CreateFrom(0.5f)}})
                       .InstanceOutputShape("y", {4})
                       .Build();
  CHECK(ge::es::AddEdgeAndUpdatePeerDesc(*graph, *x.GetProducer(), 0, node, 0) == ge::GRAPH_SUCCESS);
  const std::unique_ptr<ge::Graph> built =
      builder.BuildAndReset({EsTensorHolder(builder.GetCGraphBuilder()->GetTensorHolderFromNode(node, 0))});
  CHECK(built != nullptr && Near(Run(*built, {Floats({4}, {-2, -1, 0, 4})})[0], {-1, -0.5f, 0, 4}));
  ge::AscendString type;
  CHECK(Builder(graph).OpType("Relu").Build().GetType(type) != ge::GRAPH_SUCCESS && Explained("a name by Name"));
}

}  // namespace

int main() {
  CHECK(ge::GEInitialize(Options{}) == ge::SUCCESS);
  ArithmeticAndNumbersAsTensors();
  SeveralInputsAndOutputs();
  OptionalInputsAttributesAndTypes();
  Branches();
  FunctionsInC();
  NodesByTheirDefinition();
  MisuseIsExplained();
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("es: ok\n");
  return 0;
}
