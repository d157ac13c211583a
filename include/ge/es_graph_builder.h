/* Builds a graph by function calls: inputs and constants here, operators by the functions of es_<Operator>.h. */
#ifndef JUMAR_ES_GRAPH_BUILDER_H_
#define JUMAR_ES_GRAPH_BUILDER_H_

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "es_c_graph_builder.h"
#include "es_tensor_holder.h"
#include "es_tensor_like.h"

namespace ge {
namespace es {

class EsGraphBuilder {
 public:
  EsGraphBuilder() : EsGraphBuilder("graph") {}
  explicit EsGraphBuilder(const char *name);
  ~EsGraphBuilder() = default;
  EsGraphBuilder(EsGraphBuilder &&) noexcept = default;
  EsGraphBuilder &operator=(EsGraphBuilder &&) noexcept = default;
  EsGraphBuilder(const EsGraphBuilder &) = delete;
  EsGraphBuilder &operator=(const EsGraphBuilder &) = delete;

  EsTensorHolder CreateInput(int64_t index, const char *name, const char *type);
  EsTensorHolder CreateInput(int64_t index);
  EsTensorHolder CreateInput(int64_t index, const char *name);
  EsTensorHolder CreateInput(int64_t index, const char *name, ge::DataType data_type, ge::Format format,
                             const std::vector<int64_t> &shape);
  /* Inputs of unknown type and shape: the first run or build decides both. */
  template <size_t inputs_num>
  std::array<EsTensorHolder, inputs_num> CreateInputs(size_t start_index = 0) {
    std::array<EsTensorHolder, inputs_num> all;
    for (size_t at = 0; at < inputs_num; ++at) {
      all[at] = CreateInput(static_cast<int64_t>(start_index + at));
    }
    return all;
  }
  std::vector<EsTensorHolder> CreateInputs(size_t inputs_num, size_t start_index = 0);

#define JUMAR_ES_CONSTANTS_(T)                                                                            \
  EsTensorHolder CreateConst(const std::vector<T> &value, const std::vector<int64_t> dims);               \
  EsTensorHolder CreateVector(const std::vector<T> &value);                                               \
  EsTensorHolder CreateScalar(T value);
  JUMAR_ES_CONSTANTS_(int64_t)
  JUMAR_ES_CONSTANTS_(int32_t)
  JUMAR_ES_CONSTANTS_(uint64_t)
  JUMAR_ES_CONSTANTS_(uint32_t)
  JUMAR_ES_CONSTANTS_(float)
#undef JUMAR_ES_CONSTANTS_
  /* A constant of elements of T, which are of the type `data_type`. */
  template <typename T>
  EsTensorHolder CreateConst(const std::vector<T> &value, const std::vector<int64_t> &dims, ge::DataType data_type,
                             ge::Format format = FORMAT_ND) {
    return CreateConst(CreateTensor<T>(value, dims, data_type, format));
  }
  EsTensorHolder CreateConst(std::unique_ptr<Tensor> tensor);
  EsTensorHolder CreateVariable(int32_t index, const char *name);

  template <typename T>
  static std::unique_ptr<Tensor> CreateTensor(const std::vector<T> &value, const std::vector<int64_t> &dims,
                                              ge::DataType data_type, ge::Format format = FORMAT_ND) {
    return std::unique_ptr<Tensor>(new Tensor(TensorDesc(ge::Shape(dims), format, data_type),
                                              reinterpret_cast<const uint8_t *>(value.data()),
                                              value.size() * sizeof(T)));
  }
  static std::unique_ptr<Tensor> CreateBoolTensor(const std::vector<bool> &value, const std::vector<int64_t> &dims,
                                                  Format format = FORMAT_ND) {
    const std::vector<uint8_t> bytes(value.begin(), value.end());
    return CreateTensor<uint8_t>(bytes, dims, DT_BOOL, format);
  }

  Status SetAttr(const char *attr_name, int64_t value);
  Status SetAttr(const char *attr_name, const char *value);
  Status SetAttr(const char *attr_name, bool value);
  /* Returns 0, or another status and an error text. */
  static int64_t SetOutput(const EsTensorHolder &tensor, int64_t index);
  /* Returns null if a node could not be added, or if the indexes of inputs or outputs have a gap. */
  std::unique_ptr<Graph> BuildAndReset() const;
  std::unique_ptr<Graph> BuildAndReset(const std::vector<EsTensorHolder> &outputs);
  EsCGraphBuilder *GetCGraphBuilder() const { return builder_.get(); }

 private:
  std::unique_ptr<EsCGraphBuilder> builder_;
};

inline EsCGraphBuilder *ResolveBuilderImpl(const EsGraphBuilder *graph_builder) {
  return graph_builder == nullptr ? nullptr : graph_builder->GetCGraphBuilder();
}

/* What the generated functions convert. */
inline std::vector<EsCTensorHolder *> TensorsToEsCTensorHolders(const std::vector<EsTensorHolder> &tensors) {
  std::vector<EsCTensorHolder *> all;
  for (const EsTensorHolder &tensor : tensors) {
    all.push_back(tensor.GetCTensorHolder());
  }
  return all;
}
inline std::vector<EsCGraph *> GeGraphsToEsCGraphs(std::vector<std::unique_ptr<ge::Graph>> graphs) {
  std::vector<EsCGraph *> all;
  for (std::unique_ptr<ge::Graph> &graph : graphs) {
    all.push_back(graph.release());
  }
  return all;
}
inline std::vector<C_DataType> DataTypesToEsCDataTypes(const std::vector<ge::DataType> &data_types) {
  std::vector<C_DataType> all;
  for (const ge::DataType type : data_types) {
    all.push_back(static_cast<C_DataType>(type));
  }
  return all;
}

}  // namespace es
}  // namespace ge

#endif
