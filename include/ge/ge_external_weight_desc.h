/* The location of a weight that a compiled graph keeps in a file of its own. Jumar's graphs contain their weights. */
#ifndef JUMAR_GE_EXTERNAL_WEIGHT_DESC_H_
#define JUMAR_GE_EXTERNAL_WEIGHT_DESC_H_

#include <cstddef>
#include <memory>

#include "../graph/ascend_string.h"

namespace ge {

class ExternalWeightDesc {
 public:
  ExternalWeightDesc(const AscendString &location, size_t size, size_t offset, const AscendString &id);
  ExternalWeightDesc(const ExternalWeightDesc &) = delete;
  ExternalWeightDesc &operator=(const ExternalWeightDesc &) = delete;
  ~ExternalWeightDesc();
  AscendString GetLocation() const;
  size_t GetSize() const;
  size_t GetOffset() const;
  AscendString GetId() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};
typedef std::shared_ptr<ExternalWeightDesc> ExternalWeightDescPtr;

}  // namespace ge

#endif
