/* A node of a graph that is built already. */
#ifndef INC_EXTERNAL_GRAPH_GNODE_H_
#define INC_EXTERNAL_GRAPH_GNODE_H_

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
  GNode();
  ~GNode() = default;
  graphStatus GetType(AscendString &type) const;
  graphStatus GetName(AscendString &name) const;
  std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(const int32_t index) const;
  std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(const int32_t index) const;
  std::vector<GNodePtr> GetInControlNodes() const;
  std::vector<GNodePtr> GetOutControlNodes() const;
  graphStatus GetInputConstData(const int32_t index, Tensor &data) const;
  graphStatus GetInputIndexByName(const AscendString &name, int32_t &index);
  graphStatus GetOutputIndexByName(const AscendString &name, int32_t &index);
  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;
  graphStatus GetInputDesc(const int32_t index, TensorDesc &desc) const;
  graphStatus UpdateInputDesc(const int32_t index, const TensorDesc &desc);
  graphStatus GetOutputDesc(const int32_t index, TensorDesc &desc) const;
  graphStatus UpdateOutputDesc(const int32_t index, const TensorDesc &desc);
#define JUMAR_ATTRIBUTE_(T)                                        \
  graphStatus GetAttr(const AscendString &name, T &value) const;   \
  graphStatus SetAttr(const AscendString &name, T &value) const;
  JUMAR_NUMBERS_(JUMAR_ATTRIBUTE_)
  JUMAR_ATTRIBUTES_(JUMAR_ATTRIBUTE_)
  JUMAR_ATTRIBUTE_(std::string)
  JUMAR_ATTRIBUTE_(std::vector<std::string>)
  JUMAR_ATTRIBUTE_(AttrValue)
#undef JUMAR_ATTRIBUTE_
  bool HasAttr(const AscendString &name);

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
