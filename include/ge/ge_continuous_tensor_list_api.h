/* Tensors that lie behind each other in one block of host memory. */
#ifndef JUMAR_GE_CONTINUOUS_TENSOR_LIST_API_H_
#define JUMAR_GE_CONTINUOUS_TENSOR_LIST_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../graph/tensor.h"

namespace ge {

/* Copies share the memory. */
class ContinuousTensorList {
 public:
  ContinuousTensorList();
  explicit ContinuousTensorList(const std::vector<TensorDesc> &tensor_desc_list);
  ~ContinuousTensorList() = default;
  /* Allocates the memory. Descriptions whose sizes are unknown are refused. */
  graphStatus Initialize();
  graphStatus Finalize();
  const std::vector<TensorDesc> &GetTensorDescList() const;
  const std::vector<Tensor> &GetTensorList() const;
  std::vector<uint8_t *> GetDataList() const;
  std::vector<size_t> GetSizeList() const;
  size_t GetBufferSize() const;
  const void *GetBuffer() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
