/* The builder of a graph, below EsGraphBuilder and the functions in C. */
#ifndef JUMAR_ES_C_GRAPH_BUILDER_H_
#define JUMAR_ES_C_GRAPH_BUILDER_H_

#include <memory>
#include <vector>

#include "../graph/graph.h"
#include "es_c_tensor_holder.h"

struct EsCGraphBuilder {
 public:
  EsCGraphBuilder();
  explicit EsCGraphBuilder(const char *name);
  ~EsCGraphBuilder();
  EsCGraphBuilder(EsCGraphBuilder &&) noexcept;
  EsCGraphBuilder &operator=(EsCGraphBuilder &&) noexcept;
  EsCGraphBuilder(const EsCGraphBuilder &) = delete;
  EsCGraphBuilder &operator=(const EsCGraphBuilder &) = delete;

  /* The tensors belong to the builder. */
  EsCTensorHolder *GetTensorHolderFromNode(const ge::GNode &node, int32_t output_index);
  std::vector<EsCTensorHolder *> *CreateDynamicTensorHolderFromNode(const ge::GNode &node, int32_t start_idx,
                                                                    int32_t output_num);
  /* Adds an input behind those that there are. */
  EsCTensorHolder *AppendGraphInput(const ge::char_t *name = nullptr, const ge::char_t *type = nullptr);
  EsCTensorHolder *AddGraphInput(int32_t index, const ge::char_t *name = nullptr, const ge::char_t *type = nullptr,
                                 C_DataType data_type = C_DT_FLOAT, C_Format format = C_FORMAT_ND,
                                 const int64_t *dims = nullptr, int64_t dim_num = 0);
  ge::Status SetGraphOutput(EsCTensorHolder *tensor, int64_t output_index);
  ge::Graph *GetGraph();
  /* Returns null if a node could not be added, or if the indexes of inputs or outputs have a gap. */
  std::unique_ptr<ge::Graph> BuildGraphAndReset();
  /* Returns a name that no node of the graph has. */
  ge::AscendString GenerateNodeName(const ge::char_t *node_type);
  /* Keeps an object as long as the builder. */
  template <typename T>
  T *AddResource(std::unique_ptr<T> resource) {
    T *const kept = resource.get();
    Keep(std::shared_ptr<void>(std::move(resource)));
    return kept;
  }
  /* Makes the build fail, after the explanation was recorded. */
  void MarkFailed();

 private:
  void Keep(const std::shared_ptr<void> &resource);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

#endif
