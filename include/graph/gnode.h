/* A node of a graph that is built already. */
#ifndef JUMAR_GRAPH_GNODE_H_
#define JUMAR_GRAPH_GNODE_H_

#include <memory>
#include <utility>
#include <vector>

#include "operator.h"

namespace ge {

class GNode;
typedef std::shared_ptr<GNode> GNodePtr;
typedef std::vector<uint8_t> OpBytes;

class GNode {
 public:
  GNode() = default;
  ~GNode() = default;
  graphStatus GetType(AscendString &type) const { return op_.GetOpType(type); }
  graphStatus GetName(AscendString &name) const { return op_.GetName(name); }
  std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(const int32_t index) const {
    jumar::Reply reply;
    if (index < 0 || jumar::Call(jumar::CallId::kOpProducer, jumar::Message().U64(op_.JumarId()).Int(index), reply) != 0) {
      return std::make_pair(GNodePtr(), -1);
    }
    const uint64_t id = reply.U64();
    if (id == 0) {
      return std::make_pair(GNodePtr(), -1);
    }
    return std::make_pair(std::make_shared<GNode>(JumarOf(id)), static_cast<int32_t>(reply.U64()));
  }
  std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(const int32_t index) const {
    std::vector<std::pair<GNodePtr, int32_t>> all;
    jumar::Reply reply;
    if (index < 0 || jumar::Call(jumar::CallId::kOpConsumers, jumar::Message().U64(op_.JumarId()).Int(index), reply) != 0) {
      return all;
    }
    for (uint64_t left = reply.U64(); left > 0; --left) {
      const uint64_t id = reply.U64();
      all.push_back(std::make_pair(std::make_shared<GNode>(JumarOf(id)), static_cast<int32_t>(reply.U64())));
    }
    return all;
  }
  std::vector<GNodePtr> GetInControlNodes() const { return Controls(1); }
  std::vector<GNodePtr> GetOutControlNodes() const { return Controls(0); }
  graphStatus GetInputConstData(const int32_t index, Tensor &data) const {
    const GNodePtr source = GetInDataNodesAndPortIndexs(index).first;
    return source == nullptr ? GRAPH_FAILED : source->GetAttr(AscendString("value"), data);
  }
  graphStatus GetInputIndexByName(const AscendString &name, int32_t &index) { return Find(name, index, true); }
  graphStatus GetOutputIndexByName(const AscendString &name, int32_t &index) { return Find(name, index, false); }
  size_t GetInputsSize() const { return op_.GetInputsSize(); }
  size_t GetOutputsSize() const { return op_.GetOutputsSize(); }
  graphStatus GetInputDesc(const int32_t index, TensorDesc &desc) const {
    if (index < 0 || static_cast<size_t>(index) >= GetInputsSize()) {
      return GRAPH_FAILED;
    }
    desc = op_.GetInputDesc(static_cast<uint32_t>(index));
    return GRAPH_SUCCESS;
  }
  graphStatus UpdateInputDesc(const int32_t index, const TensorDesc &desc) {
    return index < 0 ? GRAPH_FAILED : op_.UpdateInputDesc(static_cast<uint32_t>(index), desc);
  }
  graphStatus GetOutputDesc(const int32_t index, TensorDesc &desc) const {
    if (index < 0 || static_cast<size_t>(index) >= GetOutputsSize()) {
      return GRAPH_FAILED;
    }
    desc = op_.GetOutputDesc(static_cast<uint32_t>(index));
    return GRAPH_SUCCESS;
  }
  graphStatus UpdateOutputDesc(const int32_t index, const TensorDesc &desc) {
    return index < 0 ? GRAPH_FAILED : op_.UpdateOutputDesc(static_cast<uint32_t>(index), desc);
  }
  template <typename T>
  graphStatus GetAttr(const AscendString &name, T &value) const {
    return op_.GetAttr(name.GetString(), value);
  }
  template <typename T>
  graphStatus SetAttr(const AscendString &name, T &value) const {
    Operator op = op_;
    (void)op.SetAttr(name.GetString(), value);
    return GRAPH_SUCCESS;
  }
  bool HasAttr(const AscendString &name) {
    return jumar::Number(jumar::CallId::kOpHasAttr, jumar::Message().U64(op_.JumarId()).Text(name)) != 0;
  }

  uint64_t JumarId() const { return op_.JumarId(); }
  static GNode JumarOf(uint64_t id) {
    GNode node;
    node.op_ = Operator::JumarOf(id);
    return node;
  }

 private:
  std::vector<GNodePtr> Controls(uint64_t ahead) const {
    std::vector<GNodePtr> all;
    jumar::Reply reply;
    if (jumar::Call(jumar::CallId::kOpControls, jumar::Message().U64(op_.JumarId()).U64(ahead), reply) == 0) {
      for (uint64_t left = reply.U64(); left > 0; --left) {
        all.push_back(std::make_shared<GNode>(JumarOf(reply.U64())));
      }
    }
    return all;
  }
  graphStatus Find(const AscendString &name, int32_t &index, bool input) const {
    jumar::Reply reply;
    if (jumar::Call(jumar::CallId::kOpInfo, jumar::Message().U64(op_.JumarId()), reply) != 0) {
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

  Operator op_;
};

}  // namespace ge

#endif
