/* Shapes, descriptions of tensors, and tensors in host or device memory. */
#ifndef JUMAR_GRAPH_TENSOR_H_
#define JUMAR_GRAPH_TENSOR_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jumar_wire.h"
#include "types.h"

namespace ge {

class Shape {
 public:
  Shape() = default;
  ~Shape() = default;
  explicit Shape(const std::vector<int64_t> &dims) : dims_(dims) {}
  /* -2 as the only dimension says that their number is not known. */
  size_t GetDimNum() const { return Unknown() ? 0 : dims_.size(); }
  int64_t GetDim(size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
  graphStatus SetDim(size_t index, int64_t value) {
    if (index >= dims_.size()) {
      return GRAPH_FAILED;
    }
    dims_[index] = value;
    return GRAPH_SUCCESS;
  }
  std::vector<int64_t> GetDims() const { return dims_; }
  /* The number of elements; 0 without dimensions, -1 where one is open, 0 beyond what the type holds. */
  int64_t GetShapeSize() const {
    if (dims_.empty()) {
      return 0;
    }
    int64_t product = 1;
    for (int64_t dim : dims_) {
      if (dim < 0) {
        return -1;
      }
      if (dim != 0 && product > INT64_MAX / dim) {
        return 0;
      }
      product *= dim;
    }
    return product;
  }

 private:
  bool Unknown() const { return dims_.size() == 1 && dims_[0] == UNKNOWN_DIM_NUM; }
  std::vector<int64_t> dims_;
};

class TensorDesc {
 public:
  TensorDesc() = default;
  ~TensorDesc() = default;
  TensorDesc(const TensorDesc &) = default;
  TensorDesc(TensorDesc &&) = default;
  TensorDesc &operator=(const TensorDesc &) = default;
  TensorDesc &operator=(TensorDesc &&) = default;
  explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType type = DT_FLOAT)
      : shape_(shape), format_(format), origin_format_(format), type_(type) {}
  void Update(const Shape &shape, Format format = FORMAT_ND, DataType type = DT_FLOAT) {
    shape_ = shape;
    format_ = format;
    type_ = type;
  }
  Shape GetShape() const { return shape_; }
  void SetShape(const Shape &shape) { shape_ = shape; }
  graphStatus SetUnknownDimNumShape() {
    shape_ = Shape(std::vector<int64_t>(1, UNKNOWN_DIM_NUM));
    return GRAPH_SUCCESS;
  }
  graphStatus SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range) {
    range_ = range;
    return GRAPH_SUCCESS;
  }
  graphStatus GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const {
    range = range_;
    return GRAPH_SUCCESS;
  }
  Format GetFormat() const { return format_; }
  void SetFormat(Format format) { format_ = format; }
  Shape GetOriginShape() const { return origin_shape_; }
  void SetOriginShape(const Shape &shape) { origin_shape_ = shape; }
  Format GetOriginFormat() const { return origin_format_; }
  void SetOriginFormat(Format format) { origin_format_ = format; }
  DataType GetDataType() const { return type_; }
  void SetDataType(DataType type) { type_ = type; }
  graphStatus GetName(AscendString &name) {
    name = name_;
    return GRAPH_SUCCESS;
  }
  graphStatus GetName(AscendString &name) const {
    name = name_;
    return GRAPH_SUCCESS;
  }
  std::string GetName() const { return std::string(name_.GetString()); }
  void SetName(const char_t *name) { name_ = AscendString(name); }
  void SetName(const std::string &name) { name_ = AscendString(name.c_str()); }
  void SetSize(int64_t size) { size_ = size; }
  int64_t GetSize() const { return size_; }
  int64_t GetRealDimCnt() const { return real_dims_; }
  void SetRealDimCnt(const int64_t count) { real_dims_ = count; }
  void SetPlacement(Placement placement) { placement_ = placement; }
  Placement GetPlacement() const { return placement_; }

  void JumarWrite(jumar::Message &to) const {
    jumar::Message rest;
    rest.Int(origin_format_).Ints(origin_shape_.GetDims()).Text(name_).Int(size_).Int(real_dims_).Int(placement_);
    rest.U64(range_.size());
    for (const auto &range : range_) {
      rest.Int(range.first).Int(range.second);
    }
    to.Int(type_).Int(format_).Ints(shape_.GetDims()).Bytes(rest.data(), rest.size());
  }
  static TensorDesc JumarRead(jumar::Reply &from) {
    TensorDesc desc;
    desc.type_ = static_cast<DataType>(from.Int());
    desc.format_ = static_cast<Format>(from.Int());
    desc.shape_ = Shape(from.Ints());
    const std::pair<const char *, size_t> bytes = from.Bytes();
    desc.origin_format_ = desc.format_;
    if (bytes.second > 0) {
      jumar::Reply rest;
      rest.Take(bytes.first, bytes.second);
      desc.origin_format_ = static_cast<Format>(rest.Int());
      desc.origin_shape_ = Shape(rest.Ints());
      desc.name_ = rest.Text();
      desc.size_ = rest.Int();
      desc.real_dims_ = rest.Int();
      desc.placement_ = static_cast<Placement>(rest.Int());
      for (uint64_t left = rest.U64(); left > 0; --left) {
        const int64_t least = rest.Int();
        desc.range_.push_back(std::make_pair(least, rest.Int()));
      }
    }
    return desc;
  }

 private:
  Shape shape_;
  Shape origin_shape_;
  Format format_ = FORMAT_ND;
  Format origin_format_ = FORMAT_ND;
  DataType type_ = DT_FLOAT;
  AscendString name_;
  int64_t size_ = 0;
  int64_t real_dims_ = 0;
  Placement placement_ = kPlacementHost;
  std::vector<std::pair<int64_t, int64_t>> range_;
};

class Tensor {
 public:
  typedef std::function<void(uint8_t *)> DeleteFunc;

  Tensor() : impl_(std::make_shared<Impl>()) {}
  ~Tensor() = default;
  explicit Tensor(const TensorDesc &desc) : Tensor() { impl_->desc = desc; }
  Tensor(const TensorDesc &desc, const std::vector<uint8_t> &data) : Tensor(desc) { (void)SetData(data); }
  Tensor(const TensorDesc &desc, const uint8_t *data, size_t size) : Tensor(desc) { (void)SetData(data, size); }
  Tensor(TensorDesc &&desc, std::vector<uint8_t> &&data) : Tensor(desc) { (void)SetData(data); }

  TensorDesc GetTensorDesc() const { return impl_->desc; }
  graphStatus SetTensorDesc(const TensorDesc &desc) {
    impl_->desc = desc;
    return GRAPH_SUCCESS;
  }
  const uint8_t *GetData() const { return impl_->data; }
  uint8_t *GetData() { return impl_->data; }
  size_t GetSize() const { return impl_->size; }
  std::unique_ptr<uint8_t[], DeleteFunc> ResetData() {
    DeleteFunc deleter = impl_->deleter ? impl_->deleter : DeleteFunc([](uint8_t *) {});
    std::unique_ptr<uint8_t[], DeleteFunc> data(impl_->data, deleter);
    impl_->data = nullptr;
    impl_->size = 0;
    impl_->deleter = nullptr;
    return data;
  }
  graphStatus ResetData(uint8_t *data, size_t size, const DeleteFunc &deleter) { return SetData(data, size, deleter); }
  graphStatus SetData(std::vector<uint8_t> &&data) { return SetData(data.data(), data.size()); }
  graphStatus SetData(const std::vector<uint8_t> &data) { return SetData(data.data(), data.size()); }
  graphStatus SetData(const uint8_t *data, size_t size) {
    if (data == nullptr && size > 0) {
      return GRAPH_FAILED;
    }
    uint8_t *copy = new uint8_t[size == 0 ? 1 : size];
    if (size > 0) {
      std::memcpy(copy, data, size);
    }
    impl_->Set(copy, size, [](uint8_t *own) { delete[] own; });
    return GRAPH_SUCCESS;
  }
  graphStatus SetData(const char_t *data) {
    if (data == nullptr) {
      return GRAPH_FAILED;
    }
    return SetData(reinterpret_cast<const uint8_t *>(data), std::strlen(data));
  }
  /* Texts, as the contents of a tensor of texts: a table of where each lies and how long it is, then the texts. */
  graphStatus SetData(const std::vector<AscendString> &datas) {
    std::vector<uint8_t> bytes(datas.size() * 16);
    for (size_t index = 0; index < datas.size(); ++index) {
      const int64_t entry[2] = {static_cast<int64_t>(bytes.size()), static_cast<int64_t>(datas[index].GetLength())};
      std::memcpy(bytes.data() + index * 16, entry, sizeof entry);
      const uint8_t *from = reinterpret_cast<const uint8_t *>(datas[index].GetString());
      bytes.insert(bytes.end(), from, from + datas[index].GetLength() + 1);
    }
    return SetData(bytes.data(), bytes.size());
  }
  graphStatus SetData(const std::vector<std::string> &datas) {
    std::vector<AscendString> list;
    for (const std::string &one : datas) {
      list.push_back(AscendString(one.c_str(), one.size()));
    }
    return SetData(list);
  }
  graphStatus SetData(uint8_t *data, size_t size, const DeleteFunc &deleter) {
    impl_->Set(data, size, deleter);
    return GRAPH_SUCCESS;
  }
  graphStatus IsValid() { return impl_->size == 0 && impl_->desc.GetShape().GetShapeSize() > 0 ? GRAPH_FAILED : GRAPH_SUCCESS; }
  size_t GetShapeDimNum() const { return impl_->desc.GetShape().GetDimNum(); }
  int64_t GetShapeDim(const size_t index) const { return impl_->desc.GetShape().GetDim(index); }
  graphStatus SetShapeDim(const size_t index, const int64_t value) {
    Shape shape = impl_->desc.GetShape();
    const graphStatus status = shape.SetDim(index, value);
    impl_->desc.SetShape(shape);
    return status;
  }
  graphStatus SetFormat(const ge::Format &format) {
    impl_->desc.SetFormat(format);
    return GRAPH_SUCCESS;
  }
  ge::Format GetFormat() const { return impl_->desc.GetFormat(); }
  graphStatus SetDataType(const ge::DataType &type) {
    impl_->desc.SetDataType(type);
    return GRAPH_SUCCESS;
  }
  ge::DataType GetDataType() const { return impl_->desc.GetDataType(); }
  graphStatus SetPlacement(const ge::Placement &placement) {
    impl_->desc.SetPlacement(placement);
    return GRAPH_SUCCESS;
  }
  ge::Placement GetPlacement() const { return impl_->desc.GetPlacement(); }
  Tensor Clone() const { return Tensor(impl_->desc, impl_->data, impl_->size); }

  void JumarWrite(jumar::Message &to) const {
    impl_->desc.JumarWrite(to);
    to.Bytes(impl_->data, impl_->data == nullptr ? 0 : impl_->size);
  }
  static Tensor JumarRead(jumar::Reply &from) {
    const TensorDesc desc = TensorDesc::JumarRead(from);
    const std::pair<const char *, size_t> bytes = from.Bytes();
    return Tensor(desc, reinterpret_cast<const uint8_t *>(bytes.first), bytes.second);
  }

 private:
  struct Impl {
    TensorDesc desc;
    uint8_t *data = nullptr;
    size_t size = 0;
    DeleteFunc deleter;
    Impl() = default;
    Impl(const Impl &) = delete;
    Impl &operator=(const Impl &) = delete;
    void Set(uint8_t *new_data, size_t new_size, const DeleteFunc &new_deleter) {
      Free();
      data = new_data;
      size = new_size;
      deleter = new_deleter;
    }
    void Free() {
      if (data != nullptr && deleter) {
        deleter(data);
      }
      data = nullptr;
    }
    ~Impl() { Free(); }
  };
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
