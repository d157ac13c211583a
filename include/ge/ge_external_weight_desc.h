/* Where a weight lies that a compiled graph keeps in a file of its own. Graphs here keep theirs inside. */
#ifndef JUMAR_GE_EXTERNAL_WEIGHT_DESC_H_
#define JUMAR_GE_EXTERNAL_WEIGHT_DESC_H_

#include <cstddef>
#include <memory>

#include "../graph/ascend_string.h"

namespace ge {

class ExternalWeightDesc {
 public:
  ExternalWeightDesc(const AscendString &location, size_t size, size_t offset, const AscendString &id)
      : location_(location), size_(size), offset_(offset), id_(id) {}
  ExternalWeightDesc(const ExternalWeightDesc &) = delete;
  ExternalWeightDesc &operator=(const ExternalWeightDesc &) = delete;
  ~ExternalWeightDesc() = default;
  AscendString GetLocation() const { return location_; }
  size_t GetSize() const { return size_; }
  size_t GetOffset() const { return offset_; }
  AscendString GetId() const { return id_; }

 private:
  AscendString location_;
  size_t size_;
  size_t offset_;
  AscendString id_;
};
typedef std::shared_ptr<ExternalWeightDesc> ExternalWeightDescPtr;

}  // namespace ge

#endif
