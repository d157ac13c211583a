/* The shape that a program means and the shape that lies in memory; here they are the same but by name. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H_
#define JUMAR_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H_

#include "shape.h"

namespace gert {

struct StorageShape {
 public:
  StorageShape() = default;
  StorageShape(const std::initializer_list<int64_t> &origin_shape, const std::initializer_list<int64_t> &storage_shape)
      : origin_shape_(origin_shape), storage_shape_(storage_shape) {}
  const Shape &GetOriginShape() const { return origin_shape_; }
  const Shape &GetStorageShape() const { return storage_shape_; }
  Shape &MutableOriginShape() { return origin_shape_; }
  Shape &MutableStorageShape() { return storage_shape_; }
  const Shape &GetShape() const { return storage_shape_; }
  Shape &MutableShape() { return storage_shape_; }
  bool operator==(const StorageShape &other) const {
    return origin_shape_ == other.origin_shape_ && storage_shape_ == other.storage_shape_;
  }
  bool operator!=(const StorageShape &other) const { return !(*this == other); }

 private:
  Shape origin_shape_;
  Shape storage_shape_;
  uint8_t reserved_[40] = {};
};

}  // namespace gert

#endif
