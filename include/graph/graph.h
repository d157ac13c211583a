/* Graphs. */
#ifndef INC_EXTERNAL_GRAPH_GRAPH_H_
#define INC_EXTERNAL_GRAPH_GRAPH_H_

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

/* Copies name the same graph. */
class Graph {
 public:
  enum class DumpFormat : uint32_t { kOnnx = 0, kTxt = 1, kReadable = 2 };

  Graph();
  explicit Graph(const char_t *name);
  explicit Graph(const std::string &name);
  ~Graph() = default;

  /* Takes in everything that is linked with these operators, in either direction. */
  Graph &SetInputs(const std::vector<Operator> &inputs);
  Graph &SetOutputs(const std::vector<Operator> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<ge::Operator, AscendString>> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<ge::Operator, std::string>> &outputs);
  graphStatus SetOutputs(const std::vector<std::pair<GNode, int32_t>> &outputs);
  /* Has no effect: nodes without a consumer run in any case. */
  Graph &SetTargets(const std::vector<Operator> &targets);
  bool IsValid() const;

  graphStatus AddOp(const ge::Operator &op);
  graphStatus FindOpByName(const char_t *name, ge::Operator &op) const;
  graphStatus FindOpByName(const std::string &name, ge::Operator &op) const;
  graphStatus FindOpByType(const char_t *type, std::vector<ge::Operator> &ops) const;
  graphStatus FindOpByType(const std::string &type, std::vector<ge::Operator> &ops) const;
  GNodePtr FindNodeByName(const AscendString &name) const;
  graphStatus GetAllOpName(std::vector<std::string> &names) const;
  graphStatus GetAllOpName(std::vector<AscendString> &names) const;
  graphStatus SaveToFile(const char_t *file) const;
  graphStatus SaveToFile(const std::string &file) const;
  graphStatus LoadFromFile(const char_t *file);
  graphStatus LoadFromFile(const std::string &file);
  graphStatus SaveToMem(GraphBuffer &buffer) const;
  graphStatus LoadFromMem(const uint8_t *data, const size_t len);
  graphStatus LoadFromMem(const GraphBuffer &buffer);
  graphStatus LoadFromSerializedModelArray(const void *data, size_t len);
  /* Copies the nodes of another graph into this one, which has none yet. */
  graphStatus CopyFrom(const Graph &source);
  static GraphPtr ConstructFromInputs(const std::vector<Operator> &inputs, const AscendString &name);
  /* Has no effect: the program decides how often a graph runs. */
  void SetNeedIteration(bool need);
  graphStatus SetValid();
  graphStatus GetName(AscendString &name) const;
  /* Returns a string that lives as long as the graph. */
  const std::string &GetName() const;
  std::vector<GNode> GetAllNodes() const;
  std::vector<GNode> GetDirectNode() const;
  graphStatus RemoveNode(GNode &node);
  graphStatus RemoveNode(GNode &node, bool contain_subgraph);
  graphStatus RemoveEdge(GNode &source, const int32_t output, GNode &target, const int32_t input);
  GNode AddNodeByOp(const Operator &op);
  graphStatus AddDataEdge(GNode &source, const int32_t output, GNode &target, const int32_t input);
  graphStatus AddControlEdge(GNode &source, GNode &target);
  graphStatus Dump(DumpFormat format, std::ostream &stream) const;
  /* Writes what Dump shows to a file named after the graph and the suffix. */
  graphStatus DumpToFile(DumpFormat format, const AscendString &suffix) const;

 private:
  friend struct jumar::Access;
  std::shared_ptr<jumar::Handle> handle_;
};

}  // namespace ge

#endif
