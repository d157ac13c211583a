/* Graphs by function calls: builders, tensors, and the nodes of generated functions. */
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "access.h"

namespace {

using ge::jumar::Fail;

const char *Named(const char *name, const char *other) { return name == nullptr || *name == '\0' ? other : name; }

void FailText(const std::string &text) { (void)Fail(text.c_str()); }

/* Reaches what operators' classes inherit. */
struct OpenOperator : ge::Operator {
  OpenOperator(const char *name, const char *type) : ge::Operator(name, type) {}
  using ge::Operator::InputRegister;
  using ge::Operator::OptionalInputRegister;
  using ge::Operator::OutputRegister;
};

/* Changes the description of an output of a node. */
template <typename F>
ge::Status Describe(const ge::GNode &node, int32_t index, const F &change) {
  ge::TensorDesc desc;
  if (node.GetOutputDesc(index, desc) != ge::GRAPH_SUCCESS) {
    return ge::FAILED;
  }
  change(desc);
  ge::GNode own = node;
  return own.UpdateOutputDesc(index, desc) == ge::GRAPH_SUCCESS ? ge::SUCCESS : ge::FAILED;
}

}  // namespace

struct EsCTensorHolder::Impl {
  EsCGraphBuilder *owner;
  ge::GNode producer;
  int32_t index;
};

EsCTensorHolder::EsCTensorHolder(EsCGraphBuilder &owner, const ge::GNode &producer, int32_t index)
    : impl_(new Impl{&owner, producer, index}) {}
EsCTensorHolder::~EsCTensorHolder() = default;
EsCTensorHolder::EsCTensorHolder(EsCTensorHolder &&) noexcept = default;
EsCTensorHolder &EsCTensorHolder::operator=(EsCTensorHolder &&) noexcept = default;
ge::Status EsCTensorHolder::SetDataType(const ge::DataType data_type) {
  return Describe(impl_->producer, impl_->index, [&](ge::TensorDesc &desc) { desc.SetDataType(data_type); });
}
ge::Status EsCTensorHolder::SetFormat(const ge::Format format) {
  return Describe(impl_->producer, impl_->index, [&](ge::TensorDesc &desc) {
    desc.SetFormat(format);
    desc.SetOriginFormat(format);
  });
}
ge::Status EsCTensorHolder::SetOriginFormat(const ge::Format format) { return SetFormat(format); }
ge::Status EsCTensorHolder::SetStorageFormat(const ge::Format format) { return SetFormat(format); }
ge::Status EsCTensorHolder::SetShape(const ge::Shape &shape) {
  return Describe(impl_->producer, impl_->index, [&](ge::TensorDesc &desc) {
    desc.SetShape(shape);
    desc.SetOriginShape(shape);
  });
}
ge::Status EsCTensorHolder::SetOriginShape(const ge::Shape &shape) { return SetShape(shape); }
ge::Status EsCTensorHolder::SetStorageShape(const ge::Shape &shape) { return SetShape(shape); }
ge::Status EsCTensorHolder::SetOriginSymbolShape(const char *const *, const int64_t) {
  return Fail("SetOriginSymbolShape is not supported: describe dimensions that are not known as -1, by SetShape");
}
ge::GNode &EsCTensorHolder::GetProducer() { return impl_->producer; }
int32_t EsCTensorHolder::GetOutIndex() const { return impl_->index; }
EsCGraphBuilder &EsCTensorHolder::GetOwnerBuilder() { return *impl_->owner; }

struct EsCGraphBuilder::Impl {
  explicit Impl(const char *own) : name(Named(own, "graph")), graph(new ge::Graph(name.c_str())) {}

  std::string name;
  std::unique_ptr<ge::Graph> graph;
  bool failed = false;
  /* How many names of a type were generated, and all names that are known. */
  std::map<std::string, uint64_t> counts;
  std::set<std::string> names;
  std::set<int64_t> inputs;
  std::map<int64_t, EsCTensorHolder *> outputs;
  /* Tensors stay valid until the builder is destroyed. */
  std::vector<std::unique_ptr<EsCTensorHolder>> tensors;
  std::vector<std::shared_ptr<void>> resources;
};

EsCGraphBuilder::EsCGraphBuilder() : EsCGraphBuilder("graph") {}
EsCGraphBuilder::EsCGraphBuilder(const char *name) : impl_(new Impl(name)) {}
EsCGraphBuilder::~EsCGraphBuilder() = default;
EsCGraphBuilder::EsCGraphBuilder(EsCGraphBuilder &&) noexcept = default;
EsCGraphBuilder &EsCGraphBuilder::operator=(EsCGraphBuilder &&) noexcept = default;
void EsCGraphBuilder::Keep(const std::shared_ptr<void> &resource) { impl_->resources.push_back(resource); }
void EsCGraphBuilder::MarkFailed() { impl_->failed = true; }
ge::Graph *EsCGraphBuilder::GetGraph() { return impl_->graph.get(); }

EsCTensorHolder *EsCGraphBuilder::GetTensorHolderFromNode(const ge::GNode &node, int32_t output_index) {
  impl_->tensors.emplace_back(new EsCTensorHolder(*this, node, output_index));
  return impl_->tensors.back().get();
}
std::vector<EsCTensorHolder *> *EsCGraphBuilder::CreateDynamicTensorHolderFromNode(const ge::GNode &node,
                                                                                   int32_t start_idx,
                                                                                   int32_t output_num) {
  std::unique_ptr<std::vector<EsCTensorHolder *>> all(new std::vector<EsCTensorHolder *>());
  for (int32_t at = 0; at < output_num; ++at) {
    all->push_back(GetTensorHolderFromNode(node, start_idx + at));
  }
  return AddResource(std::move(all));
}
ge::AscendString EsCGraphBuilder::GenerateNodeName(const ge::char_t *node_type) {
  const std::string type = Named(node_type, "node");
  for (;;) {
    const std::string name = type + "_" + std::to_string(impl_->counts[type]++);
    if (impl_->names.insert(name).second) {
      return ge::AscendString(name.c_str());
    }
  }
}
EsCTensorHolder *EsCGraphBuilder::AppendGraphInput(const ge::char_t *name, const ge::char_t *type) {
  return AddGraphInput(static_cast<int32_t>(impl_->inputs.size()), name, type);
}
EsCTensorHolder *EsCGraphBuilder::AddGraphInput(int32_t index, const ge::char_t *name, const ge::char_t *type,
                                                C_DataType data_type, C_Format format, const int64_t *dims,
                                                int64_t dim_num) {
  if (index < 0 || !impl_->inputs.insert(index).second) {
    FailText("input " + std::to_string(index) + " of graph " + impl_->name +
             (index < 0 ? ": an index is at least 0" : " exists already; give each input an index of its own"));
    MarkFailed();
    return nullptr;
  }
  const std::string own = Named(name, ("input_" + std::to_string(index)).c_str());
  (void)impl_->names.insert(own);
  ge::Operator op = ge::OperatorFactory::CreateOperator(own.c_str(), Named(type, "Data"));
  const ge::Shape shape(dims == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(dims, dims + dim_num));
  const ge::TensorDesc desc(shape, static_cast<ge::Format>(format), static_cast<ge::DataType>(data_type));
  (void)op.SetAttr("index", static_cast<int64_t>(index));
  (void)op.UpdateInputDesc("x", desc);
  (void)op.UpdateOutputDesc("y", desc);
  const ge::GNode node = impl_->graph->AddNodeByOp(op);
  ge::AscendString found;
  if (node.GetType(found) != ge::GRAPH_SUCCESS) {
    MarkFailed();
    return nullptr;
  }
  return GetTensorHolderFromNode(node, 0);
}
ge::Status EsCGraphBuilder::SetGraphOutput(EsCTensorHolder *tensor, int64_t output_index) {
  if (tensor == nullptr || &tensor->GetOwnerBuilder() != this || output_index < 0) {
    MarkFailed();
    FailText("output " + std::to_string(output_index) + " of graph " + impl_->name +
             (tensor == nullptr ? ": the tensor is null; an earlier call failed"
                                : output_index < 0 ? ": an index is at least 0"
                                                   : ": the tensor belongs to the builder of another graph"));
    return ge::FAILED;
  }
  impl_->outputs[output_index] = tensor;
  return ge::SUCCESS;
}
std::unique_ptr<ge::Graph> EsCGraphBuilder::BuildGraphAndReset() {
  std::unique_ptr<ge::Graph> graph(new ge::Graph(impl_->name.c_str()));
  std::swap(graph, impl_->graph);
  const bool failed = std::exchange(impl_->failed, false);
  const std::set<int64_t> inputs = std::exchange(impl_->inputs, std::set<int64_t>());
  const auto outputs = std::exchange(impl_->outputs, std::map<int64_t, EsCTensorHolder *>());
  impl_->counts.clear();
  impl_->names.clear();
  if (failed) {
    FailText("graph " + impl_->name + " cannot be built: a call for one of its nodes, inputs or outputs failed before");
    return nullptr;
  }
  if (!inputs.empty() && *inputs.rbegin() + 1 != static_cast<int64_t>(inputs.size())) {
    FailText("graph " + impl_->name + " has " + std::to_string(inputs.size()) +
             " inputs, and the highest index is " + std::to_string(*inputs.rbegin()) + "; number them from 0 without gaps");
    return nullptr;
  }
  if (outputs.empty() || outputs.rbegin()->first + 1 != static_cast<int64_t>(outputs.size())) {
    FailText("graph " + impl_->name + " has " + std::to_string(outputs.size()) +
             (outputs.empty() ? std::string(" outputs; set one by SetOutput")
                              : " outputs, and the highest index is " + std::to_string(outputs.rbegin()->first) +
                                    "; number them from 0 without gaps"));
    return nullptr;
  }
  std::vector<std::pair<ge::GNode, int32_t>> list;
  for (const auto &output : outputs) {
    list.emplace_back(output.second->GetProducer(), output.second->GetOutIndex());
  }
  return graph->SetOutputs(list) == ge::GRAPH_SUCCESS ? std::move(graph) : nullptr;
}

namespace ge {
namespace es {

struct JumarNode::Impl {
  Impl(const char *own, EsCGraphBuilder *builder)
      : owner(builder), type(own),
        name(builder == nullptr ? AscendString("") : builder->GenerateNodeName(own)), op(name.GetString(), own) {}

  bool Refuse(const std::string &why) {
    if (fine) {
      FailText("function Es" + type + ": " + why);
    }
    fine = false;
    return false;
  }
  void Link(EsCTensorHolder *tensor, const char *input) {
    if (owner != nullptr && &tensor->GetOwnerBuilder() != owner) {
      (void)Refuse(std::string("its input ") + input + " belongs to the builder of another graph");
    }
    edges.emplace_back(tensor, inputs);
  }

  EsCGraphBuilder *owner;
  std::string type;
  AscendString name;
  OpenOperator op;
  GNode node;
  bool fine = true;
  bool built = false;
  int32_t inputs = 0;
  std::vector<std::pair<EsCTensorHolder *, int32_t>> edges;
};

JumarNode::JumarNode(const char *type, EsCGraphBuilder *owner) : impl_(new Impl(type, owner)) {
  if (owner == nullptr) {
    (void)impl_->Refuse("no input belongs to a builder; give a tensor of a graph, or the builder");
  }
}
JumarNode::~JumarNode() = default;
EsCGraphBuilder *JumarNode::Owner() const { return impl_->owner; }

JumarNode &JumarNode::In(const char *name, EsCTensorHolder *tensor) {
  impl_->op.InputRegister(name);
  if (tensor == nullptr) {
    (void)impl_->Refuse(std::string("its input ") + name + " is null; an earlier call failed, or the input was left out");
  } else {
    impl_->Link(tensor, name);
  }
  impl_->inputs += 1;
  return *this;
}
JumarNode &JumarNode::InIfAny(const char *name, EsCTensorHolder *tensor) {
  impl_->op.OptionalInputRegister(name);
  if (tensor != nullptr) {
    impl_->Link(tensor, name);
  }
  impl_->inputs += 1;
  return *this;
}
JumarNode &JumarNode::Ins(const char *name, EsCTensorHolder **tensors, int64_t count) {
  if (count < 0 || (count > 0 && tensors == nullptr)) {
    (void)impl_->Refuse(std::string("its list of inputs ") + name + " is null, or its length is below 0");
    return *this;
  }
  impl_->op.DynamicInputRegister(name, static_cast<uint32_t>(count));
  for (int64_t at = 0; at < count; ++at) {
    if (tensors[at] == nullptr) {
      (void)impl_->Refuse(std::string("its input ") + name + std::to_string(at) + " is null; an earlier call failed");
    } else {
      impl_->Link(tensors[at], name);
    }
    impl_->inputs += 1;
  }
  return *this;
}
JumarNode &JumarNode::Out(const char *name) { return impl_->op.OutputRegister(name), *this; }
JumarNode &JumarNode::Outs(const char *name, int64_t count) {
  if (count < 0) {
    (void)impl_->Refuse(std::string("the number of its outputs ") + name + " is below 0");
    return *this;
  }
  return impl_->op.DynamicOutputRegister(name, static_cast<uint32_t>(count)), *this;
}
JumarNode &JumarNode::Int(const char *name, int64_t value) { return (void)impl_->op.SetAttr(name, value), *this; }
JumarNode &JumarNode::Float(const char *name, float value) { return (void)impl_->op.SetAttr(name, value), *this; }
JumarNode &JumarNode::Bool(const char *name, bool value) { return (void)impl_->op.SetAttr(name, value), *this; }
JumarNode &JumarNode::String(const char *name, const char *value) {
  return (void)impl_->op.SetAttr(name, AscendString(Named(value, ""))), *this;
}
JumarNode &JumarNode::Type(const char *name, C_DataType value) {
  return (void)impl_->op.SetAttr(name, static_cast<DataType>(value)), *this;
}
JumarNode &JumarNode::Tensor(const char *name, EsCTensor *value) {
  const std::unique_ptr<ge::Tensor> own(static_cast<ge::Tensor *>(value));
  if (own != nullptr) {
    (void)impl_->op.SetAttr(name, *own);
  }
  return *this;
}
JumarNode &JumarNode::ListInt(const char *name, const int64_t *values, int64_t count) {
  return (void)impl_->op.SetAttr(name, std::vector<int64_t>(values, values + count)), *this;
}
JumarNode &JumarNode::ListFloat(const char *name, const float *values, int64_t count) {
  return (void)impl_->op.SetAttr(name, std::vector<float>(values, values + count)), *this;
}
JumarNode &JumarNode::ListBool(const char *name, const bool *values, int64_t count) {
  return (void)impl_->op.SetAttr(name, std::vector<bool>(values, values + count)), *this;
}
JumarNode &JumarNode::ListString(const char *name, const char **values, int64_t count) {
  std::vector<AscendString> list;
  for (int64_t at = 0; at < count; ++at) {
    list.push_back(AscendString(Named(values[at], "")));
  }
  return (void)impl_->op.SetAttr(name, list), *this;
}
JumarNode &JumarNode::ListType(const char *name, const C_DataType *values, int64_t count) {
  std::vector<DataType> list;
  for (int64_t at = 0; at < count; ++at) {
    list.push_back(static_cast<DataType>(values[at]));
  }
  return (void)impl_->op.SetAttr(name, list), *this;
}
JumarNode &JumarNode::ListListInt(const char *name, const int64_t **values, int64_t count, const int64_t *inner) {
  std::vector<std::vector<int64_t>> list;
  for (int64_t at = 0; at < count; ++at) {
    list.push_back(std::vector<int64_t>(values[at], values[at] + inner[at]));
  }
  return (void)impl_->op.SetAttr(name, list), *this;
}
JumarNode &JumarNode::Graph(const char *name, EsCGraph *graph) {
  impl_->op.SubgraphRegister(name, false);
  impl_->op.SubgraphCountRegister(name, 1);
  const std::shared_ptr<ge::Graph> own(static_cast<ge::Graph *>(graph));
  if (own == nullptr) {
    (void)impl_->Refuse(std::string("its graph ") + name + " is null; the build of that graph failed");
    return *this;
  }
  return impl_->op.SetSubgraphBuilder(name, 0, [own]() { return *own; }), *this;
}
JumarNode &JumarNode::Graphs(const char *name, EsCGraph **graphs, int64_t count) {
  impl_->op.SubgraphRegister(name, true);
  impl_->op.SubgraphCountRegister(name, static_cast<uint32_t>(count));
  for (int64_t at = 0; at < count; ++at) {
    const std::shared_ptr<ge::Graph> own(static_cast<ge::Graph *>(graphs[at]));
    if (own == nullptr) {
      (void)impl_->Refuse(std::string("its graph ") + name + std::to_string(at) + " is null; the build of that graph failed");
      continue;
    }
    impl_->op.SetSubgraphBuilder(name, static_cast<uint32_t>(at), [own]() { return *own; });
  }
  return *this;
}

bool JumarNode::Build() {
  if (!impl_->fine) {
    if (impl_->owner != nullptr) {
      impl_->owner->MarkFailed();
    }
    return false;
  }
  ge::Graph *const graph = impl_->owner->GetGraph();
  impl_->node = graph->AddNodeByOp(impl_->op);
  AscendString type;
  bool good = impl_->node.GetType(type) == GRAPH_SUCCESS;
  for (const auto &edge : impl_->edges) {
    good = good && AddEdgeAndUpdatePeerDesc(*graph, edge.first->GetProducer(), edge.first->GetOutIndex(), impl_->node,
                                            edge.second) == GRAPH_SUCCESS;
  }
  if (!good) {
    impl_->owner->MarkFailed();
  }
  impl_->built = good;
  return good;
}
EsCTensorHolder *JumarNode::Output(int32_t index) {
  return impl_->built ? impl_->owner->GetTensorHolderFromNode(impl_->node, index) : nullptr;
}
EsCTensorHolder **JumarNode::Outputs(int32_t start, int64_t count) {
  return impl_->built ? impl_->owner->CreateDynamicTensorHolderFromNode(impl_->node, start, static_cast<int32_t>(count))->data()
                      : nullptr;
}

EsCGraphBuilder *EsTensorLike::GetOwnerBuilder() const { return ResolveBuilderImpl(tensor_.GetCTensorHolder()); }
EsTensorHolder EsTensorLike::ToTensorHolder(EsCGraphBuilder *graph) const {
  if (kind_ == kTensor || graph == nullptr) {
    return tensor_;
  }
  switch (kind_) {
    case kScalarInt: return EsCreateScalarInt64(graph, ints_[0]);
    case kScalarFloat: return EsCreateScalarFloat(graph, floats_[0]);
    case kVectorInt: return EsCreateVectorInt64(graph, ints_.data(), static_cast<int64_t>(ints_.size()));
    default: return EsCreateVectorFloat(graph, floats_.data(), static_cast<int64_t>(floats_.size()));
  }
}

namespace {

EsTensorHolder Pair(const char *type, const EsTensorHolder &a, const EsTensorHolder &b) {
  JumarNode node(type, ResolveBuilder(a.GetCTensorHolder(), b.GetCTensorHolder()));
  node.In("x1", a.GetCTensorHolder()).In("x2", b.GetCTensorHolder()).Out("y");
  (void)node.Build();
  return node.Output(0);
}

Status NoTensor(const char *function) {
  return Fail((std::string(function) + ": the tensor is null; an earlier call failed").c_str());
}

}  // namespace

EsTensorHolder EsTensorHolder::operator+(const EsTensorHolder &other) const { return Pair("Add", *this, other); }
EsTensorHolder EsTensorHolder::operator-(const EsTensorHolder &other) const { return Pair("Sub", *this, other); }
EsTensorHolder EsTensorHolder::operator*(const EsTensorHolder &other) const { return Pair("Mul", *this, other); }
EsTensorHolder EsTensorHolder::operator/(const EsTensorHolder &other) const { return Pair("Div", *this, other); }
EsTensorHolder &EsTensorHolder::SetDataType(const ge::DataType data_type) {
  return (void)EsSetDataType(tensor_, static_cast<C_DataType>(data_type)), *this;
}
EsTensorHolder &EsTensorHolder::SetFormat(const ge::Format format) {
  return (void)EsSetFormat(tensor_, static_cast<C_Format>(format)), *this;
}
EsTensorHolder &EsTensorHolder::SetShape(const std::vector<int64_t> &dims) {
  return (void)EsSetShape(tensor_, dims.data(), static_cast<int64_t>(dims.size())), *this;
}
EsTensorHolder &EsTensorHolder::SetOriginSymbolShape(const std::vector<const char *> &dims) {
  return (void)EsSetOriginSymbolShape(tensor_, dims.data(), static_cast<int64_t>(dims.size())), *this;
}
Status EsTensorHolder::SetAttr(const char *attr_name, int64_t value) { return EsSetInt64AttrForTensor(tensor_, attr_name, value); }
Status EsTensorHolder::SetAttr(const char *attr_name, const char *value) { return EsSetStringAttrForTensor(tensor_, attr_name, value); }
Status EsTensorHolder::SetAttr(const char *attr_name, bool value) { return EsSetBoolAttrForTensor(tensor_, attr_name, value); }
Status EsTensorHolder::SetAttrForNode(const char *attr_name, int64_t value) { return EsSetInt64AttrForNode(tensor_, attr_name, value); }
Status EsTensorHolder::SetAttrForNode(const char *attr_name, const char *value) { return EsSetStringAttrForNode(tensor_, attr_name, value); }
Status EsTensorHolder::SetAttrForNode(const char *attr_name, bool value) { return EsSetBoolAttrForNode(tensor_, attr_name, value); }
Status EsTensorHolder::AddControlEdge(const std::vector<EsTensorHolder> &ctrl_ins) const {
  std::vector<EsCTensorHolder *> list = TensorsToEsCTensorHolders(ctrl_ins);
  return EsAddControlEdge(tensor_, list.data(), static_cast<int64_t>(list.size()));
}
int32_t EsTensorHolder::GetProducerOutIndex() const { return tensor_ == nullptr ? -1 : tensor_->GetOutIndex(); }
GNode *EsTensorHolder::GetProducer() const { return tensor_ == nullptr ? nullptr : &tensor_->GetProducer(); }

EsGraphBuilder::EsGraphBuilder(const char *name) : builder_(new EsCGraphBuilder(name)) {}
EsTensorHolder EsGraphBuilder::CreateInput(int64_t index, const char *name, const char *type) {
  return builder_->AddGraphInput(static_cast<int32_t>(index), name, type);
}
EsTensorHolder EsGraphBuilder::CreateInput(int64_t index) {
  const int64_t unknown = -2;
  return builder_->AddGraphInput(static_cast<int32_t>(index), nullptr, nullptr, C_DT_FLOAT, C_FORMAT_ND, &unknown, 1);
}
EsTensorHolder EsGraphBuilder::CreateInput(int64_t index, const char *name) {
  const int64_t unknown = -2;
  return builder_->AddGraphInput(static_cast<int32_t>(index), name, nullptr, C_DT_FLOAT, C_FORMAT_ND, &unknown, 1);
}
EsTensorHolder EsGraphBuilder::CreateInput(int64_t index, const char *name, ge::DataType data_type, ge::Format format,
                                           const std::vector<int64_t> &shape) {
  return builder_->AddGraphInput(static_cast<int32_t>(index), name, nullptr, static_cast<C_DataType>(data_type),
                                 static_cast<C_Format>(format), shape.data(), static_cast<int64_t>(shape.size()));
}
std::vector<EsTensorHolder> EsGraphBuilder::CreateInputs(size_t inputs_num, size_t start_index) {
  std::vector<EsTensorHolder> all;
  for (size_t at = 0; at < inputs_num; ++at) {
    all.push_back(CreateInput(static_cast<int64_t>(start_index + at)));
  }
  return all;
}
#define JUMAR_ES_CONSTANTS_(Name, T)                                                                                \
  EsTensorHolder EsGraphBuilder::CreateConst(const std::vector<T> &value, const std::vector<int64_t> dims) {        \
    return ::EsCreateConst##Name(builder_.get(), value.data(), dims.data(), static_cast<int64_t>(dims.size()));     \
  }                                                                                                                 \
  EsTensorHolder EsGraphBuilder::CreateVector(const std::vector<T> &value) {                                        \
    return ::EsCreateVector##Name(builder_.get(), value.data(), static_cast<int64_t>(value.size()));                \
  }                                                                                                                 \
  EsTensorHolder EsGraphBuilder::CreateScalar(T value) { return ::EsCreateScalar##Name(builder_.get(), value); }
JUMAR_ES_CONSTANTS_(Int64, int64_t)
JUMAR_ES_CONSTANTS_(Int32, int32_t)
JUMAR_ES_CONSTANTS_(UInt64, uint64_t)
JUMAR_ES_CONSTANTS_(UInt32, uint32_t)
JUMAR_ES_CONSTANTS_(Float, float)
#undef JUMAR_ES_CONSTANTS_
EsTensorHolder EsGraphBuilder::CreateConst(std::unique_ptr<Tensor> tensor) {
  JumarNode node("Const", builder_.get());
  node.Out("y").Tensor("value", tensor == nullptr ? nullptr : new ge::Tensor(*tensor));
  if (node.Build() && tensor != nullptr) {
    EsTensorHolder holder = node.Output(0);
    (void)Describe(*holder.GetProducer(), 0, [&](TensorDesc &desc) { desc = tensor->GetTensorDesc(); });
    return holder;
  }
  return EsTensorHolder();
}
EsTensorHolder EsGraphBuilder::CreateVariable(int32_t index, const char *name) {
  return EsCreateVariable(builder_.get(), index, name);
}
Status EsGraphBuilder::SetAttr(const char *attr_name, int64_t value) { return EsSetInt64AttrForGraph(builder_.get(), attr_name, value); }
Status EsGraphBuilder::SetAttr(const char *attr_name, const char *value) { return EsSetStringAttrForGraph(builder_.get(), attr_name, value); }
Status EsGraphBuilder::SetAttr(const char *attr_name, bool value) { return EsSetBoolAttrForGraph(builder_.get(), attr_name, value); }
int64_t EsGraphBuilder::SetOutput(const EsTensorHolder &tensor, int64_t index) {
  return EsSetGraphOutput(tensor.GetCTensorHolder(), index);
}
std::unique_ptr<Graph> EsGraphBuilder::BuildAndReset() const { return builder_->BuildGraphAndReset(); }
std::unique_ptr<Graph> EsGraphBuilder::BuildAndReset(const std::vector<EsTensorHolder> &outputs) {
  for (size_t at = 0; at < outputs.size(); ++at) {
    (void)builder_->SetGraphOutput(outputs[at].GetCTensorHolder(), static_cast<int64_t>(at));
  }
  return builder_->BuildGraphAndReset();
}

struct CompliantNodeBuilder::Impl {
  TensorDesc &Output(const char_t *output) { return outputs[AscendString(output)]; }

  Graph *graph = nullptr;
  AscendString name;
  AscendString type;
  std::vector<IrInputDefV2> input_defs;
  std::vector<IrOutputDefV2> output_defs;
  std::vector<IrAttrDefV2> attr_defs;
  std::map<AscendString, int32_t> input_counts;
  std::map<AscendString, int32_t> output_counts;
  std::map<AscendString, TensorDesc> outputs;
};

CompliantNodeBuilder::CompliantNodeBuilder(ge::Graph *graph) : impl_(new Impl()) { impl_->graph = graph; }
CompliantNodeBuilder::~CompliantNodeBuilder() = default;
CompliantNodeBuilder::CompliantNodeBuilder(CompliantNodeBuilder &&) noexcept = default;
CompliantNodeBuilder &CompliantNodeBuilder::operator=(CompliantNodeBuilder &&) noexcept = default;
CompliantNodeBuilder &CompliantNodeBuilder::OpType(const char_t *type) { return impl_->type = AscendString(type), *this; }
CompliantNodeBuilder &CompliantNodeBuilder::Name(const char_t *name) { return impl_->name = AscendString(name), *this; }
CompliantNodeBuilder &CompliantNodeBuilder::IrDefInputsV2(const IrInputDefV2 *input_ir_def, size_t input_ir_def_num) {
  return impl_->input_defs.assign(input_ir_def, input_ir_def + input_ir_def_num), *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::IrDefOutputsV2(const IrOutputDefV2 *output_ir_def, size_t output_ir_def_num) {
  return impl_->output_defs.assign(output_ir_def, output_ir_def + output_ir_def_num), *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::IrDefAttrsV2(const IrAttrDefV2 *attr_ir_def, size_t attr_ir_def_num) {
  return impl_->attr_defs.assign(attr_ir_def, attr_ir_def + attr_ir_def_num), *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceDynamicInputNum(const char_t *ir_name, int32_t num) {
  return impl_->input_counts[AscendString(ir_name)] = num, *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceDynamicOutputNum(const char_t *ir_name, int32_t num) {
  return impl_->output_counts[AscendString(ir_name)] = num, *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputDataType(const char_t *name, ge::DataType data_type) {
  return impl_->Output(name).SetDataType(data_type), *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputShape(const char_t *name, const std::vector<int64_t> &shape) {
  impl_->Output(name).SetOriginShape(ge::Shape(shape));
  return impl_->Output(name).SetShape(ge::Shape(shape)), *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputOriginShape(const char_t *name, const std::vector<int64_t> &shape) {
  return InstanceOutputShape(name, shape);
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputStorageShape(const char_t *name, const std::vector<int64_t> &shape) {
  return InstanceOutputShape(name, shape);
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputFormat(const char_t *name, ge::Format format) {
  impl_->Output(name).SetOriginFormat(format);
  return impl_->Output(name).SetFormat(format), *this;
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputOriginFormat(const char_t *name, ge::Format format) {
  return InstanceOutputFormat(name, format);
}
CompliantNodeBuilder &CompliantNodeBuilder::InstanceOutputStorageFormat(const char_t *name, ge::Format format) {
  return InstanceOutputFormat(name, format);
}
ge::GNode CompliantNodeBuilder::Build() const {
  const std::string named = std::string("node ") + impl_->name.GetString() + " (" + impl_->type.GetString() + "): ";
  if (impl_->graph == nullptr || impl_->type.GetLength() == 0 || impl_->name.GetLength() == 0) {
    FailText(named + "CompliantNodeBuilder needs a graph, a type by OpType and a name by Name");
    return GNode();
  }
  OpenOperator op(impl_->name.GetString(), impl_->type.GetString());
  const auto count = [&](const std::map<AscendString, int32_t> &counts, const char_t *name, int32_t &found) {
    const auto at = counts.find(AscendString(name));
    if (at == counts.end() || at->second < 0) {
      FailText(named + name + " is dynamic; state how many there are by InstanceDynamicInputNum or InstanceDynamicOutputNum");
      return false;
    }
    found = at->second;
    return true;
  };
  int32_t number = 0;
  for (const IrInputDefV2 &def : impl_->input_defs) {
    if (def.GetInputType() == kEsIrInputDynamic) {
      if (!count(impl_->input_counts, def.GetName(), number)) {
        return GNode();
      }
      op.DynamicInputRegister(def.GetName(), static_cast<uint32_t>(number));
    } else if (def.GetInputType() == kEsIrInputOptional) {
      op.OptionalInputRegister(def.GetName());
    } else {
      op.InputRegister(def.GetName());
    }
  }
  for (const IrOutputDefV2 &def : impl_->output_defs) {
    if (def.GetOutputType() == kEsIrOutputDynamic) {
      if (!count(impl_->output_counts, def.GetName(), number)) {
        return GNode();
      }
      op.DynamicOutputRegister(def.GetName(), static_cast<uint32_t>(number));
    } else {
      op.OutputRegister(def.GetName());
    }
  }
  for (const IrAttrDefV2 &def : impl_->attr_defs) {
    /* An empty value leaves the default of the type. */
    if (!jumar::Access::Bytes(def.GetDefaultValue()).empty()) {
      AttrValue value = def.GetDefaultValue();
      (void)op.SetAttr(def.GetAttrName(), std::move(value));
    }
  }
  for (const auto &output : impl_->outputs) {
    if (op.UpdateOutputDesc(output.first.GetString(), output.second) != GRAPH_SUCCESS) {
      FailText(named + "it has no output " + output.first.GetString());
      return GNode();
    }
  }
  return impl_->graph->AddNodeByOp(op);
}

ge::graphStatus AddEdgeAndUpdatePeerDesc(Graph &graph, GNode &src_node, int32_t src_port_index, GNode &dst_node,
                                         int32_t dst_port_index) {
  TensorDesc desc;
  if (graph.AddDataEdge(src_node, src_port_index, dst_node, dst_port_index) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  return src_node.GetOutputDesc(src_port_index, desc) == GRAPH_SUCCESS ? dst_node.UpdateInputDesc(dst_port_index, desc)
                                                                       : GRAPH_FAILED;
}

}  // namespace es
}  // namespace ge

namespace {

/* Creates a constant of elements of T. */
template <typename T>
EsCTensorHolder *Constant(EsCGraphBuilder *graph, const T *value, const int64_t *dims, int64_t dim_num, C_DataType type) {
  if (graph == nullptr || dim_num < 0 || (dim_num > 0 && dims == nullptr)) {
    FailText("a constant needs a builder and a shape; one of them is null");
    return nullptr;
  }
  int64_t count = 1;
  for (int64_t at = 0; at < dim_num; ++at) {
    count *= dims[at] < 0 ? 0 : dims[at];
  }
  if (count > 0 && value == nullptr) {
    graph->MarkFailed();
    FailText("a constant of " + std::to_string(count) + " elements has no values: the pointer is null");
    return nullptr;
  }
  ge::es::JumarNode node("Const", graph);
  node.Out("y").Tensor("value", EsCreateEsCTensor(value, dims, dim_num, type, C_FORMAT_ND));
  if (!node.Build()) {
    return nullptr;
  }
  EsCTensorHolder *const holder = node.Output(0);
  (void)EsSetDataType(holder, type);
  (void)EsSetFormat(holder, C_FORMAT_ND);
  (void)EsSetShape(holder, dims, dim_num);
  return holder;
}

template <typename T>
uint32_t Attribute(EsCTensorHolder *tensor, const char *name, T value) {
  if (tensor == nullptr || name == nullptr) {
    return Fail("an attribute needs a tensor and a name; one of them is null");
  }
  return tensor->GetProducer().SetAttr(ge::AscendString(name), value) == ge::GRAPH_SUCCESS ? 0 : ge::FAILED;
}

uint32_t GraphAttribute(const EsCGraphBuilder *graph, const char *name) {
  return graph == nullptr || name == nullptr ? Fail("an attribute needs a builder and a name; one of them is null") : 0;
}

}  // namespace

extern "C" {

EsCGraphBuilder *EsCreateGraphBuilder(const char *name) { return new EsCGraphBuilder(name); }
void EsDestroyGraphBuilder(EsCGraphBuilder *graph) { delete graph; }
EsCGraph *EsBuildGraphAndReset(EsCGraphBuilder *graph) {
  return graph == nullptr ? nullptr : graph->BuildGraphAndReset().release();
}
EsCTensorHolder *EsCreateGraphInput(EsCGraphBuilder *graph, int64_t index) {
  const int64_t unknown = -2;
  return graph == nullptr ? nullptr
                          : graph->AddGraphInput(static_cast<int32_t>(index), nullptr, nullptr, C_DT_FLOAT,
                                                 C_FORMAT_ND, &unknown, 1);
}
EsCTensorHolder *EsCreateGraphInputWithDetails(EsCGraphBuilder *graph, int64_t index, const char *name, const char *type,
                                               C_DataType data_type, C_Format format, const int64_t *shape,
                                               int64_t dim_num) {
  return graph == nullptr ? nullptr
                          : graph->AddGraphInput(static_cast<int32_t>(index), name, type, data_type, format, shape, dim_num);
}
uint32_t EsSetGraphOutput(EsCTensorHolder *tensor, int64_t output_index) {
  return tensor == nullptr ? ge::es::NoTensor("EsSetGraphOutput")
                           : tensor->GetOwnerBuilder().SetGraphOutput(tensor, output_index);
}
#define JUMAR_ES_CONSTANTS_(Name, T, type)                                                                            \
  EsCTensorHolder *EsCreateConst##Name(EsCGraphBuilder *graph, const T *value, const int64_t *dims, int64_t dim_num) { \
    return Constant(graph, value, dims, dim_num, type);                                                               \
  }                                                                                                                   \
  EsCTensorHolder *EsCreateVector##Name(EsCGraphBuilder *graph, const T *value, int64_t dim) {                        \
    return Constant(graph, value, &dim, 1, type);                                                                     \
  }                                                                                                                   \
  EsCTensorHolder *EsCreateScalar##Name(EsCGraphBuilder *graph, T value) { return Constant(graph, &value, nullptr, 0, type); }
JUMAR_ES_CONSTANTS_(Int64, int64_t, C_DT_INT64)
JUMAR_ES_CONSTANTS_(Int32, int32_t, C_DT_INT32)
JUMAR_ES_CONSTANTS_(UInt64, uint64_t, C_DT_UINT64)
JUMAR_ES_CONSTANTS_(UInt32, uint32_t, C_DT_UINT32)
JUMAR_ES_CONSTANTS_(Float, float, C_DT_FLOAT)
#undef JUMAR_ES_CONSTANTS_
EsCTensorHolder *EsCreateVariable(EsCGraphBuilder *graph, int32_t index, const char *name) {
  if (graph == nullptr) {
    return nullptr;
  }
  const std::string own = Named(name, graph->GenerateNodeName("Variable").GetString());
  ge::Operator op = ge::OperatorFactory::CreateOperator(own.c_str(), "Variable");
  (void)op.SetAttr("index", static_cast<int64_t>(index));
  const ge::GNode node = graph->GetGraph()->AddNodeByOp(op);
  ge::AscendString type;
  if (node.GetType(type) != ge::GRAPH_SUCCESS) {
    graph->MarkFailed();
    return nullptr;
  }
  return graph->GetTensorHolderFromNode(node, 0);
}
EsCTensor *EsCreateEsCTensor(const void *data, const int64_t *dim, int64_t dim_num, C_DataType data_type,
                             C_Format format) {
  const std::vector<int64_t> dims(dim, dim + (dim == nullptr ? 0 : dim_num));
  const ge::TensorDesc desc(ge::Shape(dims), static_cast<ge::Format>(format), static_cast<ge::DataType>(data_type));
  int64_t count = 1;
  for (const int64_t one : dims) {
    count *= one;
  }
  const int64_t bytes = ge::GetSizeInBytes(count, static_cast<ge::DataType>(data_type));
  if (bytes < 0 || (bytes > 0 && data == nullptr)) {
    FailText("a tensor of " + std::to_string(count) + " elements of type " + std::to_string(data_type) +
             (bytes < 0 ? " has no size; describe all dimensions, and a type with a size" : " has no data: the pointer is null"));
    return nullptr;
  }
  return new ge::Tensor(desc, static_cast<const uint8_t *>(data), static_cast<size_t>(bytes));
}
EsCTensor *EsCreateEsCTensorFromFile(const char *data_file_path, const int64_t *dim, int64_t dim_num,
                                     C_DataType data_type, C_Format format) {
  std::ifstream file(Named(data_file_path, ""), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<int64_t> dims(dim, dim + (dim == nullptr ? 0 : dim_num));
  int64_t count = 1;
  for (const int64_t one : dims) {
    count *= one;
  }
  const int64_t wanted = ge::GetSizeInBytes(count, static_cast<ge::DataType>(data_type));
  if (!file.is_open() || wanted != static_cast<int64_t>(bytes.size())) {
    FailText(std::string("the file ") + Named(data_file_path, "(no name)") +
             (file.is_open() ? " has " + std::to_string(bytes.size()) + " bytes, and the tensor needs " + std::to_string(wanted)
                             : std::string(" cannot be opened")));
    return nullptr;
  }
  return EsCreateEsCTensor(bytes.data(), dim, dim_num, data_type, format);
}
uint32_t EsSetDataType(EsCTensorHolder *tensor, C_DataType data_type) {
  return tensor == nullptr ? ge::es::NoTensor("EsSetDataType") : tensor->SetDataType(static_cast<ge::DataType>(data_type));
}
uint32_t EsSetFormat(EsCTensorHolder *tensor, C_Format format) {
  return tensor == nullptr ? ge::es::NoTensor("EsSetFormat") : tensor->SetFormat(static_cast<ge::Format>(format));
}
uint32_t EsSetShape(EsCTensorHolder *tensor, const int64_t *shape, int64_t dim_num) {
  return tensor == nullptr ? ge::es::NoTensor("EsSetShape")
                           : tensor->SetShape(ge::Shape(std::vector<int64_t>(shape, shape + (shape == nullptr ? 0 : dim_num))));
}
uint32_t EsSetOriginSymbolShape(EsCTensorHolder *tensor, const char *const *shape, int64_t dim_num) {
  return tensor == nullptr ? ge::es::NoTensor("EsSetOriginSymbolShape") : tensor->SetOriginSymbolShape(shape, dim_num);
}
uint32_t EsAddControlEdge(EsCTensorHolder *dest_ctrl_tensor, EsCTensorHolder **src_ctrl_tensors,
                          int64_t ctrl_tensors_num) {
  if (dest_ctrl_tensor == nullptr || (ctrl_tensors_num > 0 && src_ctrl_tensors == nullptr)) {
    return ge::es::NoTensor("EsAddControlEdge");
  }
  EsCGraphBuilder &owner = dest_ctrl_tensor->GetOwnerBuilder();
  for (int64_t at = 0; at < ctrl_tensors_num; ++at) {
    if (src_ctrl_tensors[at] == nullptr ||
        owner.GetGraph()->AddControlEdge(src_ctrl_tensors[at]->GetProducer(), dest_ctrl_tensor->GetProducer()) !=
            ge::GRAPH_SUCCESS) {
      owner.MarkFailed();
      return src_ctrl_tensors[at] == nullptr ? ge::es::NoTensor("EsAddControlEdge") : ge::FAILED;
    }
  }
  return 0;
}
uint32_t EsSetInt64AttrForGraph(EsCGraphBuilder *graph, const char *attr_name, int64_t) { return GraphAttribute(graph, attr_name); }
uint32_t EsSetStringAttrForGraph(EsCGraphBuilder *graph, const char *attr_name, const char *) { return GraphAttribute(graph, attr_name); }
uint32_t EsSetBoolAttrForGraph(EsCGraphBuilder *graph, const char *attr_name, bool) { return GraphAttribute(graph, attr_name); }
uint32_t EsSetInt64AttrForTensor(EsCTensorHolder *tensor, const char *attr_name, int64_t value) { return Attribute(tensor, attr_name, value); }
uint32_t EsSetStringAttrForTensor(EsCTensorHolder *tensor, const char *attr_name, const char *value) {
  return Attribute(tensor, attr_name, ge::AscendString(Named(value, "")));
}
uint32_t EsSetBoolAttrForTensor(EsCTensorHolder *tensor, const char *attr_name, bool value) { return Attribute(tensor, attr_name, value); }
uint32_t EsSetInt64AttrForNode(EsCTensorHolder *tensor, const char *attr_name, int64_t value) { return Attribute(tensor, attr_name, value); }
uint32_t EsSetStringAttrForNode(EsCTensorHolder *tensor, const char *attr_name, const char *value) {
  return Attribute(tensor, attr_name, ge::AscendString(Named(value, "")));
}
uint32_t EsSetBoolAttrForNode(EsCTensorHolder *tensor, const char *attr_name, bool value) { return Attribute(tensor, attr_name, value); }
EsCGraphBuilder *EsGetOwnerBuilder(EsCTensorHolder *tensor) { return tensor == nullptr ? nullptr : &tensor->GetOwnerBuilder(); }
EsCNode *EsGetProducer(EsCTensorHolder *tensor) { return tensor == nullptr ? nullptr : &tensor->GetProducer(); }

}  // extern "C"
