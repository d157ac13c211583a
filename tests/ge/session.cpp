// Sessions from host memory: variables, control edges, two-way walks, branches and loops, files, offline models, misuse.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "experiment_ops.h"
#include "ge/ge_api.h"
#include "ge/ge_ir_build.h"
#include "graph/graph.h"
#include "parser/caffe_parser.h"
#include "parser/onnx_parser.h"
#include "parser/tensorflow_parser.h"

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::printf("%s:%d: %s\n%s\n", __FILE__, __LINE__, #condition,                              \
                  ge::GEGetErrorMsgV2().GetString());                                             \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

namespace ge {
// A program's own operator: what stands behind the names is never looked at.
REG_OP(NobodyKnowsIt)
    .INPUT(x, TensorType({DT_NO_SUCH_TYPE}))
    .OUTPUT(y, "anything at all")
    .ATTR(level, Int, 3)
    .REQUIRED_ATTR(names, ListString)
    .OP_END_FACTORY_REG(NobodyKnowsIt)
}  // namespace ge

namespace {

using Options = std::map<ge::AscendString, ge::AscendString>;

ge::TensorDesc Desc(const std::vector<int64_t> &dims, ge::DataType type = ge::DT_FLOAT) {
  return ge::TensorDesc(ge::Shape(dims), ge::FORMAT_ND, type);
}

ge::Tensor Floats(const std::vector<int64_t> &dims, const std::vector<float> &values) {
  return ge::Tensor(Desc(dims), reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(float));
}

ge::op::Data Input(const char *name, const std::vector<int64_t> &dims, ge::DataType type = ge::DT_FLOAT) {
  ge::op::Data data(name);
  data.update_input_desc_x(Desc(dims, type));
  data.update_output_desc_y(Desc(dims, type));
  return data;
}

ge::op::Const Constant(const char *name, const std::vector<int64_t> &dims, const std::vector<float> &values) {
  ge::op::Const constant(name);
  constant.set_attr_value(Floats(dims, values));
  return constant;
}

bool Is(const ge::Tensor &tensor, const std::vector<float> &wanted) {
  const float *values = reinterpret_cast<const float *>(tensor.GetData());
  if (tensor.GetSize() != wanted.size() * sizeof(float)) {
    return false;
  }
  for (size_t at = 0; at < wanted.size(); ++at) {
    if (std::fabs(values[at] - wanted[at]) > 1e-5f) {
      return false;
    }
  }
  return true;
}

// A variable that is given a value by one graph, added to by another, and saved by a third.
std::map<std::string, float> saved;
uint32_t Save(uint32_t, const std::map<ge::AscendString, ge::Tensor> &tensors) {
  for (const auto &pair : tensors) {
    saved[pair.first.GetString()] = *reinterpret_cast<const float *>(pair.second.GetData());
  }
  return 0;
}

ge::op::Variable State() {
  ge::op::Variable variable("state");
  variable.update_output_desc_y(Desc({2}));
  return variable;
}

ge::Graph Begin() {
  ge::Graph graph("begin");
  ge::op::Variable variable = State();
  ge::op::Const value = Constant("value", {2}, {1, 2});
  // The consumer goes out of scope, and stays in the graph.
  { ge::op::Assign("assign").set_input_ref(variable).set_input_value(value); }
  graph.SetInputs({variable});
  return graph;
}

ge::Graph Step() {
  ge::Graph graph("step");
  ge::op::Data data = Input("x", {2});
  ge::op::Variable variable = State();
  ge::op::AssignAdd add("add");
  add.set_input_ref(variable).set_input_value(data);
  ge::op::Identity after("after");
  after.set_input_x(variable);
  after.AddControlInput(add);
  graph.SetInputs({data, variable}).SetOutputs(std::vector<ge::Operator>{after});
  return graph;
}

ge::Graph Checkpoint() {
  ge::Graph graph("checkpoint");
  ge::op::Variable variable = State();
  ge::op::Save save("save");
  save.create_dynamic_input_tensors(1).set_dynamic_input_tensors(0, variable);
  graph.SetInputs({variable});
  return graph;
}

void Variables() {
  ge::Session session(Options({{"ge.graphRunMode", "1"}}));
  CHECK(session.RegisterCallBackFunc("Save", Save) == ge::SUCCESS);
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(2, Step()) == ge::SUCCESS);
  CHECK(session.RunGraph(2, {Floats({2}, {1, 1})}, outputs) == ge::FAILED);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("state") != std::string::npos);
  CHECK(session.AddGraph(1, Begin()) == ge::SUCCESS);
  CHECK(session.RunGraph(1, {}, outputs) == ge::SUCCESS && outputs.empty());
  for (int turn = 1; turn <= 3; ++turn) {
    CHECK(session.RunGraph(2, {Floats({2}, {10, 20})}, outputs) == ge::SUCCESS);
    CHECK(outputs.size() == 1 && Is(outputs[0], {1.0f + 10 * turn, 2.0f + 20 * turn}));
  }
  CHECK(session.AddGraph(3, Checkpoint()) == ge::SUCCESS);
  CHECK(session.RunGraph(3, {}, outputs) == ge::SUCCESS);
  CHECK(saved.size() == 1 && saved["state"] == 31.0f);
  std::vector<ge::Tensor> values;
  CHECK(session.GetVariables({"state"}, values) == ge::SUCCESS && Is(values[0], {31, 62}));
  CHECK(session.GetVariables({"other"}, values) != ge::SUCCESS && values.empty());
  // Another session has variables of its own.
  ge::Session other((Options()));
  CHECK(other.AddGraph(2, Step()) == ge::SUCCESS);
  CHECK(other.RunGraph(2, {Floats({2}, {1, 1})}, outputs) == ge::FAILED);
}

ge::Graph Inner(const char *name, const char *type, float with) {
  ge::Graph graph(name);
  ge::op::Data x = Input("x", {2});
  x.set_attr_index(0);
  ge::op::Const number = Constant("number", {}, {with});
  ge::Operator op = ge::OperatorFactory::CreateOperator("op", type);
  op.SetInput("x1", x).SetInput("x2", number);
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{op});
  return graph;
}

ge::Graph Below(const char *name, float limit) {
  ge::Graph graph(name);
  ge::op::Data x = Input("x", {2});
  ge::op::Const axes("axes");
  const int64_t zero = 0;
  axes.set_attr_value(ge::Tensor(Desc({1}, ge::DT_INT64), reinterpret_cast<const uint8_t *>(&zero), sizeof zero));
  ge::op::ReduceSum sum("sum");
  sum.set_input_x(x).set_input_axes(axes);
  ge::op::Const number = Constant("number", {}, {limit});
  ge::op::Less less("less");
  less.set_input_x1(sum).set_input_x2(number);
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{less});
  return graph;
}

void Control() {
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  {
    ge::op::Data condition = Input("condition", {}, ge::DT_BOOL);
    condition.set_attr_index(0);
    ge::op::Data x = Input("x", {2});
    x.set_attr_index(1);
    ge::op::If branch("branch");
    branch.set_input_cond(condition).create_dynamic_input_input(1).set_dynamic_input_input(0, x);
    branch.create_dynamic_output_output(1);
    branch.set_subgraph_builder_then_branch([]() { return Inner("then", "Add", 1.0f); });
    branch.set_subgraph_builder_else_branch([]() { return Inner("else", "Mul", 3.0f); });
    ge::Graph graph("if");
    graph.SetInputs({condition, x}).SetOutputs(std::vector<ge::Operator>{branch});
    CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
  }
  for (uint8_t yes = 0; yes < 2; ++yes) {
    const ge::Tensor condition(Desc({}, ge::DT_BOOL), &yes, 1);
    CHECK(session.RunGraph(1, {condition, Floats({2}, {2, 5})}, outputs) == ge::SUCCESS);
    CHECK(outputs.size() == 1 && Is(outputs[0], yes != 0 ? std::vector<float>{3, 6} : std::vector<float>{6, 15}));
  }
  {
    ge::op::Data x = Input("x", {2});
    ge::op::While loop("loop");
    loop.create_dynamic_input_input(1).set_dynamic_input_input(0, x).create_dynamic_output_output(1);
    loop.set_subgraph_builder_cond([]() { return Below("cond", 100.0f); });
    loop.set_subgraph_builder_body([]() { return Inner("body", "Mul", 2.0f); });
    ge::Graph graph("while");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{loop});
    CHECK(session.AddGraph(2, graph) == ge::SUCCESS);
  }
  CHECK(session.RunGraph(2, {Floats({2}, {1, 2})}, outputs) == ge::SUCCESS && Is(outputs[0], {64, 128}));
  CHECK(session.RunGraph(2, {Floats({2}, {100, 2})}, outputs) == ge::SUCCESS && Is(outputs[0], {100, 2}));
}

ge::Graph Chain(const char *name) {
  ge::op::Data x = Input("x", {2, 3});
  ge::op::SplitD split("split");
  split.set_input_x(x).set_attr_split_dim(0).set_attr_num_split(2).create_dynamic_output_y(2);
  ge::op::Sub difference("difference");
  difference.set_input_x1(split, "y0").set_input_x2(split, "y1");
  ge::Graph graph(name);
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{difference});
  return graph;
}

void Files() {
  const ge::Graph graph = Chain("chain");
  CHECK(graph.SaveToFile("chain.air") == ge::GRAPH_SUCCESS);
  ge::Graph loaded("loaded");
  CHECK(loaded.LoadFromFile("chain.air") == ge::GRAPH_SUCCESS && loaded.IsValid());
  CHECK(loaded.GetAllNodes().size() == 3);
  ge::AscendString name;
  CHECK(loaded.GetAllNodes()[0].GetName(name) == ge::GRAPH_SUCCESS && name == "x");
  CHECK(ge::aclgrphDumpGraph(graph, "chain", 5) == ge::GRAPH_SUCCESS);
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(1, loaded) == ge::SUCCESS);
  CHECK(session.RunGraph(1, {Floats({2, 3}, {9, 8, 7, 1, 2, 3})}, outputs) == ge::SUCCESS);
  CHECK(Is(outputs[0], {8, 6, 4}));
  std::FILE *file = std::fopen("broken.air", "wb");
  CHECK(file != nullptr && std::fwrite("JUMARGE1????", 1, 12, file) == 12 && std::fclose(file) == 0);
  ge::Graph broken("broken");
  CHECK(broken.LoadFromFile("broken.air") != ge::GRAPH_SUCCESS && !broken.IsValid());
  CHECK(broken.LoadFromFile("nowhere.air") != ge::GRAPH_SUCCESS);
  CHECK(ge::GEGetErrorMsgV2().GetLength() > 0 && ge::GEGetErrorMsgV2().GetLength() == 0);
}

void Offline() {
  Options global({{"ge.socVersion", "Ascend310P3"}});
  CHECK(ge::aclgrphBuildInitialize(global) == ge::GRAPH_SUCCESS);
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(Chain("offline"), Options(), model) == ge::GRAPH_SUCCESS && model.length > 0);
  CHECK(ge::aclgrphBuildModel(Chain("offline"), Options({{"no_such_option", "1"}}), model) != ge::GRAPH_SUCCESS);
  CHECK(ge::aclgrphSaveModel("offline", model) == ge::GRAPH_SUCCESS);
  ge::aclgrphBuildFinalize();
  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  uint32_t id = 0;
  CHECK(aclmdlLoadFromMem(model.data.get(), model.length, &id) == ACL_SUCCESS);
  aclmdlDesc *desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, id) == ACL_SUCCESS && aclmdlGetNumInputs(desc) == 1);
  aclmdlIODims dims;
  CHECK(aclmdlGetInputDims(desc, 0, &dims) == ACL_SUCCESS && dims.dimCount == 2 && dims.dims[1] == 3);
  CHECK(aclmdlGetOutputSizeByIndex(desc, 0) == 3 * sizeof(float));
  CHECK(aclmdlDestroyDesc(desc) == ACL_SUCCESS && aclmdlUnload(id) == ACL_SUCCESS);
  CHECK(aclmdlLoadFromFile("offline.om", &id) == ACL_SUCCESS && aclmdlUnload(id) == ACL_SUCCESS);
  ge::Graph graph("parsed");
  CHECK(ge::aclgrphParseCaffe("a", "b", graph) != ge::GRAPH_SUCCESS);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("ONNX") != std::string::npos);
  CHECK(ge::aclgrphParseTensorFlow("a", graph) != ge::GRAPH_SUCCESS);
  CHECK(ge::aclgrphParseONNXFromMem("no model", 8, Options(), graph) != ge::GRAPH_SUCCESS);
}

void Misuse() {
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  // An unknown operator is refused with its name when the graph is built.
  ge::op::Data x = Input("x", {2});
  ge::op::NobodyKnowsIt strange("strange");
  strange.set_input_x(x).set_attr_names(std::vector<ge::AscendString>{"a", "b"});
  CHECK(strange.get_attr_level() == 3 && strange.get_attr_names().size() == 2);
  ge::Graph graph("strange");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{strange});
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
  CHECK(session.BuildGraph(1, std::vector<ge::Tensor>()) == ge::FAILED);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("NobodyKnowsIt") != std::string::npos);
  CHECK(session.AddGraph(2, graph) == ge::FAILED);
  CHECK(session.AddGraph(1, Chain("again")) == ge::SUCCESS);
  CHECK(session.AddGraph(3, ge::Graph("empty")) == ge::FAILED);
  CHECK(session.AddGraph(3, ge::Graph()) == ge::FAILED);
  // A circle, a missing input, a source of two outputs without a name.
  ge::op::Data y = Input("y", {2});
  ge::op::Add one("one");
  ge::op::Add two("two");
  one.set_input_x1(y).set_input_x2(two);
  two.set_input_x1(one).set_input_x2(y);
  ge::Graph circle("circle");
  circle.SetInputs({y}).SetOutputs(std::vector<ge::Operator>{two});
  CHECK(session.AddGraph(4, circle) == ge::SUCCESS);
  CHECK(session.RunGraph(4, {Floats({2}, {1, 2})}, outputs) == ge::FAILED);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("circle") != std::string::npos);
  (void)ge::GEGetWarningMsgV2();
  ge::op::Data z = Input("z", {2, 3});
  ge::op::SplitD split("split");
  split.set_input_x(z).set_attr_split_dim(0).set_attr_num_split(2).create_dynamic_output_y(2);
  ge::op::Relu relu("relu");
  relu.set_input_x(split);
  CHECK(std::string(ge::GEGetWarningMsgV2().GetString()).find("split") != std::string::npos);
  // The two families of calls do not mix.
  CHECK(session.AddGraph(5, Chain("family")) == ge::SUCCESS);
  CHECK(session.GetCompiledGraphSummary(5) == nullptr);
  CHECK(session.SetGraphConstMemoryBase(5, nullptr, 0) == 1343242295);
  CHECK(session.LoadGraph(5, Options(), nullptr) == ge::FAILED);
  CHECK(session.CompileGraph(5) == ge::SUCCESS);
  CHECK(session.CompileGraph(99) == 1343225857);
  CHECK(session.RunGraph(5, {Floats({2, 3}, {1, 2, 3, 4, 5, 6})}, outputs) == 1343225956);
  CHECK(session.GetCompiledGraphSummary(5) != nullptr && session.GetCompiledGraphSummary(5)->IsStatic());
  CHECK(session.LoadGraph(5, Options(), nullptr) == ge::SUCCESS && session.LoadGraph(5, Options(), nullptr) == ge::FAILED);
  CHECK(session.RemoveGraph(5) == ge::SUCCESS && session.RemoveGraph(5) == ge::FAILED);
  // Too few inputs, and one that is too short.
  CHECK(session.AddGraph(6, Chain("inputs")) == ge::SUCCESS);
  CHECK(session.RunGraph(6, {Floats({2, 3}, {1, 2, 3, 4, 5, 6})}, outputs) == ge::SUCCESS);
  CHECK(session.RunGraph(6, {}, outputs) == ge::FAILED);
  CHECK(session.RunGraph(6, {Floats({2, 3}, {1, 2})}, outputs) == ge::FAILED);
  bool called = false;
  CHECK(session.RunGraphAsync(77, {}, [&called](ge::Status status, std::vector<ge::Tensor> &) {
          called = status == 1343242242;
        }) == 1343242242);
  CHECK(called);
}

}  // namespace

int main() {
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::vector<ge::Tensor> outputs;
  ge::Session early((Options()));
  CHECK(early.RunGraph(1, {}, outputs) == ge::FAILED);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("E10062") != std::string::npos);
  CHECK(ge::GEInitialize(Options({{"", "1"}})) == ge::FAILED);
  CHECK(ge::GEInitialize(Options({{"ge.graphRunMode", "7"}})) == ge::FAILED);
  CHECK(ge::GEInitialize(Options({{"ge.graphRunMode", "0"}})) == ge::SUCCESS);
  CHECK(ge::GEInitialize(Options({{"ge.graphRunMode", "1"}})) == ge::SUCCESS);
  Files();
  Misuse();
  Variables();
  Control();
  Offline();
  // The program ends with a session that lives, and resets nothing.
  ge::Session *left = new ge::Session((Options()));
  CHECK(left->AddGraph(1, Chain("left")) == ge::SUCCESS);
  CHECK(left->RunGraph(1, {Floats({2, 3}, {1, 2, 3, 4, 5, 6})}, outputs) == ge::SUCCESS);
  std::printf("session: ok\n");
  return 0;
}
