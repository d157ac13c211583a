/* A shape of up to 25 dimensions that lies where it is. Without dimensions it is a single number's. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_SHAPE_H_
#define JUMAR_EXE_GRAPH_RUNTIME_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace gert {

struct Shape {
 public:
  static const size_t kMaxDimNum = 25;
  static const int64_t kInvalidDimValue = INT64_MIN;

  Shape() : dim_num_(0), dims_(), reserved_() {}
  Shape(const std::initializer_list<int64_t> &args) : dim_num_(0), dims_(), reserved_() {
    if (args.size() <= Most()) {
      for (int64_t dim : args) {
        dims_[dim_num_++] = dim;
      }
    }
  }
  Shape(const Shape &other) = default;
  Shape &operator=(const Shape &other) = default;
  bool operator==(const Shape &other) const {
    if (dim_num_ != other.dim_num_) {
      return false;
    }
    for (size_t at = 0; at < dim_num_; ++at) {
      if (dims_[at] != other.dims_[at]) {
        return false;
      }
    }
    return true;
  }
  bool operator!=(const Shape &other) const { return !(*this == other); }
  /* The number of elements, -1 where a dimension is open or the number does not fit. */
  int64_t GetShapeSize() const {
    int64_t product = 1;
    for (size_t at = 0; at < dim_num_; ++at) {
      if (dims_[at] < 0 || (dims_[at] > 0 && product > INT64_MAX / dims_[at])) {
        return -1;
      }
      product *= dims_[at];
    }
    return product;
  }
  bool IsScalar() const { return dim_num_ == 0; }
  void SetScalar() { dim_num_ = 0; }
  size_t GetDimNum() const { return dim_num_; }
  void SetDimNum(const size_t dim_num) { dim_num_ = dim_num <= Most() ? dim_num : Most(); }
  int64_t GetDim(const size_t idx) const { return idx < dim_num_ ? dims_[idx] : INT64_MIN; }
  const int64_t &operator[](const size_t idx) const { return dims_[idx]; }
  int64_t &operator[](const size_t idx) { return dims_[idx]; }
  void SetDim(size_t idx, const int64_t dim_value) {
    if (idx < Most()) {
      dims_[idx] = dim_value;
      dim_num_ = dim_num_ < idx + 1 ? idx + 1 : dim_num_;
    }
  }
  Shape &AppendDim(const int64_t value) {
    if (dim_num_ < Most()) {
      dims_[dim_num_++] = value;
    }
    return *this;
  }

 private:
  static constexpr size_t Most() { return 25; }
  size_t dim_num_;
  int64_t dims_[25];
  uint8_t reserved_[40];
};

}  // namespace gert

#endif
