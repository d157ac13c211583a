// What is wrong is refused with a status and a sentence, and nothing falls over.
#include "ge/ge_ir_build.h"
#include "parser/caffe_parser.h"
#include "parser/onnx_parser.h"
#include "parser/tensorflow_parser.h"
#include "support.h"

namespace {

ge::Graph Small(const char *name) {
  ge::op::Data x = Input("x", 0, {2, 2});
  ge::op::Const w = Constant("w", {2, 2}, {1, 2, 3, 4});
  ge::op::MatMul product("product");
  product.set_input_x1(x).set_input_x2(w);
  ge::Graph graph(name);
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{product});
  return graph;
}

uint32_t last = 0;
// Adds a graph that cannot be built and returns the error text of the build.
std::string Refused(ge::Session &session, const ge::Graph &graph) {
  CHECK(session.AddGraph(++last, graph) == ge::SUCCESS);
  CHECK(session.BuildGraph(last, std::vector<ge::Tensor>()) == ge::FAILED);
  return Error();
}

void GraphsThatAreNone(ge::Session &session) {
  // A circle.
  {
    ge::op::Data x = Input("x", 0, {2});
    ge::op::Add a("first"), b("second");
    a.set_input_x1(x).set_input_x2(b);
    b.set_input_x1(a).set_input_x2(x);
    ge::Graph graph("circle");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{b});
    CHECK(Contains(Refused(session, graph), "circle"));
  }
  // A circle of control edges, and a node that waits for itself.
  {
    ge::op::Data x = Input("x", 0, {2});
    ge::op::Relu a("first");
    ge::op::Relu b("second");
    a.set_input_x(x);
    b.set_input_x(a);
    a.AddControlInput(b);
    ge::Graph graph("waits");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{b});
    CHECK(Contains(Refused(session, graph), "circle"));
    ge::op::Data y = Input("y", 0, {2});
    ge::op::Relu self("self");
    self.set_input_x(y);
    self.AddControlInput(self);
    ge::Graph own("own");
    own.SetInputs({y}).SetOutputs(std::vector<ge::Operator>{self});
    CHECK(Contains(Refused(session, own), "self"));
  }
  // A missing input, a missing attribute, an unknown operator.
  {
    ge::op::Data x = Input("x", 0, {2});
    ge::op::Add sum("sum");
    sum.set_input_x1(x);
    ge::Graph graph("missing");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{sum});
    const std::string text = Refused(session, graph);
    CHECK(Contains(text, "sum") && Contains(text, "x2"));
    ge::op::Data y = Input("y", 0, {1, 4, 4, 1});
    ge::op::Const filter = Constant("filter", {1, 1, 1, 1}, {1});
    ge::op::Conv2D convolution("convolution");
    convolution.set_input_x(y).set_input_filter(filter);
    ge::Graph bare("bare");
    bare.SetInputs({y}).SetOutputs(std::vector<ge::Operator>{convolution});
    CHECK(Contains(Refused(session, bare), "strides"));
    ge::op::Data z = Input("z", 0, {2});
    ge::Operator strange("strange", "NoSuchOperator");
    ge::Graph unknown("unknown");
    ge::Operator known = ge::OperatorFactory::CreateOperator("known", "Relu");
    known.SetInput("x", z, 0u);
    strange.AddControlInput(z);
    unknown.SetInputs({z}).SetOutputs(std::vector<ge::Operator>{known});
    CHECK(Contains(Refused(session, unknown), "NoSuchOperator"));
    CHECK(ge::OperatorFactory::CreateOperator("x", "NoSuchOperator").IsEmpty() && Contains(Error(), "NoSuchOperator"));
  }
  // Wrong shapes, wrong attributes.
  {
    ge::op::Data x = Input("x", 0, {2, 3});
    ge::op::Const w = Constant("w", {2, 2}, {1, 2, 3, 4});
    ge::op::MatMul product("product");
    product.set_input_x1(x).set_input_x2(w);
    ge::Graph graph("shapes");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{product});
    CHECK(Contains(Refused(session, graph), "product"));
    ge::op::Data y = Input("y", 0, {1, 3, 8, 8}, ge::DT_FLOAT, ge::FORMAT_NCHW);
    ge::op::Const filter = Constant("filter", {4, 3, 3, 3}, std::vector<float>(108));
    ge::op::Conv2D convolution("convolution");
    convolution.set_input_x(y).set_input_filter(filter).set_attr_strides({0, 0, -1, 0}).set_attr_pads({1, 1, 1, 1});
    convolution.set_attr_data_format("NCHW");
    ge::Graph strides("strides");
    strides.SetInputs({y}).SetOutputs(std::vector<ge::Operator>{convolution});
    CHECK(Contains(Refused(session, strides), "convolution"));
    ge::op::Data z = Input("z", 0, {2, -7});
    ge::op::Relu relu("relu");
    relu.set_input_x(z);
    ge::Graph negative("negative");
    negative.SetInputs({z}).SetOutputs(std::vector<ge::Operator>{relu});
    CHECK(!Refused(session, negative).empty());
    ge::op::Data q = Input("q", 0, {INT64_MAX, INT64_MAX});
    ge::op::Relu big("big");
    big.set_input_x(q);
    ge::Graph huge("huge");
    huge.SetInputs({q}).SetOutputs(std::vector<ge::Operator>{big});
    CHECK(!Refused(session, huge).empty());
    // A constant with less contents than its shape says.
    ge::op::Data v = Input("v", 0, {4});
    ge::op::Const little("little");
    little.set_attr_value(ge::Tensor(Desc({4}), reinterpret_cast<const uint8_t *>("12345678"), 8));
    ge::op::Add sum("sum");
    sum.set_input_x1(v).set_input_x2(little);
    ge::Graph cut("cut");
    cut.SetInputs({v}).SetOutputs(std::vector<ge::Operator>{sum});
    CHECK(Contains(Refused(session, cut), "little"));
  }
  // Nothing to begin with.
  {
    ge::Graph empty("empty"), nameless;
    CHECK(session.AddGraph(++last, empty) == ge::FAILED && Contains(Error(), "not valid") && !empty.IsValid());
    CHECK(session.AddGraph(++last, nameless) == ge::FAILED && !Error().empty());
    empty.SetInputs({});
    CHECK(!empty.IsValid() && Contains(Warning(), "none"));
    ge::op::Data x = Input("x", 0, {2});
    ge::op::Relu relu("relu");
    relu.set_input_x(x);
    empty.SetInputs({relu});
    CHECK(!empty.IsValid() && Contains(Warning(), "relu"));
    ge::Graph twice("twice");
    twice.SetInputs({x}).SetInputs({x});
    CHECK(Contains(Warning(), "already") && twice.IsValid());
    ge::op::Relu elsewhere("elsewhere");
    twice.SetOutputs(std::vector<ge::Operator>{elsewhere});
    CHECK(Contains(Warning(), "elsewhere"));
    twice.SetOutputs(std::vector<std::pair<ge::Operator, std::vector<size_t>>>{{relu, {7}}});
    CHECK(Contains(Warning(), "no output 7"));
    twice.SetOutputs(std::vector<std::pair<ge::Operator, ge::AscendString>>{{relu, "z"}});
    CHECK(Contains(Warning(), "no output z"));
    ge::Operator none;
    none.SetInput("x", x).AddControlInput(x);
    none.SetAttr("a", 1);
    CHECK(none.IsEmpty() && none.GetInputsSize() == 0 && !Warning().empty());
    (void)Error();
  }
  // A link from several outputs is not made, and said; neither is one to what is not there.
  {
    ge::op::Data x = Input("x", 0, {2});
    ge::op::SoftmaxCrossEntropyWithLogits two("two");
    ge::op::Relu relu("relu");
    relu.set_input_x(two);
    CHECK(Contains(Warning(), "2 outputs"));
    relu.set_input_x(two, 5);
    CHECK(Contains(Warning(), "no output 5"));
    relu.set_input_x_by_name(two, "nothing");
    CHECK(Contains(Warning(), "nothing"));
    relu.SetInput("nowhere", x);
    CHECK(Contains(Warning(), "nowhere"));
    relu.SetInput(9u, x, 0u);
    CHECK(!Warning().empty());
    ge::op::ConcatD joined("joined");
    joined.create_dynamic_input_x(2).set_dynamic_input_x(5, x);
    CHECK(!Warning().empty());
    joined.create_dynamic_input_x(4000000000u);
    CHECK(Contains(Error(), "at most 65536"));
    int64_t value = 0;
    CHECK(relu.GetAttr("nothing", value) != ge::GRAPH_SUCCESS && Contains(Error(), "nothing"));
    CHECK(relu.GetInputDescByName("nothing").GetShape().GetDimNum() == 0);
    CHECK(relu.UpdateOutputDesc("nothing", ge::TensorDesc()) != ge::GRAPH_SUCCESS);
    (void)Error();
  }
}

void RunsThatAreNone(ge::Session &session) {
  const uint32_t graph = ++last;
  CHECK(session.AddGraph(graph, Small("small")) == ge::SUCCESS);
  const ge::Tensor good = Floats({2, 2}, {1, 0, 0, 1});
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraph(graph, {}, outputs) == ge::FAILED && Contains(Error(), "E13025") && outputs.empty());
  CHECK(session.RunGraph(graph, {good}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {1, 2, 3, 4}));
  CHECK(session.RunGraph(graph, {good, good}, outputs) == ge::FAILED && Contains(Error(), "E13025"));
  CHECK(session.RunGraph(graph, {Floats({1, 2}, {1, 2})}, outputs) == ge::FAILED && Contains(Error(), "was built for float32[2, 2]"));
  CHECK(session.RunGraph(graph, {ge::Tensor(Desc({2, 2}))}, outputs) == ge::FAILED && !Error().empty());
  CHECK(session.RunGraph(graph, {ge::Tensor()}, outputs) == ge::FAILED && !Error().empty());
  CHECK(session.RunGraph(graph, {ge::Tensor(Desc({2, -9}))}, outputs) == ge::FAILED && Contains(Error(), "E13025"));
  CHECK(session.RunGraph(graph, {Filled({2}, ge::DT_STRING, std::vector<char>(32))}, outputs) == ge::FAILED && !Error().empty());
  CHECK(session.RunGraph(graph, {ge::Tensor(Desc({INT64_MAX, INT64_MAX, 4}))}, outputs) == ge::FAILED && !Error().empty());

  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  Block x(std::vector<float>{1, 0, 0, 1}), y(std::vector<float>(4));
  std::vector<float> host(4);
  std::vector<ge::Tensor> one = {OnDevice(y, {2, 2})};
  const auto run = [&](std::vector<ge::Tensor> inputs) { return session.RunGraphWithStreamAsync(graph, stream, inputs, one); };
  CHECK(run({OnDevice(x, {2, 2})}) == ge::SUCCESS && aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  // Host memory for device memory, as input and as output; memory that was freed; too little of it; none.
  CHECK(run({OnDevice(host.data(), 16, {2, 2})}) == ge::FAILED && Contains(Error(), "device memory"));
  CHECK(run({OnDevice(x.address(), 8, {2, 2})}) == ge::FAILED && Contains(Error(), "8 bytes"));
  CHECK(run({OnDevice(static_cast<char *>(x.address()) + 8, 16, {2, 2})}) == ge::SUCCESS || !Error().empty());
  // Dimensions that change one by one leave the stated size behind: the memory itself has to be large enough.
  {
    ge::Tensor grown = OnDevice(x.address(), 8, {1, 2});
    CHECK(grown.SetShapeDim(0, 2) == ge::GRAPH_SUCCESS);
    CHECK(run({grown}) == ge::SUCCESS && aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(grown.SetData(static_cast<uint8_t *>(x.address()), 8, [](uint8_t *) {}) == ge::GRAPH_SUCCESS);
    CHECK(run({grown}) == ge::FAILED && Contains(Error(), "8 bytes"));
  }
  CHECK(run({ge::Tensor(Desc({2, 2}))}) == ge::FAILED && !Error().empty());
  CHECK(run({}) == ge::FAILED && Contains(Error(), "inputs"));
  void *gone = nullptr;
  CHECK(aclrtMalloc(&gone, 16, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS && aclrtFree(gone) == ACL_SUCCESS);
  CHECK(run({OnDevice(gone, 16, {2, 2})}) == ge::FAILED && Contains(Error(), "live device memory"));
  one = {OnDevice(host.data(), 16, {2, 2})};
  CHECK(run({OnDevice(x, {2, 2})}) == ge::FAILED && Contains(Error(), "output 0"));
  one = {OnDevice(y.address(), 4, {2, 2})};
  CHECK(run({OnDevice(x, {2, 2})}) == ge::FAILED && Contains(Error(), "output 0"));
  one = {OnDevice(y, {2, 2})};
  // Streams that are none, and one that is over.
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS);
  CHECK(run({OnDevice(x, {2, 2})}) == ge::FAILED && !Error().empty());
  stream = reinterpret_cast<aclrtStream>(static_cast<uintptr_t>(0x1234));
  CHECK(run({OnDevice(x, {2, 2})}) == ge::FAILED && !Error().empty());
  stream = &stream;
  CHECK(run({OnDevice(x, {2, 2})}) == ge::FAILED && !Error().empty());
}

void OptionsThatAreNone() {
  CHECK(ge::GEInitialize(Options({{"", "x"}})) == ge::FAILED && Contains(Error(), "E10059"));
  CHECK(ge::GEInitialize(Options({{"ge.exec.precision_mode", "whatever"}})) == ge::FAILED && Contains(Error(), "E10001"));
  CHECK(ge::GEInitialize(Options({{"ge.graphRunMode", "7"}})) == ge::FAILED && Contains(Error(), "E10001"));
  CHECK(ge::GEInitialize(Options({{"ge.autoTuneMode", "RL"}})) == ge::FAILED && Contains(Error(), "ge.autoTuneMode"));
  CHECK(ge::GEInitialize(Options({{"ge.exec.jobId", std::string(200, 'a').c_str()}})) == ge::FAILED && Contains(Error(), "E10001"));
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  CHECK(ge::GEInitialize(Options({{"unknown.option", "x"}})) == ge::SUCCESS && Contains(Warning(), "unknown.option"));
  CHECK(ge::GEInitialize(Options({{"ge.graphRunMode", "1"}})) == ge::SUCCESS && Contains(Warning(), "ignored"));
}

// Every byte of a saved graph, changed in several ways, and every length of it: what comes out is a graph or a refusal.
void DamagedFiles(ge::Session &session, const std::string &folder) {
  const std::string path = folder + "/graph.air";
  CHECK(Small("small").SaveToFile(path.c_str()) == ge::GRAPH_SUCCESS);
  const std::vector<char> bytes = ReadFile(path);
  ge::Graph whole("whole");
  CHECK(whole.LoadFromFile(path.c_str()) == ge::GRAPH_SUCCESS);
  std::vector<ge::Tensor> outputs;
  const uint32_t graph = ++last;
  CHECK(session.AddGraph(graph, whole) == ge::SUCCESS);
  CHECK(session.RunGraph(graph, {Floats({2, 2}, {1, 0, 0, 1})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {1, 2, 3, 4}));
  CHECK(ge::Graph("none").LoadFromFile((folder + "/nothing").c_str()) != ge::GRAPH_SUCCESS && Contains(Error(), "nothing"));
  size_t refused = 0, loaded = 0, ran = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    ge::Graph cut("cut");
    CHECK(cut.LoadFromMem(reinterpret_cast<const uint8_t *>(bytes.data()), at) != ge::GRAPH_SUCCESS);
    CHECK(!Error().empty());
    for (unsigned char flip : {0xff, 0x80, 0x01}) {
      std::vector<char> other = bytes;
      other[at] = static_cast<char>(static_cast<unsigned char>(other[at]) ^ flip);
      ge::Graph damaged("damaged");
      if (damaged.LoadFromMem(reinterpret_cast<const uint8_t *>(other.data()), other.size()) != ge::GRAPH_SUCCESS) {
        ++refused;
        CHECK(!Error().empty());
        continue;
      }
      ++loaded;
      // What was loaded may be built and run, or be refused then.
      const uint32_t number = ++last;
      if (session.AddGraph(number, damaged) == ge::SUCCESS) {
        ran += session.RunGraph(number, {Floats({2, 2}, {1, 0, 0, 1})}, outputs) == ge::SUCCESS;
        CHECK(session.RemoveGraph(number) == ge::SUCCESS);
      }
      (void)Error();
      (void)Warning();
    }
  }
  CHECK(refused > 0 && refused + loaded == 3 * bytes.size());
  std::printf("damaged: %zu bytes, %zu refused, %zu loaded, of these %zu ran\n", bytes.size(), refused, loaded, ran);
  // The same of an offline model: nothing loads but what was written.
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(Small("model"), Options(), model) == ge::GRAPH_SUCCESS);
  size_t taken = 0;
  for (size_t at = 0; at < model.length; at += 1 + model.length / 512) {
    std::vector<uint8_t> other(model.data.get(), model.data.get() + model.length);
    other[at] = static_cast<uint8_t>(other[at] ^ 0xff);
    uint32_t id = 0;
    if (aclmdlLoadFromMem(other.data(), other.size(), &id) == ACL_SUCCESS) {
      ++taken;
      CHECK(aclmdlUnload(id) == ACL_SUCCESS);
    }
    if (aclmdlLoadFromMem(other.data(), at, &id) == ACL_SUCCESS) {
      CHECK(false);
    }
  }
  std::printf("models: %zu of the changed ones were taken\n", taken);
}

void OfflineAndParsers(const std::string &folder) {
  ge::Graph graph("parsed");
  ge::ModelBufferData model;
  const Options none;
  CHECK(ge::aclgrphBuildModel(graph, none, model) != ge::GRAPH_SUCCESS && !Error().empty());
  CHECK(ge::aclgrphBuildModel(Small("small"), Options({{"unknown.option", "x"}}), model) != ge::GRAPH_SUCCESS && Contains(Error(), "unknown.option"));
  CHECK(ge::aclgrphBuildModel(Small("small"), Options({{"input_shape", "x:what"}}), model) != ge::GRAPH_SUCCESS && !Error().empty());
  CHECK(ge::aclgrphSaveModel("/no/such/folder/model", model) != ge::GRAPH_SUCCESS);
  CHECK(ge::aclgrphSaveModel(static_cast<const char *>(nullptr), model) != ge::GRAPH_SUCCESS);
  (void)Error();
  CHECK(ge::aclgrphParseONNX("/no/such/model.onnx", none, graph) != ge::GRAPH_SUCCESS && Contains(Error(), "/no/such/model.onnx"));
  CHECK(ge::aclgrphParseONNXFromMem("rubbish", 7, none, graph) != ge::GRAPH_SUCCESS && !Error().empty());
  CHECK(ge::aclgrphParseONNXFromMem("", 0, none, graph) != ge::GRAPH_SUCCESS && !Error().empty());
  CHECK(ge::aclgrphParseTensorFlow("model.pb", graph) != ge::GRAPH_SUCCESS && Contains(Error(), "ONNX"));
  CHECK(ge::aclgrphParseCaffe("model.prototxt", "model.caffemodel", graph) != ge::GRAPH_SUCCESS && Contains(Error(), "ONNX"));
  CHECK(ge::aclgrphDumpGraph(graph, nullptr, 0) != ge::GRAPH_SUCCESS);
  const std::string dump = folder + "/dump";
  CHECK(ge::aclgrphDumpGraph(Small("small"), dump.c_str(), dump.size()) == ge::GRAPH_SUCCESS);
  const std::vector<char> text = ReadFile(dump + ".txt");
  CHECK(Contains(std::string(text.begin(), text.end()), "product = MatMul"));
}

void AfterTheEnd(ge::Session *session) {
  std::vector<ge::Tensor> outputs;
  CHECK(session->RunGraph(1, {}, outputs) == ge::FAILED && Contains(Error(), "E10062"));
  CHECK(session->AddGraph(77, Small("late")) == ge::FAILED && Contains(Error(), "E10062"));
  CHECK(session->BuildGraph(1, std::vector<ge::Tensor>()) == ge::FAILED && session->RemoveGraph(1) == ge::FAILED);
  CHECK(session->CompileGraph(1) == ge::FAILED && session->GetCompiledGraphSummary(1) == nullptr);
  CHECK(session->RunGraphWithStreamAsync(1, nullptr, {}, outputs) == ge::FAILED);
  ge::Status heard = 0;
  CHECK(session->RunGraphAsync(1, {}, [&heard](ge::Status status, std::vector<ge::Tensor> &) { heard = status; }) == ge::FAILED);
  CHECK(heard == ge::FAILED && session->IsGraphNeedRebuild(1));
  std::vector<ge::Tensor> values;
  CHECK(session->GetVariables(std::vector<ge::AscendString>{"x"}, values) == ge::FAILED && values.empty());
  delete session;
  (void)Error();
}

// A graph of fixed shapes, and one whose first dimension varies.
void InputsOfOtherShapesAndTypes(ge::Session &session) {
  std::vector<ge::Tensor> outputs;
  const auto run = [&](uint32_t graph, const ge::Tensor &input) { return session.RunGraph(graph, {input}, outputs); };
  const ge::Tensor ints = Filled<int32_t>({2, 2}, ge::DT_INT32, {1, 2, 3, 4});
  CHECK(session.AddGraph(70, Small("fixed")) == ge::SUCCESS && run(70, Floats({2, 2}, {1, 2, 3, 4})) == ge::SUCCESS);
  for (const ge::Tensor &other : {Floats({2, 3}, {1, 2, 3, 4, 5, 6}), Floats({4}, {1, 2, 3, 4}), ints}) {
    CHECK(run(70, other) == ge::FAILED && Error().find("was built for") != std::string::npos);
  }
  CHECK(run(70, Floats({2, 2}, {1, 2, 3, 4})) == ge::SUCCESS);
  ge::op::Data x = Input("x", 0, {-1, 2});
  ge::op::Relu y("y");
  y.set_input_x(x);
  ge::Graph open("open");
  open.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{y});
  CHECK(session.AddGraph(71, open) == ge::SUCCESS && run(71, Floats({1, 2}, {1, 2})) == ge::SUCCESS);
  CHECK(run(71, Floats({3, 2}, {1, 2, 3, 4, 5, 6})) == ge::SUCCESS && outputs[0].GetShapeDim(0) == 3);
  for (const ge::Tensor &other : {Floats({3, 3}, std::vector<float>(9)), Floats({2}, {1, 2}), ints}) {
    CHECK(run(71, other) == ge::FAILED && Error().find("was built for") != std::string::npos);
  }
}

}  // namespace

int main(int, char **argv) {
  OptionsThatAreNone();
  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  ge::Session *session = new ge::Session(Options());
  CHECK(ge::GEInitialize(Options({{"ge.exec.deviceId", "77"}})) == ge::FAILED && Error().find("77") != std::string::npos);
  ge::Session bad(Options({{"ge.exec.deviceId", "minus one"}}));
  CHECK(Contains(Error(), "ge.exec.deviceId") && bad.AddGraph(1, Small("x")) == ge::FAILED);
  ge::Session far(Options({{"ge.session_device_id", "63"}}));
  CHECK(far.GetSessionId() == 0 && Contains(Error(), "63") && far.AddGraph(1, Small("x")) == ge::FAILED);
  (void)Error();
  std::vector<ge::Tensor> outputs;
  GraphsThatAreNone(*session);
  RunsThatAreNone(*session);
  InputsOfOtherShapesAndTypes(*session);
  DamagedFiles(*session, argv[1]);
  OfflineAndParsers(argv[1]);
  CHECK(session->ShardGraphs() == ge::FAILED && session->SaveGraphsToPb("x") == ge::FAILED);
  std::vector<ge::Tensor> values;
  CHECK(session->GetVariables(std::vector<ge::AscendString>{"unknown"}, values) == ge::FAILED && Contains(Error(), "unknown"));
  CHECK(ge::GEFinalize() == ge::SUCCESS && ge::GEFinalize() == ge::SUCCESS);
  AfterTheEnd(session);
  // And again from the beginning.
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  {
    ge::Session again((Options()));
    CHECK(again.AddGraph(1, Small("small")) == ge::SUCCESS);
    CHECK(again.RunGraph(1, {Floats({2, 2}, {1, 0, 0, 1})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {1, 2, 3, 4}));
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("misuse: ok\n");
  return 0;
}
