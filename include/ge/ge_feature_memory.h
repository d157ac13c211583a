/* A part of the memory that a compiled graph works in. */
#ifndef JUMAR_GE_FEATURE_MEMORY_H_
#define JUMAR_GE_FEATURE_MEMORY_H_

#include <memory>

#include "ge_api_types.h"

namespace ge {

class FeatureMemory {
 public:
  FeatureMemory(MemoryType type, size_t size, bool is_fixed);
  FeatureMemory(const FeatureMemory &) = delete;
  FeatureMemory &operator=(const FeatureMemory &) = delete;
  ~FeatureMemory();
  MemoryType GetType() const;
  size_t GetSize() const;
  bool IsFixed() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};
typedef std::shared_ptr<FeatureMemory> FeatureMemoryPtr;

}  // namespace ge

#endif
