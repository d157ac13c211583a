/* Shapes, descriptions of tensors, and tensors in host or device memory. */
#ifndef INC_EXTERNAL_GRAPH_TENSOR_H_
#define INC_EXTERNAL_GRAPH_TENSOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "types.h"

namespace ge {

namespace jumar {
struct Access;
}

/* Copies share the dimensions until one of them is changed. */
class Shape {
 public:
  Shape();
  ~Shape() = default;
  explicit Shape(const std::vector<int64_t> &dims);
  /* Returns 0 also for a shape of unknown rank, whose only dimension is -2. */
  size_t GetDimNum() const;
  int64_t GetDim(size_t index) const;
  graphStatus SetDim(size_t index, int64_t value);
  std::vector<int64_t> GetDims() const;
  /* Returns the number of elements: 0 without dimensions, -1 where one is unknown, 0 where the number overflows. */
  int64_t GetShapeSize() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

class TensorDesc {
 public:
  TensorDesc();
  ~TensorDesc() = default;
  TensorDesc(const TensorDesc &other);
  TensorDesc(TensorDesc &&other);
  TensorDesc &operator=(const TensorDesc &other);
  TensorDesc &operator=(TensorDesc &&other);
  explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType type = DT_FLOAT);
  void Update(const Shape &shape, Format format = FORMAT_ND, DataType type = DT_FLOAT);
  Shape GetShape() const;
  void SetShape(const Shape &shape);
  graphStatus SetUnknownDimNumShape();
  graphStatus SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range);
  graphStatus GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const;
  Format GetFormat() const;
  void SetFormat(Format format);
  Shape GetOriginShape() const;
  void SetOriginShape(const Shape &shape);
  Format GetOriginFormat() const;
  void SetOriginFormat(Format format);
  DataType GetDataType() const;
  void SetDataType(DataType type);
  graphStatus GetName(AscendString &name);
  graphStatus GetName(AscendString &name) const;
  std::string GetName() const;
  void SetName(const char_t *name);
  void SetName(const std::string &name);
  void SetSize(int64_t size);
  int64_t GetSize() const;
  int64_t GetRealDimCnt() const;
  void SetRealDimCnt(const int64_t count);
  void SetPlacement(Placement placement);
  Placement GetPlacement() const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/* Copies share the description and the contents; Clone copies both. */
class Tensor {
 public:
  typedef std::function<void(uint8_t *)> DeleteFunc;

  Tensor();
  ~Tensor() = default;
  explicit Tensor(const TensorDesc &desc);
  Tensor(const TensorDesc &desc, const std::vector<uint8_t> &data);
  Tensor(const TensorDesc &desc, const uint8_t *data, size_t size);
  Tensor(TensorDesc &&desc, std::vector<uint8_t> &&data);

  TensorDesc GetTensorDesc() const;
  graphStatus SetTensorDesc(const TensorDesc &desc);
  const uint8_t *GetData() const;
  uint8_t *GetData();
  size_t GetSize() const;
  std::unique_ptr<uint8_t[], DeleteFunc> ResetData();
  graphStatus ResetData(uint8_t *data, size_t size, const DeleteFunc &deleter);
  graphStatus SetData(std::vector<uint8_t> &&data);
  graphStatus SetData(const std::vector<uint8_t> &data);
  graphStatus SetData(const uint8_t *data, size_t size);
  graphStatus SetData(const char_t *data);
  graphStatus SetData(const std::string &data);
  /* Sets the contents of a string tensor: a table of offsets and lengths, then the strings. */
  graphStatus SetData(const std::vector<AscendString> &datas);
  graphStatus SetData(const std::vector<std::string> &datas);
  graphStatus SetData(uint8_t *data, size_t size, const DeleteFunc &deleter);
  graphStatus IsValid();
  graphStatus SetShapeDimNum(const size_t count);
  size_t GetShapeDimNum() const;
  graphStatus SetShapeDim(const size_t index, const int64_t value);
  int64_t GetShapeDim(const size_t index) const;
  graphStatus SetOriginShapeDimNum(const size_t count);
  size_t GetOriginShapeDimNum() const;
  graphStatus SetOriginShapeDim(const size_t index, const int64_t value);
  int64_t GetOriginShapeDim(const size_t index) const;
  graphStatus SetFormat(const ge::Format &format);
  ge::Format GetFormat() const;
  graphStatus SetOriginFormat(const ge::Format &format);
  ge::Format GetOriginFormat() const;
  graphStatus SetDataType(const ge::DataType &type);
  ge::DataType GetDataType() const;
  graphStatus SetPlacement(const ge::Placement &placement);
  ge::Placement GetPlacement() const;
  Tensor Clone() const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
