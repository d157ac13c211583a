/* Tensors that lie behind each other in one block of host memory. */
#ifndef JUMAR_GE_CONTINUOUS_TENSOR_LIST_API_H_
#define JUMAR_GE_CONTINUOUS_TENSOR_LIST_API_H_

#include <cstdint>
#include <vector>

#include "../graph/tensor.h"

namespace ge {

class ContinuousTensorList {
 public:
  ContinuousTensorList() = default;
  explicit ContinuousTensorList(const std::vector<TensorDesc> &tensor_desc_list) : descs_(tensor_desc_list) {}
  ~ContinuousTensorList() = default;
  /* Gets the memory. Descriptions whose sizes are not known are refused. */
  graphStatus Initialize() {
    std::vector<size_t> sizes;
    size_t total = 0;
    for (const TensorDesc &desc : descs_) {
      const Shape shape = desc.GetShape();
      const int64_t count = shape.GetDimNum() == 0 ? 1 : shape.GetShapeSize();
      const int64_t bytes = GetSizeInBytes(count, desc.GetDataType());
      if (bytes < 0) {
        return GRAPH_FAILED;
      }
      sizes.push_back(static_cast<size_t>(bytes));
      total += (static_cast<size_t>(bytes) + 63) / 64 * 64;
    }
    buffer_ = std::make_shared<std::vector<uint64_t>>((total + 7) / 8);
    tensors_.clear();
    uint8_t *at = reinterpret_cast<uint8_t *>(buffer_->data());
    for (size_t index = 0; index < descs_.size(); ++index) {
      Tensor tensor(descs_[index]);
      const std::shared_ptr<std::vector<uint64_t>> held = buffer_;
      (void)tensor.SetData(at, sizes[index], [held](uint8_t *) {});
      tensors_.push_back(tensor);
      at += (sizes[index] + 63) / 64 * 64;
    }
    size_ = total;
    return GRAPH_SUCCESS;
  }
  graphStatus Finalize() {
    tensors_.clear();
    buffer_.reset();
    size_ = 0;
    return GRAPH_SUCCESS;
  }
  const std::vector<TensorDesc> &GetTensorDescList() const { return descs_; }
  const std::vector<Tensor> &GetTensorList() const { return tensors_; }
  std::vector<uint8_t *> GetDataList() const {
    std::vector<uint8_t *> list;
    for (Tensor tensor : tensors_) {
      list.push_back(tensor.GetData());
    }
    return list;
  }
  std::vector<size_t> GetSizeList() const {
    std::vector<size_t> list;
    for (const Tensor &tensor : tensors_) {
      list.push_back(tensor.GetSize());
    }
    return list;
  }
  size_t GetBufferSize() const { return size_; }
  const void *GetBuffer() const { return buffer_ == nullptr ? nullptr : buffer_->data(); }

 private:
  std::vector<TensorDesc> descs_;
  std::vector<Tensor> tensors_;
  std::shared_ptr<std::vector<uint64_t>> buffer_;
  size_t size_ = 0;
};

}  // namespace ge

#endif
