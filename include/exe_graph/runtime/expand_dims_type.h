/* Where dimensions of 1 are put into a shape. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_EXPAND_DIMS_TYPE_H_
#define JUMAR_EXE_GRAPH_RUNTIME_EXPAND_DIMS_TYPE_H_

#include <cstring>

#include "../../graph/types.h"
#include "shape.h"

namespace gert {

class ExpandDimsType {
 public:
  typedef uint64_t AxisIndex;

  ExpandDimsType() : size_(0), mask_(0) {}
  /* One letter for each dimension of the result: 1 for those that are put in. */
  explicit ExpandDimsType(const ge::char_t *const expand_dims_type) : size_(0), mask_(0) {
    const size_t length = expand_dims_type == nullptr ? 0 : std::strlen(expand_dims_type);
    if (length > 56) {
      return;
    }
    size_ = length;
    for (size_t at = 0; at < length; ++at) {
      if (expand_dims_type[at] == '1') {
        SetExpandIndex(at);
      }
    }
  }
  /* The number of dimensions in the upper eight bits, a bit for each that is put in in the others. */
  explicit ExpandDimsType(const int64_t reshape_type_mask)
      : size_(static_cast<uint64_t>(reshape_type_mask) >> 56),
        mask_(static_cast<uint64_t>(reshape_type_mask) & ((uint64_t{1} << 56) - 1)) {}
  bool operator==(const ExpandDimsType &other) const { return size_ == other.size_ && mask_ == other.mask_; }
  AxisIndex GetFullSize() const { return size_; }
  void SetExpandIndex(const AxisIndex index) {
    if (index < 56) {
      mask_ |= uint64_t{1} << index;
    }
  }
  bool IsExpandIndex(const AxisIndex index) const { return index < 56 && ((mask_ >> index) & 1) != 0; }
  ge::graphStatus Expand(const Shape &shape, Shape &out_shape) const {
    size_t given = 0;
    Shape made;
    for (AxisIndex at = 0; at < size_ || given < shape.GetDimNum(); ++at) {
      if (at < size_ && IsExpandIndex(at)) {
        (void)made.AppendDim(1);
      } else if (given < shape.GetDimNum()) {
        (void)made.AppendDim(shape.GetDim(given++));
      }
    }
    out_shape = size_ == 0 ? shape : made;
    return ge::GRAPH_SUCCESS;
  }
  ge::graphStatus Expand(Shape &shape) const {
    const Shape before = shape;
    return Expand(before, shape);
  }

 private:
  uint64_t size_ : 8;
  uint64_t mask_ : 56;
  uint8_t reserved_[40] = {};
};

}  // namespace gert

#endif
