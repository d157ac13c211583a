/* Tensors as runs take them: shape, format, element type and memory in one object without anything behind it. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_TENSOR_H_
#define JUMAR_EXE_GRAPH_RUNTIME_TENSOR_H_

#include <memory>
#include <new>
#include <utility>

#include "../../graph/types.h"
#include "storage_format.h"
#include "storage_shape.h"
#include "tensor_data.h"

namespace gert {

enum TensorVersion : uint8_t { kTensorV1 = 0, kTensorV2 = 1 };

class Tensor {
 public:
  Tensor() : version_(kTensorV1), data_type_(ge::DT_UNDEFINED) {}
  Tensor(const StorageShape &storage_shape, const StorageFormat &storage_format, const TensorPlacement placement,
         const ge::DataType data_type, TensorAddress addr)
      : storage_shape_(storage_shape), storage_format_(storage_format), version_(kTensorV1),
        data_type_(data_type),
        tensor_data_(addr, nullptr, 0, placement) {}
  Tensor(const StorageShape &storage_shape, const StorageFormat &storage_format, ge::DataType data_type)
      : storage_shape_(storage_shape), storage_format_(storage_format), version_(kTensorV1),
        data_type_(data_type) {}
  Tensor(const StorageShape &storage_shape, const StorageFormat &storage_format, const TensorPlacement placement,
         const ge::DataType data_type, TensorAddress addr, TensorAddrManager manager)
      : storage_shape_(storage_shape), storage_format_(storage_format), version_(kTensorV1),
        data_type_(data_type),
        tensor_data_(addr, manager, 0, placement) {}

  int64_t GetShapeSize() const { return storage_shape_.GetStorageShape().GetShapeSize(); }
  template <typename T>
  const T *GetData() const {
    return static_cast<const T *>(GetAddr());
  }
  template <typename T>
  T *GetData() {
    return static_cast<T *>(GetAddr());
  }
  void SetData(TensorData &&data) { tensor_data_ = std::move(data); }
  const void *GetAddr() const {
    return GetPlacement() == kFollowing ? static_cast<const void *>(this + 1) : tensor_data_.GetAddr();
  }
  void *GetAddr() { return GetPlacement() == kFollowing ? static_cast<void *>(this + 1) : tensor_data_.GetAddr(); }
  size_t GetSize() const { return tensor_data_.GetSize(); }
  void SetSize(const size_t size) { tensor_data_.SetSize(size); }
  ge::DataType GetDataType() const { return data_type_; }
  void SetDataType(const ge::DataType data_type) { data_type_ = data_type; }

  /* Makes a tensor whose contents follow it in one block of memory; nothing where the size does not fit. The block starts
   * with the tensor. */
  static std::unique_ptr<uint8_t[]> CreateFollowing(const int64_t shape_size, const ge::DataType dt,
                                                    size_t &total_size) {
    const int64_t bytes = ge::GetSizeInBytes(shape_size, dt);
    if (bytes < 0) {
      return nullptr;
    }
    return CreateFollowing(dt, static_cast<size_t>(bytes), total_size);
  }
  static std::unique_ptr<uint8_t[]> CreateFollowing(const ge::DataType dt, const size_t tensor_size,
                                                    size_t &total_size) {
    if (tensor_size > SIZE_MAX / 2 - sizeof(Tensor)) {
      return nullptr;
    }
    total_size = sizeof(Tensor) + tensor_size;
    std::unique_ptr<uint8_t[]> block(new (std::nothrow) uint8_t[total_size]());
    if (block != nullptr) {
      Tensor *const tensor = new (block.get()) Tensor(StorageShape(), StorageFormat(), kFollowing, dt, nullptr);
      tensor->SetSize(tensor_size);
    }
    return block;
  }

  const Shape &GetStorageShape() const { return storage_shape_.GetStorageShape(); }
  Shape &MutableStorageShape() { return storage_shape_.MutableStorageShape(); }
  const Shape &GetOriginShape() const { return storage_shape_.GetOriginShape(); }
  Shape &MutableOriginShape() { return storage_shape_.MutableOriginShape(); }
  const StorageShape &GetShape() const { return storage_shape_; }
  StorageShape &GetShape() { return storage_shape_; }
  ge::Format GetStorageFormat() const { return storage_format_.GetStorageFormat(); }
  void SetStorageFormat(const ge::Format storage_format) { storage_format_.SetStorageFormat(storage_format); }
  ge::Format GetOriginFormat() const { return storage_format_.GetOriginFormat(); }
  void SetOriginFormat(const ge::Format origin_format) { storage_format_.SetOriginFormat(origin_format); }
  const StorageFormat &GetFormat() const { return storage_format_; }
  StorageFormat &MutableFormat() { return storage_format_; }
  ExpandDimsType GetExpandDimsType() const { return storage_format_.GetExpandDimsType(); }
  void SetExpandDimsType(const ExpandDimsType &expand_dims_type) { storage_format_.SetExpandDimsType(expand_dims_type); }
  TensorPlacement GetPlacement() const { return tensor_data_.GetPlacement(); }
  void SetPlacement(const TensorPlacement placement) { tensor_data_.SetPlacement(placement); }
  const TensorData &GetTensorData() const { return tensor_data_; }
  TensorData &MutableTensorData() { return tensor_data_; }
  TensorVersion GetVersion() const { return version_; }

 private:
  StorageShape storage_shape_;
  StorageFormat storage_format_;
  TensorVersion version_;
  uint8_t reserved_[3] = {};
  ge::DataType data_type_;
  TensorData tensor_data_;
  uint8_t more_reserved_[40] = {};
};

}  // namespace gert

#endif
