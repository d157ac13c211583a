// Passes of the program change a copy of the graph before it is built. Names and options of the documentation compile.
#include <fstream>
#include <set>

#include "ge/fusion/pass/fusion_base_pass.h"
#include "ge/ge_ir_build.h"
#include "ops_proto_legacy.h"
#include "ops_proto_math.h"
#include "ops_proto_nn.h"
#include "register/register_custom_pass.h"
#include "support.h"

namespace {

std::vector<std::string> ran;
ge::Status answer = ge::SUCCESS;

// Replaces each node of a type by one of another, which has the same inputs and outputs.
ge::Status Replace(ge::GraphPtr &graph, const char *from, const char *to, ge::CustomPassContext &context) {
  for (ge::GNode &node : graph->GetAllNodes()) {
    ge::AscendString type, name;
    CHECK(node.GetType(type) == ge::GRAPH_SUCCESS && node.GetName(name) == ge::GRAPH_SUCCESS);
    if (type != from) {
      continue;
    }
    const ge::Operator op = ge::OperatorFactory::CreateOperator((std::string(name.GetString()) + "_new").c_str(), to);
    ge::GNode added = graph->AddNodeByOp(op);
    auto source = node.GetInDataNodesAndPortIndexs(0);
    const auto consumers = node.GetOutDataNodesAndPortIndexs(0);
    CHECK(graph->RemoveEdge(*source.first, source.second, node, 0) == ge::GRAPH_SUCCESS);
    CHECK(graph->AddDataEdge(*source.first, source.second, added, 0) == ge::GRAPH_SUCCESS);
    for (const auto &consumer : consumers) {
      CHECK(graph->RemoveEdge(node, 0, *consumer.first, consumer.second) == ge::GRAPH_SUCCESS);
      CHECK(graph->AddDataEdge(added, 0, *consumer.first, consumer.second) == ge::GRAPH_SUCCESS);
    }
    CHECK(graph->RemoveNode(node) == ge::GRAPH_SUCCESS);
  }
  ge::AscendString precision;
  if (context.GetOptionValue("ge.exec.precision_mode", precision) == ge::GRAPH_SUCCESS) {
    ran.push_back(precision.GetString());
  }
  ran.push_back(context.GetPassName().GetString());
  if (answer != ge::SUCCESS) {
    context.SetErrorMessage("no fit");
  }
  return answer;
}

ge::Status ReluToAbs(ge::GraphPtr &graph, ge::CustomPassContext &context) {
  return Replace(graph, "Relu", "Abs", context);
}

// Runs after shapes are inferred, although it is registered first: it finds the shape that the graph's input has.
class AbsToSquare : public ge::fusion::FusionBasePass {
 public:
  ge::Status Run(ge::GraphPtr &graph, ge::CustomPassContext &context) override {
    for (const ge::GNode &node : graph->GetAllNodes()) {
      ge::AscendString type;
      ge::TensorDesc desc;
      if (node.GetType(type) == ge::GRAPH_SUCCESS && type == "Abs") {
        CHECK(node.GetOutputDesc(0, desc) == ge::GRAPH_SUCCESS);
        CHECK((desc.GetShape().GetDims() == std::vector<int64_t>{2, 2}));
      }
    }
    return Replace(graph, "Abs", "Square", context);
  }
};

REG_FUSION_PASS(AbsToSquare).Stage(ge::CustomPassStage::kAfterInferShape);
REGISTER_CUSTOM_PASS("ReluToAbs").CustomPassFn(ReluToAbs).Stage(ge::CustomPassStage::kBeforeInferShape);
REGISTER_CUSTOM_PASS("Never").CustomPassFn(ReluToAbs).Stage(ge::CustomPassStage::kInvalid);

ge::Graph Made(const char *name) {
  ge::op::Data x = Input("x", 0, {2, 2});
  ge::op::Relu relu("relu");
  relu.set_input_x(x);
  ge::op::Neg neg("neg");
  neg.set_input_x(relu);
  ge::Graph graph(name);
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{neg});
  return graph;
}

void PassesRun() {
  const ge::Graph graph = Made("graph");
  ge::Session session(Options{{"ge.exec.precision_mode", "must_keep_origin_dtype"}});
  for (uint32_t id : {1u, 2u}) {
    ran.clear();
    CHECK(session.AddGraph(id, graph) == ge::SUCCESS);
    CHECK((ran == std::vector<std::string>{"must_keep_origin_dtype", "ReluToAbs", "must_keep_origin_dtype", "AbsToSquare"}));
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(id, {Floats({2, 2}, {1, -2, 3, -4})}, outputs) == ge::SUCCESS);
    CHECK(Near(Values<float>(outputs[0]), {-1, -4, -9, -16}));
  }
  // The program's own graph is as it was.
  ge::Operator found;
  CHECK(graph.FindOpByName("relu", found) == ge::GRAPH_SUCCESS && found.GetOpType() == "Relu");
  ge::ModelBufferData model;
  ran.clear();
  CHECK(ge::aclgrphBuildModel(graph, Options(), model) == ge::GRAPH_SUCCESS && ran.size() == 2);
}

void AFailureNamesThePass() {
  ge::Session session(Options{});
  answer = ge::FAILED;
  CHECK(session.AddGraph(1, Made("graph")) != ge::SUCCESS);
  const std::string text = ge::GEGetErrorMsgV2().GetString();
  CHECK(text.find("ReluToAbs") != std::string::npos && text.find("no fit") != std::string::npos);
  answer = ge::GRAPH_NOT_CHANGED;
  CHECK(session.AddGraph(1, Made("graph")) == ge::SUCCESS);
  answer = ge::SUCCESS;
}

Options Switches(const std::string &text) {
  std::ofstream("switches.json") << text;
  return Options{{"ge.fusionSwitchFile", "switches.json"}};
}

std::vector<std::string> Ran(const Options &session_options, const Options &graph_options) {
  ran.clear();
  ge::Session session(session_options);
  CHECK(session.AddGraph(1, Made("graph"), graph_options) == ge::SUCCESS);
  return ran;
}

void AFileSwitchesPassesOff() {
  typedef std::vector<std::string> Names;
  const Names both = {"ReluToAbs", "AbsToSquare"};
  Options file = Switches("{\"Switch\": {\"GraphFusion\": {\"AbsToSquare\": \"off\", \"NotHere\": \"off\"}}}");
  CHECK((Ran(file, Options{}) == Names{"ReluToAbs"}) && (Ran(Options{}, file) == Names{"ReluToAbs"}));
  ge::ModelBufferData model;
  ran.clear();
  CHECK(ge::aclgrphBuildModel(Made("graph"), file, model) == ge::GRAPH_SUCCESS && (ran == Names{"ReluToAbs"}));
  file = Switches("{\"Switch\": {\"GraphFusion\": {\"ALL\": \"off\", \"ReluToAbs\": \"on\"}, \"UBFusion\": {\"ALL\": \"off\"}}}");
  CHECK((Ran(file, Options{}) == Names{"ReluToAbs"}));
  // The options of a graph come before those of its session.
  CHECK(Ran(file, Options{{"ge.fusionSwitchFile", ""}}) == both);
  file = Switches("{\"Switch\": {\"UBFusion\": {\"ALL\": \"off\"}}}");
  CHECK(Ran(file, Options{}) == both);
  file = Switches("{\"Switch\": {\"GraphFusion\": {\"AbsToSquare\": \"no\"}}}");
  ge::Session session(Options{});
  CHECK(session.AddGraph(1, Made("graph"), file) != ge::SUCCESS);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("AbsToSquare is \"no\"") != std::string::npos);
  CHECK(ge::aclgrphBuildModel(Made("graph"), file, model) != ge::GRAPH_SUCCESS);
}

// Before the engine starts.
void ADamagedFileIsRefusedWhenTheEngineStarts() {
  CHECK(ge::GEInitialize(Options{{"ge.fusionSwitchFile", "not_here.json"}}) != ge::SUCCESS);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("not_here.json") != std::string::npos);
  Options file = Switches("{}");
  CHECK(ge::GEInitialize(file) != ge::SUCCESS);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("no object Switch") != std::string::npos);
  CHECK(ge::aclgrphBuildInitialize(file) != ge::GRAPH_SUCCESS);
}

void APassIsForgottenWithItsObject() {
  {
    const ge::PassReceiver receiver = ge::PassRegistrationData("Short").CustomPassFn(
        [](ge::GraphPtr &, ge::CustomPassContext &) -> ge::Status { return ge::FAILED; });
    ge::Session session(Options{});
    CHECK(session.AddGraph(1, Made("graph")) != ge::SUCCESS);
    CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("Short") != std::string::npos);
  }
  ge::Session session(Options{});
  CHECK(session.AddGraph(1, Made("graph")) == ge::SUCCESS);
  {
    const ge::PassReceiver receiver = ge::PassRegistrationData("Streams").CustomAllocateStreamPassFn(
        [](const ge::ConstGraphPtr &, ge::StreamPassContext &) -> ge::Status { return ge::SUCCESS; });
    CHECK(session.AddGraph(2, Made("graph")) != ge::SUCCESS);
    CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("Streams assigns streams") != std::string::npos);
  }
}

// Names of options are strings of the standard library, and keys of both kinds of maps.
void NamesOfOptions() {
  Options own = {{ge::PRECISION_MODE, "must_keep_origin_dtype"}, {ge::ir_option::INPUT_FORMAT, "ND"}};
  own[ge::ir_option::OP_DEBUG_LEVEL] = "0";
  own.insert({ge::ir_option::SOC_VERSION, "Ascend310P3"});
  std::map<std::string, std::string> standard = {{ge::PRECISION_MODE, "must_keep_origin_dtype"}};
  standard[ge::OP_DEBUG_LEVEL] = "0";
  standard.emplace(ge::SOC_VERSION, "Ascend310P3");
  CHECK(own.size() == 4 && standard.size() == 3 && own.count(ge::OP_DEBUG_LEVEL) == 1);
  CHECK(std::strcmp(ge::PRECISION_MODE.c_str(), "ge.exec.precision_mode") == 0);
  CHECK(std::string("--") + ge::STREAM_NUM == "--ge.streamNum");
  CHECK(ge::ir_option::global_options.count(ge::ir_option::SOC_VERSION) == 1);
  CHECK(ge::ir_option::ir_parser_suppported_options.count("out_nodes") == 0);
  CHECK(ge::ir_option::ir_parser_suppported_options.count(ge::ir_option::OUT_NODES) == 1);
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(Made("own"), own, model) == ge::GRAPH_SUCCESS);
  CHECK(ge::aclgrphBuildModel(Made("standard"), standard, model) == ge::GRAPH_SUCCESS);
  CHECK(ge::Shape(ge::UNKNOWN_RANK).GetDims() == std::vector<int64_t>{ge::UNKNOWN_DIM_NUM});
  CHECK(ge::UNKNOWN_SHAPE.size() == 1 && ge::DUMMY_SHAPE[0] == -3);
}

}  // namespace

int main() {
  NamesOfOptions();
  ADamagedFileIsRefusedWhenTheEngineStarts();
  CHECK(ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}}) == ge::SUCCESS);
  PassesRun();
  AFileSwitchesPassesOff();
  AFailureNamesThePass();
  APassIsForgottenWithItsObject();
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("passes: ok\n");
  return 0;
}
