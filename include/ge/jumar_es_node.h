/* A node of a generated function, from its inputs to its outputs. Included by generated sources only. */
#ifndef JUMAR_ES_NODE_H_
#define JUMAR_ES_NODE_H_

#include <initializer_list>
#include <memory>
#include <vector>

#include "es_c_graph_builder.h"
#include "es_tensor_like.h"

namespace ge {
namespace es {

class JumarNode {
 public:
  /* The owner is the builder of the first input that has one. */
  JumarNode(const char *type, EsCGraphBuilder *owner);
  ~JumarNode();
  JumarNode(const JumarNode &) = delete;
  JumarNode &operator=(const JumarNode &) = delete;

  JumarNode &In(const char *name, EsCTensorHolder *tensor);
  JumarNode &InIfAny(const char *name, EsCTensorHolder *tensor);
  JumarNode &Ins(const char *name, EsCTensorHolder **tensors, int64_t count);
  JumarNode &Out(const char *name);
  JumarNode &Outs(const char *name, int64_t count);
  JumarNode &Int(const char *name, int64_t value);
  JumarNode &Float(const char *name, float value);
  JumarNode &Bool(const char *name, bool value);
  JumarNode &String(const char *name, const char *value);
  JumarNode &Type(const char *name, C_DataType value);
  JumarNode &Tensor(const char *name, EsCTensor *value);
  JumarNode &ListInt(const char *name, const int64_t *values, int64_t count);
  JumarNode &ListFloat(const char *name, const float *values, int64_t count);
  JumarNode &ListBool(const char *name, const bool *values, int64_t count);
  JumarNode &ListString(const char *name, const char **values, int64_t count);
  JumarNode &ListType(const char *name, const C_DataType *values, int64_t count);
  JumarNode &ListListInt(const char *name, const int64_t **values, int64_t count, const int64_t *inner);
  JumarNode &Graph(const char *name, EsCGraph *graph);
  JumarNode &Graphs(const char *name, EsCGraph **graphs, int64_t count);

  /* Adds the node and its edges. */
  bool Build();
  /* Returns an output of the built node, by its index; null if the build failed. */
  EsCTensorHolder *Output(int32_t index);
  /* Returns several, in memory of the builder. */
  EsCTensorHolder **Outputs(int32_t start, int64_t count);
  EsCGraphBuilder *Owner() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace es
}  // namespace ge

#endif
