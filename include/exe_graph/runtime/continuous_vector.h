/* Lists that are values of attributes. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H_
#define JUMAR_EXE_GRAPH_RUNTIME_CONTINUOUS_VECTOR_H_

#include <cstddef>

namespace gert {

class ContinuousVector {
 public:
  size_t GetSize() const { return size_; }
  size_t GetCapacity() const { return size_; }
  const void *GetData() const { return data_; }

 protected:
  const void *data_ = nullptr;
  size_t size_ = 0;
};

template <typename TypeT>
class TypedContinuousVector : public ContinuousVector {
 public:
  TypedContinuousVector() = default;
  TypedContinuousVector(const TypeT *data, size_t size) {
    data_ = data;
    size_ = size;
  }
  const TypeT *GetData() const { return static_cast<const TypeT *>(data_); }
};

}  // namespace gert

#endif
