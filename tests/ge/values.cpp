// Values, attributes, nodes and graphs by themselves: what is put in comes out.
#include <sstream>

#include "ge/ge_api_v2.h"
#include "ge/ge_utils.h"
#include "support.h"

namespace ge {
// A class of a program's own, with every way to declare.
REG_OP(OwnOperator)
    .INPUT(x, TensorType({DT_FLOAT32}))
    .OPTIONAL_INPUT(extra, "T")
    .DYNAMIC_INPUT(more, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .DYNAMIC_OUTPUT(z, TensorType::ALL())
    .ATTR(count, Int, 3)
    .ATTR(rate, Float, 0.5f)
    .ATTR(on, Bool, true)
    .ATTR(mode, String, "plain")
    .ATTR(type, Type, DT_INT8)
    .ATTR(shape, ListInt, {1, 2})
    .ATTR(rates, ListFloat, {})
    .ATTR(flags, ListBool, {true, false})
    .ATTR(lists, ListListInt, {{1}, {2, 3}})
    .ATTR(names, ListString, {"a", "b"})
    .REQUIRED_ATTR(tensor, Tensor)
    .DATATYPE(T, TensorType({DT_FLOAT, DT_INT8}))
    .OP_END_FACTORY_REG(OwnOperator)
}  // namespace ge

namespace {

// Reaches what operators' classes inherit.
struct Reach : ge::Operator {
  Reach() : ge::Operator("reach", "Reach") {
    InputRegister("a");
    OptionalInputRegister("b", "T");
    OutputRegister("y", "T");
    DynamicInputRegister("many", 2);
    DynamicInputRegister("typed", 1, "T", true);
    DynamicOutputRegister("outs", 3, "T", true);
    AttrRegister("level", static_cast<int64_t>(7));
    AttrRegister(std::string("text"), ge::AscendString("hello"));
    RequiredAttrWithTypeRegister("needed", "Int");
    DataTypeRegister("T", ge::TensorType({ge::DT_FLOAT}));
    DataTypeRegister("L", ge::ListTensorType(ge::TensorType(ge::DT_FLOAT)));
    DataTypeRegister("P", ge::Promote({"T", "L"}));
    SubgraphRegister("body", false);
    SubgraphCountRegister("body", 1);
  }
};

template <typename T>
void Keeps(const T &value) {
  ge::op::OwnOperator op("op");
  op.SetAttr("any", value);
  T found = T();
  CHECK(op.GetAttr("any", found) == ge::GRAPH_SUCCESS && found == value);
  ge::AttrValue kept = ge::AttrValue::CreateFrom<T>(value);
  T again = T(), third = T();
  CHECK(kept.GetAttrValue(again) == ge::GRAPH_SUCCESS && again == value);
  CHECK(kept.SetAttrValue(value) == ge::GRAPH_SUCCESS && kept.GetValue(third) == ge::GRAPH_SUCCESS && third == value);
  op.SetAttr("other", ge::AttrValue(kept));
  ge::AttrValue back;
  T fourth = T();
  CHECK(op.GetAttr("other", back) == ge::GRAPH_SUCCESS && back.GetAttrValue(fourth) == ge::GRAPH_SUCCESS && fourth == value);
}

void Attributes() {
  Keeps<int64_t>(-5);
  Keeps<float>(2.5f);
  Keeps<bool>(true);
  Keeps<ge::AscendString>("text");
  Keeps<ge::DataType>(ge::DT_BF16);
  Keeps<std::vector<int64_t>>({1, -2});
  Keeps<std::vector<float>>({1.5f});
  Keeps<std::vector<bool>>({true, false, true});
  Keeps<std::vector<ge::AscendString>>({"a", "", "c"});
  Keeps<std::vector<std::vector<int64_t>>>({{1}, {}, {2, 3}});
  Keeps<std::vector<ge::DataType>>({ge::DT_INT8, ge::DT_BOOL});
  Keeps<std::vector<uint8_t>>({0, 255, 7});
  ge::op::OwnOperator op("own");
  CHECK(op.get_attr_count() == 3 && op.get_attr_rate() == 0.5f && op.get_attr_on() && op.get_attr_mode() == "plain");
  CHECK(op.get_attr_type() == ge::DT_INT8 && op.get_attr_shape() == (std::vector<int64_t>{1, 2}) && op.get_attr_rates().empty());
  CHECK(op.get_attr_flags() == (std::vector<bool>{true, false}) && op.get_attr_lists().size() == 2);
  CHECK(op.get_attr_names() == (std::vector<std::string>{"a", "b"}) && op.name_attr_count() == "count");
  op.set_attr_mode("other").set_attr_count(9).set_attr_tensor(Floats({2}, {1, 2}));
  ge::AscendString mode;
  CHECK(op.get_attr_mode(mode) == ge::GRAPH_SUCCESS && mode == "other" && op.get_attr_count() == 9);
  CHECK(Near(Values<float>(op.get_attr_tensor()), {1, 2}));
  // A class that the library knows has the same defaults, and says what it consists of.
  ge::op::Conv2D known("known");
  CHECK(known.get_attr_data_format() == "NHWC" && known.get_attr_groups() == 1 && known.get_attr_dilations() == (std::vector<int64_t>{1, 1, 1, 1}));
  CHECK(known.GetInputsSize() == 4 && known.GetOutputsSize() == 1 && ge::op::BatchNorm("b").get_attr_is_training());
  ge::NamedAttrs named, found;
  named.SetName("inner");
  CHECK(named.SetAttr("k", ge::AttrValue::CreateFrom<int64_t>(4)) == ge::GRAPH_SUCCESS);
  op.SetAttr("named", named);
  ge::AscendString name;
  ge::AttrValue value;
  int64_t number = 0;
  CHECK(op.GetAttr("named", found) == ge::GRAPH_SUCCESS && found.GetName(name) == ge::GRAPH_SUCCESS && name == "inner");
  CHECK(found.GetAttr("k", value) == ge::GRAPH_SUCCESS && value.GetAttrValue(number) == ge::GRAPH_SUCCESS && number == 4);
  op.SetAttr("all", std::vector<ge::NamedAttrs>{named, named});
  std::vector<ge::NamedAttrs> all;
  CHECK(op.GetAttr("all", all) == ge::GRAPH_SUCCESS && all.size() == 2);
  float wrong = 0;
  CHECK(op.GetAttr("count", wrong) != ge::GRAPH_SUCCESS);
  Reach reach;
  ge::AscendString type;
  CHECK(reach.GetOpType(type) == ge::GRAPH_SUCCESS && type == "Reach");
  CHECK(reach.GetDynamicInputNum("many") == 2 && reach.GetDynamicOutputNum("outs") == 3 && reach.GetInputsSize() == 5);
  CHECK(reach.GetAttr("level", number) == ge::GRAPH_SUCCESS && number == 7);
  CHECK(ge::Promote({"A", "B"}).Syms().size() == 2);
  CHECK(ge::OperatorFactory::IsExistOp("Conv2D") && !ge::OperatorFactory::IsExistOp("Nothing"));
  ge::OperatorCreatorRegister registered("OwnOperator", [](const ge::AscendString &own) { return ge::op::OwnOperator(own); });
}

void Descriptions() {
  ge::Shape shape({2, 3});
  CHECK(shape.GetDim(1) == 3 && shape.SetDim(1, 5) == ge::GRAPH_SUCCESS && shape.GetShapeSize() == 10 && shape.SetDim(2, 1) != ge::GRAPH_SUCCESS);
  CHECK(ge::Shape().GetShapeSize() == 0 && ge::Shape({-1, 2}).GetShapeSize() == -1 && ge::Shape({-2}).GetDimNum() == 0);
  CHECK(ge::Shape({INT64_MAX, 4}).GetShapeSize() == 0);
  ge::TensorDesc desc, copy;
  desc.Update(shape, ge::FORMAT_NCHW, ge::DT_INT8);
  desc.SetOriginShape(ge::Shape({7}));
  desc.SetOriginFormat(ge::FORMAT_NHWC);
  desc.SetName("named");
  desc.SetSize(40);
  desc.SetRealDimCnt(2);
  CHECK(desc.SetShapeRange({{1, 2}, {3, 4}}) == ge::GRAPH_SUCCESS);
  copy = desc;
  copy.SetShape(ge::Shape({1}));
  copy.SetDataType(ge::DT_BOOL);
  copy.SetFormat(ge::FORMAT_ND);
  CHECK(desc.GetShape().GetDims() == (std::vector<int64_t>{2, 5}) && desc.GetDataType() == ge::DT_INT8 && desc.GetFormat() == ge::FORMAT_NCHW);
  ge::AscendString name;
  CHECK(desc.GetName(name) == ge::GRAPH_SUCCESS && name == "named" && desc.GetSize() == 40 && desc.GetRealDimCnt() == 2);
  CHECK(desc.GetOriginShape().GetDims()[0] == 7 && desc.GetOriginFormat() == ge::FORMAT_NHWC);
  // They come back from an operator as they went in.
  ge::op::Add add("add");
  CHECK(add.UpdateInputDesc("x1", desc) == ge::GRAPH_SUCCESS && add.UpdateOutputDesc("y", desc) == ge::GRAPH_SUCCESS);
  CHECK(add.GetInputDesc(0).GetOriginShape().GetDims()[0] == 7 && add.GetInputDescByName("x1").GetSize() == 40);
  ge::TensorDesc tried;
  CHECK(add.TryGetInputDesc("x1", tried) == ge::GRAPH_SUCCESS && tried.GetDataType() == ge::DT_INT8 && add.TryGetInputDesc("no", tried) != ge::GRAPH_SUCCESS);
  CHECK(add.GetOutputDesc(0).GetRealDimCnt() == 2 && add.GetOutputDescByName("y").GetName() == "named");
  CHECK(ge::GetSizeByDataType(ge::DT_BF16) == 2 && ge::GetSizeInBytes(3, ge::DT_INT4) == 2 && ge::GetSizeInBytes(-1, ge::DT_FLOAT) == -1);
  CHECK(std::string(ge::GetFormatName(ge::FORMAT_NC1HWC0)) == "NC1HWC0");

  ge::Tensor tensor = Floats({2}, {1, 2});
  CHECK(tensor.GetShapeDimNum() == 1 && tensor.GetShapeDim(0) == 2 && tensor.GetDataType() == ge::DT_FLOAT);
  ge::Tensor clone = tensor.Clone(), handle = tensor;
  handle.GetData()[0] = 0x7f;
  CHECK(tensor.GetData()[0] == 0x7f && clone.GetData()[0] != 0x7f);
  CHECK(tensor.SetFormat(ge::FORMAT_NCHW) == ge::GRAPH_SUCCESS && tensor.GetFormat() == ge::FORMAT_NCHW);
  CHECK(tensor.SetDataType(ge::DT_INT32) == ge::GRAPH_SUCCESS && tensor.SetTensorDesc(Desc({1})) == ge::GRAPH_SUCCESS);
  CHECK(tensor.SetPlacement(ge::kPlacementDevice) == ge::GRAPH_SUCCESS && tensor.GetPlacement() == ge::kPlacementDevice);
  int freed = 0;
  {
    uint8_t own[8] = {};
    ge::Tensor adopted;
    CHECK(adopted.SetData(own, 8, [&freed](uint8_t *) { ++freed; }) == ge::GRAPH_SUCCESS);
    std::unique_ptr<uint8_t[], ge::Tensor::DeleteFunc> released = adopted.ResetData();
    CHECK(adopted.GetSize() == 0 && freed == 0 && released.get() == own);
  }
  CHECK(freed == 1 && tensor.SetData(nullptr, 4) != ge::GRAPH_SUCCESS);
  CHECK(tensor.SetData(std::vector<ge::AscendString>{"ab", "c"}) == ge::GRAPH_SUCCESS && tensor.GetSize() == 32 + 3 + 2);
  const ge::AscendString text("abc", 2);
  CHECK(text.GetLength() == 2 && text == "ab" && ge::AscendString().GetString()[0] == '\0' && ge::AscendString("a") < text);
  ge::ErrorNoRegisterar own_error(4711, "of our own");
  ge::StatusFactory::Instance()->RegisterErrorNo(4712, "another");
  CHECK(ge::StatusFactory::Instance()->GetErrDesc(4711) == "of our own" && ge::StatusFactory::Instance()->GetErrDescV2(4712) == "another");
}

void RuntimeTensors() {
  gert::Shape shape({2, 3});
  shape.AppendDim(4);
  CHECK(shape.GetDimNum() == 3 && shape.GetShapeSize() == 24 && shape.GetDim(2) == 4 && shape[0] == 2);
  shape.SetDim(4, 9);
  shape.SetDimNum(3);
  CHECK(shape == gert::Shape({2, 3, 4}) && shape != gert::Shape({2, 3}));
  shape.SetScalar();
  CHECK(shape.IsScalar() && shape.GetShapeSize() == 1);
  gert::ExpandDimsType expand("1001"), other;
  CHECK(expand.GetFullSize() == 4 && expand.IsExpandIndex(0) && !expand.IsExpandIndex(1) && !(expand == other));
  gert::Shape expanded;
  CHECK(expand.Expand(gert::Shape({5, 6}), expanded) == ge::GRAPH_SUCCESS && expanded == gert::Shape({1, 5, 6, 1}));
  other.SetExpandIndex(2);
  CHECK(other.IsExpandIndex(2));
  gert::StorageFormat format(ge::FORMAT_NCHW, ge::FORMAT_NC1HWC0, expand);
  CHECK(format.GetOriginFormat() == ge::FORMAT_NCHW && format.GetStorageFormat() == ge::FORMAT_NC1HWC0 && format.GetExpandDimsType() == expand);
  format.SetExpandDimsType(other);
  format.MutableExpandDimsType() = expand;
  CHECK(format != gert::StorageFormat());
  gert::StorageShape both({1, 2}, {2, 1});
  both.MutableOriginShape() = gert::Shape({3});
  both.MutableShape() = gert::Shape({4});
  CHECK(both.GetOriginShape() == gert::Shape({3}) && both.GetStorageShape() == gert::Shape({4}) && both == both);
  float values[2] = {1, 2};
  gert::Tensor tensor({{2}, {2}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, gert::kOnHost, ge::DT_FLOAT, values);
  CHECK(tensor.GetData<float>()[1] == 2 && tensor.GetShapeSize() == 2 && tensor.GetSize() == 0 && tensor.GetVersion() == gert::kTensorV1);
  tensor.SetStorageFormat(ge::FORMAT_NCHW);
  tensor.SetOriginFormat(ge::FORMAT_NHWC);
  tensor.SetExpandDimsType(expand);
  tensor.SetDataType(ge::DT_INT32);
  CHECK(tensor.GetStorageFormat() == ge::FORMAT_NCHW && tensor.GetOriginFormat() == ge::FORMAT_NHWC && tensor.GetExpandDimsType() == expand);
  CHECK(tensor.GetDataType() == ge::DT_INT32 && tensor.GetFormat().GetStorageFormat() == ge::FORMAT_NCHW && tensor.MutableFormat() == tensor.GetFormat());
  tensor.MutableStorageShape() = gert::Shape({1});
  tensor.MutableOriginShape() = gert::Shape({1});
  CHECK(tensor.GetOriginShape() == tensor.GetStorageShape());
  size_t total = 0;
  std::unique_ptr<uint8_t[]> block = gert::Tensor::CreateFollowing(4, ge::DT_FLOAT, total);
  gert::Tensor *following = reinterpret_cast<gert::Tensor *>(block.get());
  CHECK(total == sizeof(gert::Tensor) + 16 && following->GetSize() == 16 && static_cast<uint8_t *>(following->GetAddr()) == block.get() + sizeof(gert::Tensor));
  CHECK(gert::Tensor::CreateFollowing(-1, ge::DT_FLOAT, total) == nullptr);
  CHECK(tensor.MutableTensorData().SetAddr(values, nullptr) == ge::GRAPH_SUCCESS);
  gert::TensorAddrManager manager = nullptr;
  CHECK(tensor.MutableTensorData().Release(manager) == values && tensor.GetAddr() == nullptr);
  typedef gert::TensorPlacementUtils Where;
  CHECK(Where::IsOnDevice(gert::kOnDeviceP2p) && Where::IsOnHost(gert::kFollowing) && Where::IsOnHostFollowing(gert::kFollowing));
  CHECK(Where::IsOnHostNotFollowing(gert::kOnHost) && Where::IsOnDeviceHbm(gert::kOnDeviceHbm) && Where::IsOnDeviceP2p(gert::kOnDeviceP2p));
}

void Nodes() {
  ge::op::Data x = Input("x", 0, {2, 2});
  ge::op::Const w = Constant("w", {2, 2}, {1, 2, 3, 4});
  ge::op::MatMul product("product");
  product.set_input_x1(x).set_input_x2(w);
  ge::op::Relu relu("relu");
  relu.set_input_x(product);
  CHECK(product.InferShapeAndType() == ge::GRAPH_SUCCESS && product.GetOutputDesc(0).GetShape().GetDims() == (std::vector<int64_t>{2, 2}));
  ge::Graph graph("graph");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{relu}).SetTargets({relu});
  ge::op::Relu loose("loose");
  ge::Operator found;
  CHECK(graph.AddOp(loose) == ge::GRAPH_SUCCESS && graph.FindOpByName("loose", found) == ge::GRAPH_SUCCESS);
  std::vector<ge::AscendString> names;
  CHECK(graph.GetAllOpName(names) == ge::GRAPH_SUCCESS && names.size() == 1);
  std::vector<ge::Operator> relus;
  CHECK(graph.FindOpByType("Relu", relus) == ge::GRAPH_SUCCESS && relus.size() == 2);
  CHECK(graph.GetAllNodes().size() == 4 && graph.GetDirectNode().size() == 4);
  for (ge::GNode node : graph.GetAllNodes()) {
    ge::AscendString name, type;
    CHECK(node.GetName(name) == ge::GRAPH_SUCCESS && node.GetType(type) == ge::GRAPH_SUCCESS);
    if (name == "product") {
      int32_t index = -1;
      ge::Tensor constant;
      ge::TensorDesc desc;
      CHECK(node.GetInDataNodesAndPortIndexs(0).first != nullptr && node.GetOutDataNodesAndPortIndexs(0).size() == 1);
      CHECK(node.GetInputConstData(1, constant) == ge::GRAPH_SUCCESS && Near(Values<float>(constant), {1, 2, 3, 4}));
      CHECK(node.GetInputIndexByName("x2", index) == ge::GRAPH_SUCCESS && index == 1);
      CHECK(node.GetOutputIndexByName("y", index) == ge::GRAPH_SUCCESS && index == 0 && node.GetOutputsSize() == 1);
      CHECK(node.GetInputDesc(1, desc) == ge::GRAPH_SUCCESS && node.UpdateInputDesc(1, desc) == ge::GRAPH_SUCCESS && node.GetOutputDesc(0, desc) == ge::GRAPH_SUCCESS);
      int64_t value = 3, back = 0;
      CHECK(node.SetAttr("k", value) == ge::GRAPH_SUCCESS && node.HasAttr("k") && node.GetAttr("k", back) == ge::GRAPH_SUCCESS && back == 3);
      bool supported = false;
      ge::AscendString reason;
      CHECK(ge::GeUtils::CheckNodeSupportOnAicore(node, supported, reason) == ge::SUCCESS && supported);
    }
  }
  // A node is put in between, and the graph is as it was changed.
  ge::GNodePtr last = graph.FindNodeByName("relu"), before = graph.FindNodeByName("product");
  ge::op::Neg neg("neg");
  ge::GNode node = graph.AddNodeByOp(neg);
  CHECK(graph.RemoveEdge(*before, 0, *last, 0) == ge::GRAPH_SUCCESS && graph.AddDataEdge(*before, 0, node, 0) == ge::GRAPH_SUCCESS);
  CHECK(graph.AddDataEdge(node, 0, *last, 0) == ge::GRAPH_SUCCESS && graph.AddDataEdge(node, 0, *last, 0) != ge::GRAPH_SUCCESS);
  CHECK(graph.AddControlEdge(*before, *last) == ge::GRAPH_SUCCESS && graph.RemoveEdge(*before, -1, *last, -1) == ge::GRAPH_SUCCESS);
  CHECK(ge::GeUtils::InferShape(graph, {ge::Shape({5, 2})}) == ge::SUCCESS && neg.GetOutputDesc(0).GetShape().GetDims()[0] == 5);
  CHECK(ge::GeUtils::InferShape(graph, {ge::Shape({5, 3})}) != ge::SUCCESS);
  std::ostringstream text;
  CHECK(graph.Dump(ge::Graph::DumpFormat::kTxt, text) == ge::GRAPH_SUCCESS && Contains(text.str(), "neg = Neg(x=product:0)"));
  CHECK(graph.DumpToFile(ge::Graph::DumpFormat::kReadable, "shown") == ge::GRAPH_SUCCESS && !ReadFile("ge_graph_shown.txt").empty());
  ge::GraphBuffer bytes;
  ge::Graph loaded("loaded"), copied("copied");
  CHECK(graph.SaveToMem(bytes) == ge::GRAPH_SUCCESS && loaded.LoadFromMem(bytes) == ge::GRAPH_SUCCESS && copied.CopyFrom(graph) == ge::GRAPH_SUCCESS);
  ge::AscendString name;
  CHECK(copied.GetName(name) == ge::GRAPH_SUCCESS && name == "copied" && copied.CopyFrom(graph) != ge::GRAPH_SUCCESS);
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  uint32_t number = 0;
  for (const ge::Graph &one : {graph, loaded, copied}) {
    CHECK(session.AddGraph(++number, one) == ge::SUCCESS);
    CHECK(session.RunGraph(number, {Floats({2, 2}, {-1, 0, 0, 1})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {1, 2, 0, 0}));
  }
  CHECK(copied.RemoveNode(node) != ge::GRAPH_SUCCESS && graph.RemoveNode(node) == ge::GRAPH_SUCCESS);
  relu.BreakConnect();
  ge::Graph several("several");
  ge::op::Data a = Input("a", 0, {2});
  ge::op::Identity identity("identity");
  identity.set_input_x(a);
  CHECK(ge::Graph::ConstructFromInputs({a}, "made") != nullptr);
  // All numbers of inputs the same: they are renumbered as they were found.
  ge::op::Data first = Input("first", 0, {1}), second = Input("second", 0, {1});
  ge::op::Sub sub("sub");
  sub.set_input_x1(first).set_input_x2(second);
  several.SetInputs({first, second}).SetOutputs(std::vector<std::pair<ge::Operator, std::vector<size_t>>>{{sub, {}}, {sub, {0, 0}}});
  CHECK(session.AddGraph(++number, several) == ge::SUCCESS);
  CHECK(session.RunGraph(number, {Floats({1}, {5}), Floats({1}, {3})}, outputs) == ge::SUCCESS && outputs.size() == 3);
  CHECK(Values<float>(outputs[2])[0] == 2);
}

void Bundles() {
  std::vector<ge::GraphWithOptions> list(2);
  for (int at = 0; at < 2; ++at) {
    ge::op::Data x = Input("x", 0, {2});
    ge::op::Muls muls("muls");
    muls.set_input_x(x).set_attr_value(static_cast<float>(at + 2));
    list[static_cast<size_t>(at)].graph = ge::Graph("one");
    list[static_cast<size_t>(at)].graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{muls});
  }
  ge::ModelBufferData bundle;
  CHECK(ge::aclgrphBundleBuildModel(list, bundle) == ge::GRAPH_SUCCESS && ge::aclgrphBundleSaveModel("two", bundle) == ge::GRAPH_SUCCESS);
  CHECK(ReadFile("two.om").size() == bundle.length);
  CHECK(ge::aclgrphBundleBuildModel({}, bundle) != ge::GRAPH_SUCCESS);
  CHECK(ge::GEGetErrorMsgV3().GetLength() > 0 && ge::GEGetErrorMsgV3().GetLength() == 0);
  uint32_t id = 0;
  size_t count = 0;
  CHECK(aclmdlBundleLoadFromFile("two.om", &id) == ACL_SUCCESS && aclmdlBundleGetModelNum(id, &count) == ACL_SUCCESS && count == 2);
  CHECK(aclmdlBundleUnload(id) == ACL_SUCCESS);
  CHECK(list[0].graph.SaveToFile("one.air") == ge::GRAPH_SUCCESS);
  ge::aclmdlModel *model = nullptr;
  ge::ModelBufferData bytes;
  CHECK(ge::aclgrphBuildModelFromFile("one.air", Options(), &model) == ge::GRAPH_SUCCESS);
  CHECK(ge::aclgrphSaveModelToBuffer(bytes, model) == ge::GRAPH_SUCCESS && bytes.length > 0 && ge::aclgrphSaveModel("one", model) == ge::GRAPH_SUCCESS);
  CHECK(ge::aclgrphDestroyModel(model) == ge::GRAPH_SUCCESS);
}

// What is left of the variance of equal values behind a square root may be below 0.
void AVarianceIsNeverNegative() {
  ge::op::Data x = Input("x", 0, {2, 5});
  ge::op::Const gamma = Constant("gamma", {5}, {1, 1, 1, 1, 1}), beta = Constant("beta", {5}, {0, 0, 0, 0, 0});
  ge::op::LayerNorm y("y");
  y.set_input_x(x).set_input_gamma(gamma).set_input_beta(beta);
  y.set_attr_begin_norm_axis(1).set_attr_begin_params_axis(1);
  ge::Graph graph("variance");
  graph.SetInputs({x}).SetOutputs(std::vector<std::pair<ge::Operator, std::vector<size_t>>>{{y, {0, 1, 2}}});
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  {
    ge::Session session((Options()));
    std::vector<ge::Tensor> outputs;
    CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
    CHECK(session.RunGraph(1, {Floats({2, 5}, std::vector<float>(10, 0.3f))}, outputs) == ge::SUCCESS);
    for (float variance : Values<float>(outputs[2])) {
      CHECK(variance >= 0 && variance < 1e-12f);
    }
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
}

}  // namespace

int main() {
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS && aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  Attributes();
  Descriptions();
  RuntimeTensors();
  Nodes();
  Bundles();
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  AVarianceIsNeverNegative();
  std::printf("values: ok\n");
  return 0;
}
