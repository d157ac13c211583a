/* The edge of a part of a graph. */
#ifndef JUMAR_GE_FUSION_SUBGRAPH_BOUNDARY_H_
#define JUMAR_GE_FUSION_SUBGRAPH_BOUNDARY_H_

#include <memory>
#include <vector>

#include "../../graph/graph.h"
#include "../ge_api_error_codes.h"

namespace ge {
namespace fusion {

/* An input or an output of a node, by its index. */
struct NodeIo {
  GNode node;
  int64_t index;
};

/* A tensor that a part of a graph reads: the inputs of nodes inside that read it. */
class SubgraphInput {
 public:
  SubgraphInput();
  explicit SubgraphInput(std::vector<NodeIo> node_inputs);
  ~SubgraphInput();
  SubgraphInput(const SubgraphInput &other) noexcept;
  SubgraphInput &operator=(SubgraphInput &&other) noexcept;
  SubgraphInput &operator=(const SubgraphInput &other) noexcept;
  Status AddInput(const NodeIo &node_input);
  std::vector<NodeIo> GetAllInputs() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/* A tensor that a part of a graph computes and that is used outside. */
class SubgraphOutput {
 public:
  SubgraphOutput();
  explicit SubgraphOutput(const NodeIo &node_output);
  ~SubgraphOutput();
  SubgraphOutput(const SubgraphOutput &other) noexcept;
  SubgraphOutput &operator=(SubgraphOutput &&other) noexcept;
  SubgraphOutput &operator=(const SubgraphOutput &other) noexcept;
  Status SetOutput(const NodeIo &node_output);
  Status GetOutput(NodeIo &node_output) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/* The part lies between its inputs and its outputs. What is used outside has to be an output; inputs and variables of the
 * graph cannot lie inside. */
class SubgraphBoundary {
 public:
  SubgraphBoundary();
  SubgraphBoundary(std::vector<SubgraphInput> inputs, std::vector<SubgraphOutput> outputs);
  ~SubgraphBoundary();
  SubgraphBoundary(const SubgraphBoundary &other) noexcept;
  SubgraphBoundary &operator=(SubgraphBoundary &&other) noexcept;
  SubgraphBoundary &operator=(const SubgraphBoundary &other) noexcept;
  /* Fail if there is one with the index. */
  Status AddInput(int64_t index, SubgraphInput input);
  Status AddOutput(int64_t index, SubgraphOutput output);
  Status GetInput(int64_t index, SubgraphInput &subgraph_input) const;
  /* Fail if an index is missing. */
  Status GetAllInputs(std::vector<SubgraphInput> &subgraph_input) const;
  Status GetOutput(int64_t index, SubgraphOutput &subgraph_output) const;
  Status GetAllOutputs(std::vector<SubgraphOutput> &subgraph_outputs) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fusion
}  // namespace ge

#endif
