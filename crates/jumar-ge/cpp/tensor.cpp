/* Strings, element types, shapes, descriptions and tensors. */
#include <algorithm>
#include <cstring>
#include <string>

#include "access.h"

namespace ge {

struct AscendString::Impl {
  std::string text;
};

AscendString::AscendString() {}
AscendString::AscendString(const char *const name) {
  if (name != nullptr) {
    impl_ = std::make_shared<Impl>(Impl{std::string(name)});
  }
}
AscendString::AscendString(const char *const name, size_t length) {
  if (name != nullptr) {
    impl_ = std::make_shared<Impl>(Impl{std::string(name, length)});
  }
}
const char *AscendString::GetString() const { return impl_ == nullptr ? "" : impl_->text.c_str(); }
size_t AscendString::GetLength() const { return impl_ == nullptr ? 0 : impl_->text.size(); }
size_t AscendString::Find(const AscendString &part) const {
  return std::string(GetString(), GetLength()).find(part.GetString());
}
size_t AscendString::Hash() const { return std::hash<std::string>()(std::string(GetString(), GetLength())); }
bool AscendString::operator<(const AscendString &other) const { return std::strcmp(GetString(), other.GetString()) < 0; }
bool AscendString::operator>(const AscendString &other) const { return other < *this; }
bool AscendString::operator<=(const AscendString &other) const { return !(other < *this); }
bool AscendString::operator>=(const AscendString &other) const { return !(*this < other); }
bool AscendString::operator==(const AscendString &other) const {
  return std::strcmp(GetString(), other.GetString()) == 0;
}
bool AscendString::operator!=(const AscendString &other) const { return !(*this == other); }
bool AscendString::operator==(const char *const other) const {
  return other != nullptr && std::strcmp(GetString(), other) == 0;
}
bool AscendString::operator!=(const char *const other) const { return !(*this == other); }

struct TensorType::Impl {
  std::vector<DataType> types;
};

TensorType::TensorType(DataType type) : impl_(std::make_shared<Impl>(Impl{{type}})) {}
TensorType::TensorType(const std::initializer_list<DataType> &types) : impl_(std::make_shared<Impl>(Impl{types})) {}

Promote::Promote(const std::initializer_list<const char *> &names)
    : names_(std::make_shared<std::vector<const char *>>(names)) {}
Promote::Promote(Promote &&other) noexcept : names_(std::move(other.names_)) {}
Promote &Promote::operator=(Promote &&other) noexcept {
  names_ = std::move(other.names_);
  return *this;
}
std::vector<const char *> Promote::Syms() const {
  return names_ == nullptr ? std::vector<const char *>() : *static_cast<const std::vector<const char *> *>(names_.get());
}

struct Shape::Impl {
  std::vector<int64_t> dims;
  bool Unknown() const { return dims.size() == 1 && dims[0] == UNKNOWN_DIM_NUM; }
};

Shape::Shape() : impl_(std::make_shared<Impl>()) {}
Shape::Shape(const std::vector<int64_t> &dims) : impl_(std::make_shared<Impl>(Impl{dims})) {}
size_t Shape::GetDimNum() const { return impl_ == nullptr || impl_->Unknown() ? 0 : impl_->dims.size(); }
int64_t Shape::GetDim(size_t index) const {
  return impl_ != nullptr && index < impl_->dims.size() ? impl_->dims[index] : 0;
}
graphStatus Shape::SetDim(size_t index, int64_t value) {
  if (impl_ == nullptr || index >= impl_->dims.size()) {
    return GRAPH_FAILED;
  }
  if (impl_.use_count() > 1) {
    impl_ = std::make_shared<Impl>(*impl_);
  }
  impl_->dims[index] = value;
  return GRAPH_SUCCESS;
}
std::vector<int64_t> Shape::GetDims() const { return impl_ == nullptr ? std::vector<int64_t>() : impl_->dims; }
int64_t Shape::GetShapeSize() const {
  if (impl_ == nullptr || impl_->dims.empty()) {
    return 0;
  }
  int64_t product = 1;
  for (int64_t dim : impl_->dims) {
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

struct TensorDesc::Impl {
  Shape shape;
  Shape origin_shape;
  Format format = FORMAT_ND;
  Format origin_format = FORMAT_ND;
  DataType type = DT_FLOAT;
  AscendString name;
  int64_t size = 0;
  int64_t real_dims = 0;
  Placement placement = kPlacementHost;
  std::vector<std::pair<int64_t, int64_t>> range;
};

TensorDesc::TensorDesc() : impl_(std::make_shared<Impl>()) {}
TensorDesc::TensorDesc(const TensorDesc &other) : impl_(std::make_shared<Impl>(*other.impl_)) {}
TensorDesc::TensorDesc(TensorDesc &&other) : TensorDesc() { impl_.swap(other.impl_); }
TensorDesc &TensorDesc::operator=(const TensorDesc &other) {
  *impl_ = *other.impl_;
  return *this;
}
TensorDesc &TensorDesc::operator=(TensorDesc &&other) {
  impl_.swap(other.impl_);
  return *this;
}
TensorDesc::TensorDesc(Shape shape, Format format, DataType type) : TensorDesc() {
  impl_->shape = shape;
  impl_->format = format;
  impl_->origin_format = format;
  impl_->type = type;
}
void TensorDesc::Update(const Shape &shape, Format format, DataType type) {
  impl_->shape = shape;
  impl_->format = format;
  impl_->type = type;
}
Shape TensorDesc::GetShape() const { return impl_->shape; }
void TensorDesc::SetShape(const Shape &shape) { impl_->shape = shape; }
graphStatus TensorDesc::SetUnknownDimNumShape() {
  impl_->shape = Shape(std::vector<int64_t>(1, UNKNOWN_DIM_NUM));
  return GRAPH_SUCCESS;
}
graphStatus TensorDesc::SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range) {
  impl_->range = range;
  return GRAPH_SUCCESS;
}
graphStatus TensorDesc::GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const {
  range = impl_->range;
  return GRAPH_SUCCESS;
}
Format TensorDesc::GetFormat() const { return impl_->format; }
void TensorDesc::SetFormat(Format format) { impl_->format = format; }
Shape TensorDesc::GetOriginShape() const { return impl_->origin_shape; }
void TensorDesc::SetOriginShape(const Shape &shape) { impl_->origin_shape = shape; }
Format TensorDesc::GetOriginFormat() const { return impl_->origin_format; }
void TensorDesc::SetOriginFormat(Format format) { impl_->origin_format = format; }
DataType TensorDesc::GetDataType() const { return impl_->type; }
void TensorDesc::SetDataType(DataType type) { impl_->type = type; }
graphStatus TensorDesc::GetName(AscendString &name) {
  name = impl_->name;
  return GRAPH_SUCCESS;
}
graphStatus TensorDesc::GetName(AscendString &name) const {
  name = impl_->name;
  return GRAPH_SUCCESS;
}
void TensorDesc::SetName(const char_t *name) { impl_->name = AscendString(name); }
void TensorDesc::SetSize(int64_t size) { impl_->size = size; }
int64_t TensorDesc::GetSize() const { return impl_->size; }
int64_t TensorDesc::GetRealDimCnt() const { return impl_->real_dims; }
void TensorDesc::SetRealDimCnt(const int64_t count) { impl_->real_dims = count; }
void TensorDesc::SetPlacement(Placement placement) { impl_->placement = placement; }
Placement TensorDesc::GetPlacement() const { return impl_->placement; }

struct Tensor::Impl {
  TensorDesc desc;
  uint8_t *data = nullptr;
  size_t size = 0;
  /* Whether dimensions were changed one by one after the memory was set: the size may be that of the earlier shape. */
  bool resized = false;
  DeleteFunc deleter;
  Impl() = default;
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;
  ~Impl() { Free(); }
  void Set(uint8_t *new_data, size_t new_size, const DeleteFunc &new_deleter) {
    Free();
    data = new_data;
    size = new_size;
    resized = false;
    deleter = new_deleter;
  }
  void Free() {
    if (data != nullptr && deleter) {
      deleter(data);
    }
    data = nullptr;
  }
};

Tensor::Tensor() : impl_(std::make_shared<Impl>()) {}
Tensor::Tensor(const TensorDesc &desc) : Tensor() { impl_->desc = desc; }
Tensor::Tensor(const TensorDesc &desc, const std::vector<uint8_t> &data) : Tensor(desc) { (void)SetData(data); }
Tensor::Tensor(const TensorDesc &desc, const uint8_t *data, size_t size) : Tensor(desc) { (void)SetData(data, size); }
Tensor::Tensor(TensorDesc &&desc, std::vector<uint8_t> &&data) : Tensor(desc) { (void)SetData(data); }
TensorDesc Tensor::GetTensorDesc() const { return impl_->desc; }
graphStatus Tensor::SetTensorDesc(const TensorDesc &desc) {
  impl_->desc = desc;
  return GRAPH_SUCCESS;
}
const uint8_t *Tensor::GetData() const { return impl_->data; }
uint8_t *Tensor::GetData() { return impl_->data; }
size_t Tensor::GetSize() const { return impl_->size; }
std::unique_ptr<uint8_t[], Tensor::DeleteFunc> Tensor::ResetData() {
  DeleteFunc deleter = impl_->deleter ? impl_->deleter : DeleteFunc([](uint8_t *) {});
  std::unique_ptr<uint8_t[], DeleteFunc> data(impl_->data, deleter);
  impl_->data = nullptr;
  impl_->size = 0;
  impl_->deleter = nullptr;
  return data;
}
graphStatus Tensor::ResetData(uint8_t *data, size_t size, const DeleteFunc &deleter) {
  return SetData(data, size, deleter);
}
graphStatus Tensor::SetData(std::vector<uint8_t> &&data) { return SetData(data.data(), data.size()); }
graphStatus Tensor::SetData(const std::vector<uint8_t> &data) { return SetData(data.data(), data.size()); }
graphStatus Tensor::SetData(const uint8_t *data, size_t size) {
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
graphStatus Tensor::SetData(const char_t *data) {
  if (data == nullptr) {
    return GRAPH_FAILED;
  }
  return SetData(reinterpret_cast<const uint8_t *>(data), std::strlen(data));
}
graphStatus Tensor::SetData(const std::vector<AscendString> &datas) {
  std::vector<uint8_t> bytes(datas.size() * 16);
  for (size_t index = 0; index < datas.size(); ++index) {
    const int64_t entry[2] = {static_cast<int64_t>(bytes.size()), static_cast<int64_t>(datas[index].GetLength())};
    std::memcpy(bytes.data() + index * 16, entry, sizeof entry);
    const uint8_t *from = reinterpret_cast<const uint8_t *>(datas[index].GetString());
    bytes.insert(bytes.end(), from, from + datas[index].GetLength() + 1);
  }
  return SetData(bytes.data(), bytes.size());
}
graphStatus Tensor::SetData(uint8_t *data, size_t size, const DeleteFunc &deleter) {
  impl_->Set(data, size, deleter);
  return GRAPH_SUCCESS;
}
graphStatus Tensor::IsValid() {
  return impl_->size == 0 && impl_->desc.GetShape().GetShapeSize() > 0 ? GRAPH_FAILED : GRAPH_SUCCESS;
}

namespace {

/* No operator takes more; a count far beyond is not one. */
const size_t kMostDims = 1024;

/* Returns a shape of another rank that keeps the dimensions both have; new ones are 0. */
Shape Resized(const Shape &shape, size_t count) {
  std::vector<int64_t> dims = shape.GetDims();
  dims.resize(count, 0);
  return Shape(dims);
}

}  // namespace

graphStatus Tensor::SetShapeDimNum(const size_t count) {
  if (count > kMostDims) {
    return GRAPH_PARAM_INVALID;
  }
  impl_->desc.SetShape(Resized(impl_->desc.GetShape(), count));
  impl_->resized = true;
  return GRAPH_SUCCESS;
}
size_t Tensor::GetShapeDimNum() const { return impl_->desc.GetShape().GetDimNum(); }
graphStatus Tensor::SetShapeDim(const size_t index, const int64_t value) {
  Shape shape = impl_->desc.GetShape();
  const graphStatus status = shape.SetDim(index, value);
  impl_->desc.SetShape(shape);
  impl_->resized = true;
  return status;
}
int64_t Tensor::GetShapeDim(const size_t index) const { return impl_->desc.GetShape().GetDim(index); }
graphStatus Tensor::SetOriginShapeDimNum(const size_t count) {
  if (count > kMostDims) {
    return GRAPH_PARAM_INVALID;
  }
  impl_->desc.SetOriginShape(Resized(impl_->desc.GetOriginShape(), count));
  return GRAPH_SUCCESS;
}
size_t Tensor::GetOriginShapeDimNum() const { return impl_->desc.GetOriginShape().GetDimNum(); }
graphStatus Tensor::SetOriginShapeDim(const size_t index, const int64_t value) {
  Shape shape = impl_->desc.GetOriginShape();
  const graphStatus status = shape.SetDim(index, value);
  impl_->desc.SetOriginShape(shape);
  return status;
}
int64_t Tensor::GetOriginShapeDim(const size_t index) const { return impl_->desc.GetOriginShape().GetDim(index); }
graphStatus Tensor::SetFormat(const ge::Format &format) {
  impl_->desc.SetFormat(format);
  return GRAPH_SUCCESS;
}
ge::Format Tensor::GetFormat() const { return impl_->desc.GetFormat(); }
graphStatus Tensor::SetOriginFormat(const ge::Format &format) {
  impl_->desc.SetOriginFormat(format);
  return GRAPH_SUCCESS;
}
ge::Format Tensor::GetOriginFormat() const { return impl_->desc.GetOriginFormat(); }
graphStatus Tensor::SetDataType(const ge::DataType &type) {
  impl_->desc.SetDataType(type);
  return GRAPH_SUCCESS;
}
ge::DataType Tensor::GetDataType() const { return impl_->desc.GetDataType(); }
graphStatus Tensor::SetPlacement(const ge::Placement &placement) {
  impl_->desc.SetPlacement(placement);
  return GRAPH_SUCCESS;
}
ge::Placement Tensor::GetPlacement() const { return impl_->desc.GetPlacement(); }
/* A client that runs a graph again with a tensor in the same memory changes its dimensions alone. Whether the memory is that large
 * is checked where the address is looked up. */
size_t jumar::Access::DeviceSize(const Tensor &tensor) {
  const Tensor::Impl &own = *tensor.impl_;
  const int64_t needs = own.resized ? GetSizeInBytes(own.desc.GetShape().GetShapeSize(), own.desc.GetDataType()) : 0;
  return std::max(own.size, needs > 0 ? static_cast<size_t>(needs) : size_t(0));
}
Tensor Tensor::Clone() const { return Tensor(impl_->desc, impl_->data, impl_->size); }

namespace jumar {

void Access::Write(Message &to, const TensorDesc &desc) {
  const TensorDesc::Impl &own = *desc.impl_;
  Message rest;
  rest.Int(own.origin_format).Ints(own.origin_shape.GetDims()).Text(own.name).Int(own.size).Int(own.real_dims);
  rest.Int(own.placement).U64(own.range.size());
  for (const auto &range : own.range) {
    rest.Int(range.first).Int(range.second);
  }
  to.Int(own.type).Int(own.format).Ints(own.shape.GetDims()).Bytes(rest.data(), rest.size());
}
TensorDesc Access::ReadDesc(Reply &from) {
  TensorDesc desc;
  TensorDesc::Impl &own = *desc.impl_;
  own.type = static_cast<DataType>(from.Int());
  own.format = static_cast<Format>(from.Int());
  own.shape = Shape(from.Ints());
  const std::pair<const char *, size_t> bytes = from.Bytes();
  own.origin_format = own.format;
  if (bytes.second > 0) {
    Reply rest;
    rest.Take(bytes.first, bytes.second);
    own.origin_format = static_cast<Format>(rest.Int());
    own.origin_shape = Shape(rest.Ints());
    own.name = rest.Text();
    own.size = rest.Int();
    own.real_dims = rest.Int();
    own.placement = static_cast<Placement>(rest.Int());
    for (uint64_t left = rest.U64(); left > 0; --left) {
      const int64_t least = rest.Int();
      own.range.push_back(std::make_pair(least, rest.Int()));
    }
  }
  return desc;
}
void Access::Write(Message &to, const Tensor &tensor) {
  Write(to, tensor.impl_->desc);
  to.Bytes(tensor.impl_->data, tensor.impl_->data == nullptr ? 0 : tensor.impl_->size);
}
Tensor Access::ReadTensor(Reply &from) {
  const TensorDesc desc = ReadDesc(from);
  const std::pair<const char *, size_t> bytes = from.Bytes();
  return Tensor(desc, reinterpret_cast<const uint8_t *>(bytes.first), bytes.second);
}

}  // namespace jumar

int GetSizeByDataType(DataType type) {
  switch (type) {
    case DT_BOOL: case DT_INT8: case DT_UINT8: case DT_QINT8: case DT_QUINT8: case DT_DUAL_SUB_INT8:
    case DT_DUAL_SUB_UINT8: case DT_HIFLOAT8: case DT_FLOAT8_E5M2: case DT_FLOAT8_E4M3FN: case DT_FLOAT8_E8M0:
      return 1;
    case DT_FLOAT16: case DT_BF16: case DT_INT16: case DT_UINT16: case DT_QINT16: case DT_QUINT16:
      return 2;
    case DT_FLOAT: case DT_INT32: case DT_UINT32: case DT_QINT32: case DT_COMPLEX32:
      return 4;
    case DT_DUAL:
      return 5;
    case DT_DOUBLE: case DT_INT64: case DT_UINT64: case DT_COMPLEX64: case DT_RESOURCE:
      return 8;
    case DT_COMPLEX128: case DT_STRING: case DT_STRING_REF:
      return 16;
    case DT_INT4: case DT_FLOAT4_E2M1: case DT_FLOAT4_E1M2:
      return 1004;
    case DT_FLOAT6_E3M2: case DT_FLOAT6_E2M3:
      return 1006;
    case DT_UINT1:
      return 1001;
    case DT_INT2: case DT_UINT2:
      return 1002;
    default:
      return -1;
  }
}

int64_t GetSizeInBytes(int64_t count, DataType type) {
  const int64_t size = GetSizeByDataType(type);
  if (count < 0 || size < 0) {
    return -1;
  }
  if (size > 1000) {
    const int64_t bits = size - 1000;
    return count > INT64_MAX / bits - 7 ? -1 : (count * bits + 7) / 8;
  }
  return count > INT64_MAX / size ? -1 : count * size;
}

const char_t *GetFormatName(Format format) {
  switch (static_cast<int>(format)) {
    case 0: return "NCHW";
    case 1: return "NHWC";
    case 2: return "ND";
    case 3: return "NC1HWC0";
    case 4: return "FRACTAL_Z";
    case 5: return "NC1C0HWPAD";
    case 6: return "NHWC1C0";
    case 7: return "FSR_NCHW";
    case 8: return "FRACTAL_DECONV";
    case 9: return "C1HWNC0";
    case 10: return "FRACTAL_DECONV_TRANSPOSE";
    case 11: return "FRACTAL_DECONV_SP_STRIDE_TRANS";
    case 12: return "NC1HWC0_C04";
    case 13: return "FRACTAL_Z_C04";
    case 14: return "CHWN";
    case 15: return "FRACTAL_DECONV_SP_STRIDE8_TRANS";
    case 16: return "HWCN";
    case 17: return "NC1KHKWHWC0";
    case 18: return "BN_WEIGHT";
    case 19: return "FILTER_HWCK";
    case 20: return "HASHTABLE_LOOKUP_LOOKUPS";
    case 21: return "HASHTABLE_LOOKUP_KEYS";
    case 22: return "HASHTABLE_LOOKUP_VALUE";
    case 23: return "HASHTABLE_LOOKUP_OUTPUT";
    case 24: return "HASHTABLE_LOOKUP_HITS";
    case 25: return "C1HWNCoC0";
    case 26: return "MD";
    case 27: return "NDHWC";
    case 28: return "FRACTAL_ZZ";
    case 29: return "FRACTAL_NZ";
    case 30: return "NCDHW";
    case 31: return "DHWCN";
    case 32: return "NDC1HWC0";
    case 33: return "FRACTAL_Z_3D";
    case 34: return "CN";
    case 35: return "NC";
    case 36: return "DHWNC";
    case 37: return "FRACTAL_Z_3D_TRANSPOSE";
    case 38: return "FRACTAL_ZN_LSTM";
    case 39: return "FRACTAL_Z_G";
    case 40: return "RESERVED";
    case 41: return "ALL";
    case 42: return "NULL";
    case 43: return "ND_RNN_BIAS";
    case 44: return "FRACTAL_ZN_RNN";
    case 45: return "NYUV";
    case 46: return "NYUV_A";
    case 47: return "NCL";
    case 48: return "FRACTAL_Z_WINO";
    case 49: return "C1HWC0";
    default: return "RESERVED";
  }
}

}  // namespace ge
