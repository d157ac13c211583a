/* An output of a node in a graph that is being built, as a value. Copies name the same tensor. */
#ifndef JUMAR_ES_TENSOR_HOLDER_H_
#define JUMAR_ES_TENSOR_HOLDER_H_

#include <vector>

#include "es_c_tensor_holder.h"

namespace ge {
namespace es {

class EsTensorHolder {
 public:
  EsTensorHolder(EsCTensorHolder *tensor) : tensor_(tensor) {}
  EsTensorHolder() = default;

  EsTensorHolder operator+(const EsTensorHolder &other) const;
  EsTensorHolder operator-(const EsTensorHolder &other) const;
  EsTensorHolder operator*(const EsTensorHolder &other) const;
  EsTensorHolder operator/(const EsTensorHolder &other) const;

  EsTensorHolder &SetDataType(const ge::DataType data_type);
  EsTensorHolder &SetFormat(const ge::Format format);
  EsTensorHolder &SetShape(const std::vector<int64_t> &dims);
  EsTensorHolder &SetOriginSymbolShape(const std::vector<const char *> &dims);
  Status SetAttr(const char *attr_name, int64_t value);
  Status SetAttr(const char *attr_name, const char *value);
  Status SetAttr(const char *attr_name, bool value);
  Status SetAttrForNode(const char *attr_name, int64_t value);
  Status SetAttrForNode(const char *attr_name, const char *value);
  Status SetAttrForNode(const char *attr_name, bool value);
  Status AddControlEdge(const std::vector<EsTensorHolder> &ctrl_ins) const;

  EsCTensorHolder *GetCTensorHolder() const { return tensor_; }
  int32_t GetProducerOutIndex() const;
  GNode *GetProducer() const;

 private:
  EsCTensorHolder *tensor_ = nullptr;
};

}  // namespace es
}  // namespace ge

#endif
