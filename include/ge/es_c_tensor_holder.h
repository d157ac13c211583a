/* An output of a node in a graph that is being built. */
#ifndef JUMAR_ES_C_TENSOR_HOLDER_H_
#define JUMAR_ES_C_TENSOR_HOLDER_H_

#include <memory>

#include "../graph/gnode.h"
#include "esb_funcs.h"
#include "ge_api_error_codes.h"

struct EsCTensorHolder {
 public:
  EsCTensorHolder(EsCGraphBuilder &owner, const ge::GNode &producer, int32_t index);
  ~EsCTensorHolder();
  EsCTensorHolder(EsCTensorHolder &&) noexcept;
  EsCTensorHolder &operator=(EsCTensorHolder &&) noexcept;
  EsCTensorHolder(const EsCTensorHolder &) = delete;
  EsCTensorHolder &operator=(const EsCTensorHolder &) = delete;

  ge::Status SetDataType(const ge::DataType data_type);
  /* Formats of origin and storage are the same here, and so are their shapes. */
  ge::Status SetFormat(const ge::Format format);
  ge::Status SetOriginFormat(const ge::Format format);
  ge::Status SetStorageFormat(const ge::Format format);
  ge::Status SetShape(const ge::Shape &shape);
  ge::Status SetOriginShape(const ge::Shape &shape);
  ge::Status SetStorageShape(const ge::Shape &shape);
  /* Not supported: it fails with an explanation. */
  ge::Status SetOriginSymbolShape(const char *const *shape_str, const int64_t shape_str_num);
  ge::GNode &GetProducer();
  int32_t GetOutIndex() const;
  EsCGraphBuilder &GetOwnerBuilder();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

#endif
