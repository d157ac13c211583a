/* A part of the memory that a compiled graph works in. */
#ifndef JUMAR_GE_FEATURE_MEMORY_H_
#define JUMAR_GE_FEATURE_MEMORY_H_

#include <memory>

#include "ge_api_types.h"

namespace ge {

class FeatureMemory {
 public:
  FeatureMemory(MemoryType type, size_t size, bool is_fixed) : type_(type), size_(size), is_fixed_(is_fixed) {}
  FeatureMemory(const FeatureMemory &) = delete;
  FeatureMemory &operator=(const FeatureMemory &) = delete;
  ~FeatureMemory() = default;
  MemoryType GetType() const { return type_; }
  size_t GetSize() const { return size_; }
  bool IsFixed() const { return is_fixed_; }

 private:
  MemoryType type_;
  size_t size_;
  bool is_fixed_;
};
typedef std::shared_ptr<FeatureMemory> FeatureMemoryPtr;

}  // namespace ge

#endif
