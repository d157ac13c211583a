/* Graphs and their nodes. */
#include <string>

#include "access.h"

namespace ge {

struct GNode::Impl {
  Operator op;
};

GNode::GNode() : impl_(std::make_shared<Impl>()) {}

struct GraphBuffer::Impl {
  std::vector<uint8_t> bytes;
};

GraphBuffer::GraphBuffer() : impl_(std::make_shared<Impl>()) {}
GraphBuffer::~GraphBuffer() = default;
const std::uint8_t *GraphBuffer::GetData() const { return impl_->bytes.data(); }
std::size_t GraphBuffer::GetSize() const { return impl_->bytes.size(); }

namespace jumar {

uint64_t Access::Id(const GNode &node) { return Id(node.impl_->op); }
Operator Access::OperatorOf(const GNode &node) { return node.impl_->op; }
Graph Access::GraphOf(uint64_t id) {
  Graph graph;
  graph.handle_ = std::make_shared<Handle>(CallId::kGraphRelease, id);
  return graph;
}
GNode Access::NodeOf(uint64_t id) {
  GNode node;
  Take(node.impl_->op, id);
  return node;
}
void Access::Create(Graph &graph, const char *name) {
  graph.handle_ = std::make_shared<Handle>(CallId::kGraphRelease, Number(CallId::kGraphNew, Message().Text(name)));
}
void Access::CreateIfEmpty(Graph &graph) {
  if (graph.handle_ == nullptr) {
    Create(graph, "graph");
  }
}
void Access::SetBytes(GraphBuffer &buffer, const void *bytes, size_t size) {
  const uint8_t *from = static_cast<const uint8_t *>(bytes);
  buffer.impl_->bytes.assign(from, from + size);
}

namespace {

/* Starts the message of SetOutputs: after the count, the output indexes and the name, if any, of each operator. */
Message Outputs(const Graph &graph, size_t count) { return About(graph).U64(count); }

std::vector<GNodePtr> Controls(const GNode &node, uint64_t before) {
  std::vector<GNodePtr> all;
  Reply reply;
  if (Call(CallId::kOpControls, About(node).U64(before), reply) == 0) {
    for (uint64_t left = reply.U64(); left > 0; --left) {
      all.push_back(std::make_shared<GNode>(Access::NodeOf(reply.U64())));
    }
  }
  return all;
}

/* Finds the index of a named input or output. */
graphStatus IndexOf(const GNode &node, const AscendString &name, int32_t &index, bool input) {
  Reply reply;
  if (Call(CallId::kOpInfo, About(node), reply) != 0) {
    return GRAPH_FAILED;
  }
  (void)reply.Text();
  (void)reply.Text();
  for (int list = 0; list < 2; ++list) {
    const uint64_t count = reply.U64();
    for (uint64_t at = 0; at < count; ++at) {
      if (reply.Text() == name && (list == 0) == input) {
        index = static_cast<int32_t>(at);
        return GRAPH_SUCCESS;
      }
    }
  }
  return GRAPH_FAILED;
}

}  // namespace
}  // namespace jumar

using jumar::About;
using jumar::Access;
using jumar::CallId;
using jumar::Did;
using jumar::Message;
using jumar::Reply;

graphStatus GNode::GetType(AscendString &type) const { return impl_->op.GetOpType(type); }
graphStatus GNode::GetName(AscendString &name) const { return impl_->op.GetName(name); }
std::pair<GNodePtr, int32_t> GNode::GetInDataNodesAndPortIndexs(const int32_t index) const {
  Reply reply;
  if (index < 0 || jumar::Call(CallId::kOpProducer, About(*this).Int(index), reply) != 0) {
    return std::make_pair(GNodePtr(), -1);
  }
  const uint64_t id = reply.U64();
  if (id == 0) {
    return std::make_pair(GNodePtr(), -1);
  }
  return std::make_pair(std::make_shared<GNode>(Access::NodeOf(id)), static_cast<int32_t>(reply.U64()));
}
std::vector<std::pair<GNodePtr, int32_t>> GNode::GetOutDataNodesAndPortIndexs(const int32_t index) const {
  std::vector<std::pair<GNodePtr, int32_t>> all;
  Reply reply;
  if (index < 0 || jumar::Call(CallId::kOpConsumers, About(*this).Int(index), reply) != 0) {
    return all;
  }
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const uint64_t id = reply.U64();
    all.push_back(std::make_pair(std::make_shared<GNode>(Access::NodeOf(id)), static_cast<int32_t>(reply.U64())));
  }
  return all;
}
std::vector<GNodePtr> GNode::GetInControlNodes() const { return jumar::Controls(*this, 1); }
std::vector<GNodePtr> GNode::GetOutControlNodes() const { return jumar::Controls(*this, 0); }
graphStatus GNode::GetInputConstData(const int32_t index, Tensor &data) const {
  const GNodePtr source = GetInDataNodesAndPortIndexs(index).first;
  return source == nullptr ? GRAPH_FAILED : source->GetAttr(AscendString("value"), data);
}
graphStatus GNode::GetInputIndexByName(const AscendString &name, int32_t &index) {
  return jumar::IndexOf(*this, name, index, true);
}
graphStatus GNode::GetOutputIndexByName(const AscendString &name, int32_t &index) {
  return jumar::IndexOf(*this, name, index, false);
}
size_t GNode::GetInputsSize() const { return impl_->op.GetInputsSize(); }
size_t GNode::GetOutputsSize() const { return impl_->op.GetOutputsSize(); }
graphStatus GNode::GetInputDesc(const int32_t index, TensorDesc &desc) const {
  if (index < 0 || static_cast<size_t>(index) >= GetInputsSize()) {
    return GRAPH_FAILED;
  }
  desc = impl_->op.GetInputDesc(static_cast<uint32_t>(index));
  return GRAPH_SUCCESS;
}
graphStatus GNode::UpdateInputDesc(const int32_t index, const TensorDesc &desc) {
  return index < 0 ? GRAPH_FAILED : impl_->op.UpdateInputDesc(static_cast<uint32_t>(index), desc);
}
graphStatus GNode::GetOutputDesc(const int32_t index, TensorDesc &desc) const {
  if (index < 0 || static_cast<size_t>(index) >= GetOutputsSize()) {
    return GRAPH_FAILED;
  }
  desc = impl_->op.GetOutputDesc(static_cast<uint32_t>(index));
  return GRAPH_SUCCESS;
}
graphStatus GNode::UpdateOutputDesc(const int32_t index, const TensorDesc &desc) {
  return index < 0 ? GRAPH_FAILED : impl_->op.UpdateOutputDesc(static_cast<uint32_t>(index), desc);
}
bool GNode::HasAttr(const AscendString &name) {
  return jumar::Number(CallId::kOpHasAttr, About(*this).Text(name)) != 0;
}

Graph::Graph() {}
Graph::Graph(const char_t *name) { Access::Create(*this, name); }

Graph &Graph::SetInputs(const std::vector<Operator> &inputs) {
  Message message = About(*this).U64(inputs.size());
  for (const Operator &op : inputs) {
    message.U64(Access::Id(op));
  }
  (void)jumar::Call(CallId::kGraphSetInputs, message);
  return *this;
}
Graph &Graph::SetOutputs(const std::vector<Operator> &outputs) {
  Message message = jumar::Outputs(*this, outputs.size());
  for (const Operator &op : outputs) {
    message.U64(Access::Id(op)).U64(0).U64(0);
  }
  (void)jumar::Call(CallId::kGraphSetOutputs, message);
  return *this;
}
Graph &Graph::SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs) {
  Message message = jumar::Outputs(*this, outputs.size());
  for (const auto &pair : outputs) {
    message.U64(Access::Id(pair.first)).U64(pair.second.size());
    for (size_t index : pair.second) {
      message.U64(index);
    }
    message.U64(0);
  }
  (void)jumar::Call(CallId::kGraphSetOutputs, message);
  return *this;
}
Graph &Graph::SetOutputs(const std::vector<std::pair<ge::Operator, AscendString>> &outputs) {
  Message message = jumar::Outputs(*this, outputs.size());
  for (const auto &pair : outputs) {
    message.U64(Access::Id(pair.first)).U64(0);
    if (pair.second.GetLength() == 0) {
      message.U64(0);
    } else {
      message.U64(1).Text(pair.second);
    }
  }
  (void)jumar::Call(CallId::kGraphSetOutputs, message);
  return *this;
}
graphStatus Graph::SetOutputs(const std::vector<std::pair<GNode, int32_t>> &outputs) {
  Message message = jumar::Outputs(*this, outputs.size());
  for (const auto &pair : outputs) {
    message.U64(Access::Id(pair.first)).U64(1).Int(pair.second).U64(0);
  }
  return Did(CallId::kGraphSetOutputs, message);
}
Graph &Graph::SetTargets(const std::vector<Operator> &) { return *this; }
bool Graph::IsValid() const { return jumar::Number(CallId::kGraphValid, About(*this)) != 0; }

graphStatus Graph::AddOp(const ge::Operator &op) { return Did(CallId::kGraphAddOp, About(*this).U64(Access::Id(op))); }
graphStatus Graph::FindOpByName(const char_t *name, ge::Operator &op) const {
  const uint64_t id = jumar::Number(CallId::kGraphFind, About(*this).Text(name));
  if (id == 0) {
    return GRAPH_FAILED;
  }
  op = Access::OperatorOf(id);
  return GRAPH_SUCCESS;
}
graphStatus Graph::FindOpByType(const char_t *type, std::vector<ge::Operator> &ops) const {
  Reply reply;
  const uint32_t status = jumar::Call(CallId::kGraphFindKind, About(*this).Text(type), reply);
  ops.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    ops.push_back(Access::OperatorOf(reply.U64()));
  }
  return status == 0 && !ops.empty() ? GRAPH_SUCCESS : GRAPH_FAILED;
}
GNodePtr Graph::FindNodeByName(const AscendString &name) const {
  const uint64_t id = jumar::Number(CallId::kGraphFind, About(*this).Text(name));
  return id == 0 ? GNodePtr() : std::make_shared<GNode>(Access::NodeOf(id));
}
graphStatus Graph::GetAllOpName(std::vector<AscendString> &names) const {
  Reply reply;
  const graphStatus status = Did(CallId::kGraphOpNames, About(*this), reply);
  names.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    names.push_back(reply.Text());
  }
  return status;
}
graphStatus Graph::SaveToFile(const char_t *file) const {
  return Did(CallId::kGraphSaveFile, About(*this).Text(file));
}
graphStatus Graph::LoadFromFile(const char_t *file) {
  if (handle_ == nullptr) {
    Access::Create(*this, "");
  }
  return Did(CallId::kGraphLoadFile, About(*this).Text(file));
}
graphStatus Graph::SaveToMem(GraphBuffer &buffer) const {
  Reply reply;
  if (jumar::Call(CallId::kGraphSave, About(*this), reply) != 0) {
    return GRAPH_FAILED;
  }
  const std::pair<const char *, size_t> bytes = reply.Bytes();
  Access::SetBytes(buffer, bytes.first, bytes.second);
  return GRAPH_SUCCESS;
}
graphStatus Graph::LoadFromMem(const uint8_t *data, const size_t len) {
  if (data == nullptr) {
    return GRAPH_PARAM_INVALID;
  }
  if (handle_ == nullptr) {
    Access::Create(*this, "");
  }
  return Did(CallId::kGraphLoad, About(*this).Bytes(data, len));
}
graphStatus Graph::LoadFromMem(const GraphBuffer &buffer) { return LoadFromMem(buffer.GetData(), buffer.GetSize()); }
graphStatus Graph::LoadFromSerializedModelArray(const void *data, size_t len) {
  return LoadFromMem(static_cast<const uint8_t *>(data), len);
}
graphStatus Graph::CopyFrom(const Graph &source) {
  if (handle_ == nullptr) {
    Access::Create(*this, "");
  }
  return Did(CallId::kGraphCopy, About(*this).U64(Access::Id(source)));
}
GraphPtr Graph::ConstructFromInputs(const std::vector<Operator> &inputs, const AscendString &name) {
  GraphPtr graph = std::make_shared<Graph>(name.GetString());
  (void)graph->SetInputs(inputs);
  return graph->IsValid() ? graph : GraphPtr();
}
void Graph::SetNeedIteration(bool) {}
graphStatus Graph::SetValid() { return IsValid() ? GRAPH_SUCCESS : GRAPH_FAILED; }
graphStatus Graph::GetName(AscendString &name) const {
  Reply reply;
  const graphStatus status = Did(CallId::kGraphName, About(*this), reply);
  name = reply.Text();
  return status;
}
std::vector<GNode> Graph::GetAllNodes() const {
  std::vector<GNode> nodes;
  Reply reply;
  if (jumar::Call(CallId::kGraphNodes, About(*this), reply) == 0) {
    for (uint64_t left = reply.U64(); left > 0; --left) {
      nodes.push_back(Access::NodeOf(reply.U64()));
    }
  }
  return nodes;
}
std::vector<GNode> Graph::GetDirectNode() const { return GetAllNodes(); }
graphStatus Graph::RemoveNode(GNode &node) {
  return Did(CallId::kGraphRemoveNode, About(*this).U64(Access::Id(node)));
}
graphStatus Graph::RemoveNode(GNode &node, bool) { return RemoveNode(node); }
graphStatus Graph::RemoveEdge(GNode &source, const int32_t output, GNode &target, const int32_t input) {
  return Did(CallId::kGraphRemoveEdge,
             About(*this).U64(Access::Id(source)).Int(output).U64(Access::Id(target)).Int(input));
}
GNode Graph::AddNodeByOp(const Operator &op) {
  if (handle_ == nullptr || op.IsEmpty() ||
      Did(CallId::kGraphAddNode, About(*this).U64(Access::Id(op))) != GRAPH_SUCCESS) {
    return GNode();
  }
  (void)jumar::Call(CallId::kOpHold, About(op));
  return Access::NodeOf(Access::Id(op));
}
graphStatus Graph::AddDataEdge(GNode &source, const int32_t output, GNode &target, const int32_t input) {
  return Did(CallId::kGraphAddEdge,
             About(*this).U64(Access::Id(source)).Int(output).U64(Access::Id(target)).Int(input));
}
graphStatus Graph::AddControlEdge(GNode &source, GNode &target) {
  return Did(CallId::kGraphAddEdge, About(*this).U64(Access::Id(source)).Int(-1).U64(Access::Id(target)).Int(-1));
}
graphStatus Graph::Dump(DumpFormat, std::ostream &stream) const {
  Reply reply;
  const graphStatus status = Did(CallId::kGraphShow, About(*this), reply);
  stream << reply.Text().GetString();
  return status;
}
graphStatus Graph::DumpToFile(DumpFormat, const AscendString &suffix) const {
  AscendString name;
  (void)GetName(name);
  const std::string path = std::string("ge_") + name.GetString() + "_" + suffix.GetString() + ".txt";
  return Did(CallId::kGraphDumpFile, About(*this).Text(path.c_str()));
}

Status GeUtils::InferShape(const Graph &graph, const std::vector<Shape> &input_shape) {
  Message message = About(graph).U64(input_shape.size());
  for (const Shape &shape : input_shape) {
    message.Ints(shape.GetDims());
  }
  return jumar::Call(CallId::kGraphInfer, message);
}
Status GeUtils::CheckNodeSupportOnAicore(const GNode &node, bool &is_supported, AscendString &unsupported_reason) {
  AscendString type;
  if (node.GetType(type) != GRAPH_SUCCESS) {
    return FAILED;
  }
  is_supported = jumar::Number(CallId::kOpSupported, Message().Text(type)) != 0;
  unsupported_reason = is_supported ? AscendString("") : AscendString("the operator is not known");
  return SUCCESS;
}

}  // namespace ge
