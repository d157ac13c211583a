/* What the functions of operators take for a tensor: one, or a number or a list that becomes a constant. */
#ifndef JUMAR_ES_TENSOR_LIKE_H_
#define JUMAR_ES_TENSOR_LIKE_H_

#include <cstddef>
#include <vector>

#include "es_c_graph_builder.h"
#include "es_tensor_holder.h"

namespace ge {
namespace es {

class EsGraphBuilder;

class EsTensorLike {
 public:
  EsTensorLike(const EsTensorHolder &tensor) : tensor_(tensor) {}
  /* An optional input that is left out. */
  EsTensorLike(const std::nullptr_t) {}
  EsTensorLike(const int64_t value) : kind_(kScalarInt), ints_(1, value) {}
  EsTensorLike(const float value) : kind_(kScalarFloat), floats_(1, value) {}
  EsTensorLike(const std::vector<int64_t> &values) : kind_(kVectorInt), ints_(values) {}
  EsTensorLike(const std::vector<float> &values) : kind_(kVectorFloat), floats_(values) {}
  ~EsTensorLike() = default;

  /* Returns the builder of the tensor, or null if this is none. */
  EsCGraphBuilder *GetOwnerBuilder() const;
  /* Returns the tensor; a number or a list becomes a constant of the graph. */
  EsTensorHolder ToTensorHolder(EsCGraphBuilder *graph) const;

 private:
  enum Kind { kTensor, kScalarInt, kScalarFloat, kVectorInt, kVectorFloat };
  Kind kind_ = kTensor;
  EsTensorHolder tensor_;
  std::vector<int64_t> ints_;
  std::vector<float> floats_;
};

inline EsCGraphBuilder *ResolveBuilderImpl(const EsTensorLike &tensor_like) { return tensor_like.GetOwnerBuilder(); }
inline EsCGraphBuilder *ResolveBuilderImpl(EsCTensorHolder *esb_tensor) {
  return esb_tensor == nullptr ? nullptr : &esb_tensor->GetOwnerBuilder();
}
inline EsCGraphBuilder *ResolveBuilderImpl(const std::vector<EsTensorHolder> &tensors) {
  for (const EsTensorHolder &tensor : tensors) {
    if (tensor.GetCTensorHolder() != nullptr) {
      return ResolveBuilderImpl(tensor.GetCTensorHolder());
    }
  }
  return nullptr;
}
inline EsCGraphBuilder *ResolveBuilderImpl(const std::vector<EsCTensorHolder *> &esb_tensors) {
  for (EsCTensorHolder *const tensor : esb_tensors) {
    if (tensor != nullptr) {
      return ResolveBuilderImpl(tensor);
    }
  }
  return nullptr;
}
EsCGraphBuilder *ResolveBuilderImpl(const EsGraphBuilder *graph_builder);
inline EsCGraphBuilder *ResolveBuilderImpl(EsCGraphBuilder *graph_builder) { return graph_builder; }
inline EsCGraphBuilder *ResolveBuilderImpl(const std::nullptr_t) { return nullptr; }

/* Returns the builder of the first argument that has one, or null. */
inline EsCGraphBuilder *ResolveBuilder() { return nullptr; }
template <typename T, typename... Ts>
EsCGraphBuilder *ResolveBuilder(const T &first, const Ts &...rest) {
  EsCGraphBuilder *const builder = ResolveBuilderImpl(first);
  return builder != nullptr ? builder : ResolveBuilder(rest...);
}

}  // namespace es
}  // namespace ge

#endif
