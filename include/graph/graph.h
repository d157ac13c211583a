/* Graphs. */
#ifndef JUMAR_GRAPH_GRAPH_H_
#define JUMAR_GRAPH_GRAPH_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gnode.h"
#include "graph_buffer.h"
#include "operator.h"

namespace ge {

class Graph;
typedef std::shared_ptr<Graph> GraphPtr;
typedef std::shared_ptr<const Graph> ConstGraphPtr;

class Graph {
 public:
  enum class DumpFormat : uint32_t { kOnnx = 0, kTxt = 1, kReadable = 2 };

  Graph() = default;
  explicit Graph(const char_t *name) { Make(name); }
  explicit Graph(const std::string &name) { Make(name.c_str()); }
  ~Graph() = default;

  /* Takes in everything that is linked with these operators, in either direction. */
  Graph &SetInputs(const std::vector<Operator> &inputs) {
    jumar::Message message;
    message.U64(JumarId()).U64(inputs.size());
    for (const Operator &op : inputs) {
      message.U64(op.JumarId());
    }
    (void)jumar::Call(jumar::CallId::kGraphSetInputs, message);
    return *this;
  }
  Graph &SetOutputs(const std::vector<Operator> &outputs) {
    jumar::Message message;
    message.U64(JumarId()).U64(outputs.size());
    for (const Operator &op : outputs) {
      message.U64(op.JumarId()).U64(0).U64(0);
    }
    (void)jumar::Call(jumar::CallId::kGraphSetOutputs, message);
    return *this;
  }
  Graph &SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs) {
    jumar::Message message;
    message.U64(JumarId()).U64(outputs.size());
    for (const auto &pair : outputs) {
      message.U64(pair.first.JumarId()).U64(pair.second.size());
      for (size_t index : pair.second) {
        message.U64(index);
      }
      message.U64(0);
    }
    (void)jumar::Call(jumar::CallId::kGraphSetOutputs, message);
    return *this;
  }
  Graph &SetOutputs(const std::vector<std::pair<ge::Operator, AscendString>> &outputs) {
    jumar::Message message;
    message.U64(JumarId()).U64(outputs.size());
    for (const auto &pair : outputs) {
      message.U64(pair.first.JumarId()).U64(0);
      if (pair.second.GetLength() == 0) {
        message.U64(0);
      } else {
        message.U64(1).Text(pair.second);
      }
    }
    (void)jumar::Call(jumar::CallId::kGraphSetOutputs, message);
    return *this;
  }
  Graph &SetOutputs(const std::vector<std::pair<ge::Operator, std::string>> &outputs) {
    std::vector<std::pair<ge::Operator, AscendString>> list;
    for (const auto &pair : outputs) {
      list.push_back(std::make_pair(pair.first, AscendString(pair.second.c_str())));
    }
    return SetOutputs(list);
  }
  graphStatus SetOutputs(const std::vector<std::pair<GNode, int32_t>> &outputs) {
    jumar::Message message;
    message.U64(JumarId()).U64(outputs.size());
    for (const auto &pair : outputs) {
      message.U64(pair.first.JumarId()).U64(1).Int(pair.second).U64(0);
    }
    return jumar::Call(jumar::CallId::kGraphSetOutputs, message) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  /* Nodes without a consumer run in any case. */
  Graph &SetTargets(const std::vector<Operator> &) { return *this; }
  bool IsValid() const { return jumar::Number(jumar::CallId::kGraphValid, Own()) != 0; }

  graphStatus AddOp(const ge::Operator &op) { return Did(jumar::CallId::kGraphAddOp, Own().U64(op.JumarId())); }
  graphStatus FindOpByName(const char_t *name, ge::Operator &op) const {
    const uint64_t id = jumar::Number(jumar::CallId::kGraphFind, Own().Text(name));
    if (id == 0) {
      return GRAPH_FAILED;
    }
    op = Operator::JumarOf(id);
    return GRAPH_SUCCESS;
  }
  graphStatus FindOpByName(const std::string &name, ge::Operator &op) const { return FindOpByName(name.c_str(), op); }
  graphStatus FindOpByType(const char_t *type, std::vector<ge::Operator> &ops) const {
    jumar::Reply reply;
    const uint32_t status = jumar::Call(jumar::CallId::kGraphFindKind, Own().Text(type), reply);
    ops.clear();
    for (uint64_t left = reply.U64(); left > 0; --left) {
      ops.push_back(Operator::JumarOf(reply.U64()));
    }
    return status == 0 && !ops.empty() ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus FindOpByType(const std::string &type, std::vector<ge::Operator> &ops) const {
    return FindOpByType(type.c_str(), ops);
  }
  GNodePtr FindNodeByName(const AscendString &name) const {
    const uint64_t id = jumar::Number(jumar::CallId::kGraphFind, Own().Text(name));
    return id == 0 ? GNodePtr() : std::make_shared<GNode>(GNode::JumarOf(id));
  }
  graphStatus GetAllOpName(std::vector<std::string> &names) const {
    std::vector<AscendString> list;
    const graphStatus status = GetAllOpName(list);
    names.clear();
    for (const AscendString &name : list) {
      names.push_back(std::string(name.GetString()));
    }
    return status;
  }
  graphStatus GetAllOpName(std::vector<AscendString> &names) const {
    jumar::Reply reply;
    const uint32_t status = jumar::Call(jumar::CallId::kGraphOpNames, Own(), reply);
    names.clear();
    for (uint64_t left = reply.U64(); left > 0; --left) {
      names.push_back(reply.Text());
    }
    return status == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus SaveToFile(const char_t *file) const { return Did(jumar::CallId::kGraphSaveFile, Own().Text(file)); }
  graphStatus SaveToFile(const std::string &file) const { return SaveToFile(file.c_str()); }
  graphStatus LoadFromFile(const char_t *file) {
    if (handle_ == nullptr) {
      Make("");
    }
    return Did(jumar::CallId::kGraphLoadFile, Own().Text(file));
  }
  graphStatus LoadFromFile(const std::string &file) { return LoadFromFile(file.c_str()); }
  graphStatus SaveToMem(GraphBuffer &buffer) const {
    jumar::Reply reply;
    if (jumar::Call(jumar::CallId::kGraphSave, Own(), reply) != 0) {
      return GRAPH_FAILED;
    }
    const std::pair<const char *, size_t> bytes = reply.Bytes();
    buffer.JumarSet(bytes.first, bytes.second);
    return GRAPH_SUCCESS;
  }
  graphStatus LoadFromMem(const uint8_t *data, const size_t len) {
    if (data == nullptr) {
      return GRAPH_PARAM_INVALID;
    }
    if (handle_ == nullptr) {
      Make("");
    }
    return Did(jumar::CallId::kGraphLoad, Own().Bytes(data, len));
  }
  graphStatus LoadFromMem(const GraphBuffer &buffer) { return LoadFromMem(buffer.GetData(), buffer.GetSize()); }
  graphStatus LoadFromSerializedModelArray(const void *data, size_t len) {
    return LoadFromMem(static_cast<const uint8_t *>(data), len);
  }
  /* Copies the nodes of another graph into this one, which has none yet. */
  graphStatus CopyFrom(const Graph &source) {
    if (handle_ == nullptr) {
      Make("");
    }
    return Did(jumar::CallId::kGraphCopy, Own().U64(source.JumarId()));
  }
  static GraphPtr ConstructFromInputs(const std::vector<Operator> &inputs, const AscendString &name) {
    GraphPtr graph = std::make_shared<Graph>(name.GetString());
    (void)graph->SetInputs(inputs);
    return graph->IsValid() ? graph : GraphPtr();
  }
  /* How often a graph runs is the program's affair. */
  void SetNeedIteration(bool) {}
  graphStatus SetValid() { return IsValid() ? GRAPH_SUCCESS : GRAPH_FAILED; }
  graphStatus GetName(AscendString &name) const {
    jumar::Reply reply;
    const uint32_t status = jumar::Call(jumar::CallId::kGraphName, Own(), reply);
    name = reply.Text();
    return status == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  /* By value, as no text of the library lives long enough for a reference. */
  std::string GetName() const {
    AscendString name;
    (void)GetName(name);
    return std::string(name.GetString());
  }
  std::vector<GNode> GetAllNodes() const {
    std::vector<GNode> nodes;
    jumar::Reply reply;
    if (jumar::Call(jumar::CallId::kGraphNodes, Own(), reply) == 0) {
      for (uint64_t left = reply.U64(); left > 0; --left) {
        nodes.push_back(GNode::JumarOf(reply.U64()));
      }
    }
    return nodes;
  }
  std::vector<GNode> GetDirectNode() const { return GetAllNodes(); }
  graphStatus RemoveNode(GNode &node) { return Did(jumar::CallId::kGraphRemoveNode, Own().U64(node.JumarId())); }
  graphStatus RemoveNode(GNode &node, bool) { return RemoveNode(node); }
  graphStatus RemoveEdge(GNode &source, const int32_t output, GNode &target, const int32_t input) {
    return Did(jumar::CallId::kGraphRemoveEdge, Own().U64(source.JumarId()).Int(output).U64(target.JumarId()).Int(input));
  }
  GNode AddNodeByOp(const Operator &op) {
    if (handle_ == nullptr || op.IsEmpty() || Did(jumar::CallId::kGraphAddNode, Own().U64(op.JumarId())) != GRAPH_SUCCESS) {
      return GNode();
    }
    (void)jumar::Call(jumar::CallId::kOpHold, jumar::Message().U64(op.JumarId()));
    return GNode::JumarOf(op.JumarId());
  }
  graphStatus AddDataEdge(GNode &source, const int32_t output, GNode &target, const int32_t input) {
    return Did(jumar::CallId::kGraphAddEdge, Own().U64(source.JumarId()).Int(output).U64(target.JumarId()).Int(input));
  }
  graphStatus AddControlEdge(GNode &source, GNode &target) {
    return Did(jumar::CallId::kGraphAddEdge, Own().U64(source.JumarId()).Int(-1).U64(target.JumarId()).Int(-1));
  }
  graphStatus Dump(DumpFormat, std::ostream &stream) const {
    jumar::Reply reply;
    const uint32_t status = jumar::Call(jumar::CallId::kGraphShow, Own(), reply);
    stream << reply.Text().GetString();
    return status == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }

  /* Writes what Dump shows to a file named after the graph and the suffix. */
  graphStatus DumpToFile(DumpFormat, const AscendString &suffix) const {
    AscendString name;
    (void)GetName(name);
    const std::string path = std::string("ge_") + name.GetString() + "_" + suffix.GetString() + ".txt";
    return Did(jumar::CallId::kGraphDumpFile, Own().Text(path.c_str()));
  }

  uint64_t JumarId() const { return handle_ == nullptr ? 0 : handle_->id(); }
  void JumarMake() {
    if (handle_ == nullptr) {
      Make("graph");
    }
  }
  static Graph JumarOf(uint64_t id) {
    Graph graph;
    graph.handle_ = std::make_shared<jumar::Handle>(jumar::CallId::kGraphRelease, id);
    return graph;
  }

 private:
  void Make(const char_t *name) {
    handle_ = std::make_shared<jumar::Handle>(jumar::CallId::kGraphRelease,
                                              jumar::Number(jumar::CallId::kGraphNew, jumar::Message().Text(name)));
  }
  jumar::Message Own() const { return jumar::Message().U64(JumarId()); }
  static graphStatus Did(jumar::CallId call, const jumar::Message &message) {
    return jumar::Call(call, message) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }

  jumar::HandlePtr handle_;
};

namespace jumar {
inline AscendString BuilderName(const char_t *name, uint32_t index) {
  const std::string text = std::string(name == nullptr ? "" : name) + "/" + std::to_string(index);
  return AscendString(text.c_str());
}
}  // namespace jumar

inline void Operator::SetSubgraphBuilder(const char_t *name, uint32_t index, const SubgraphBuilder &builder) {
  if (handle_ == nullptr || !builder) {
    return;
  }
  handle_->attached[jumar::BuilderName(name, index)] = std::make_shared<SubgraphBuilder>(builder);
  const Graph graph = builder();
  (void)jumar::Call(jumar::CallId::kOpBody, jumar::Message().U64(JumarId()).Text(name).U64(index).U64(graph.JumarId()));
}
inline SubgraphBuilder Operator::GetDynamicSubgraphBuilder(const char_t *name, uint32_t index) const {
  if (handle_ == nullptr) {
    return SubgraphBuilder();
  }
  const auto found = handle_->attached.find(jumar::BuilderName(name, index));
  return found == handle_->attached.end() ? SubgraphBuilder()
                                          : *static_cast<const SubgraphBuilder *>(found->second.get());
}
inline SubgraphBuilder Operator::GetSubgraphBuilder(const char_t *name) const {
  return GetDynamicSubgraphBuilder(name, 0);
}
inline Graph Operator::GetDynamicSubgraph(const char_t *name, uint32_t index) const {
  const SubgraphBuilder builder = GetDynamicSubgraphBuilder(name, index);
  return builder ? builder() : Graph();
}
inline Graph Operator::GetSubgraph(const char_t *name) const { return GetDynamicSubgraph(name, 0); }

}  // namespace ge

#endif
