/* What is known of a compiled graph. */
#ifndef JUMAR_GE_GRAPH_COMPILE_SUMMARY_H_
#define JUMAR_GE_GRAPH_COMPILE_SUMMARY_H_

#include <memory>
#include <vector>

#include "ge_api_types.h"
#include "ge_external_weight_desc.h"
#include "ge_feature_memory.h"

namespace ge {

class CompiledGraphSummary {
 public:
  explicit CompiledGraphSummary(jumar::Reply &reply) {
    is_static_ = reply.U64() != 0;
    const_bytes_ = static_cast<size_t>(reply.U64());
    feature_bytes_ = static_cast<size_t>(reply.U64());
    for (uint64_t left = reply.U64(); left > 0; --left) {
      shapes_.push_back(Shape(reply.Ints()));
      types_.push_back(static_cast<DataType>(reply.Int()));
    }
  }
  ~CompiledGraphSummary() = default;
  bool IsStatic() const { return is_static_; }
  Status GetConstMemorySize(size_t &size) const { return Give(size, const_bytes_); }
  Status GetFeatureMemorySize(size_t &size) const { return Give(size, feature_bytes_); }
  Status GetFixedFeatureMemorySize(size_t &size) const { return Give(size, 0); }
  Status GetRefreshableFeatureMemorySize(size_t &size) const { return Give(size, feature_bytes_); }
  Status GetFeatureMemoryBaseRefreshable(bool &refreshable) const {
    refreshable = true;
    return SUCCESS;
  }
  Status GetStreamNum(size_t &count) const { return Give(count, 1); }
  Status GetEventNum(size_t &count) const { return Give(count, 0); }
  std::vector<FeatureMemoryPtr> GetAllFeatureMemoryTypeSize() const {
    return std::vector<FeatureMemoryPtr>(
        1, std::make_shared<FeatureMemory>(MemoryType::MEMORY_TYPE_DEFAULT, feature_bytes_, false));
  }
  /* No output lies where an input does. */
  Status GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>> &indexes) const {
    indexes.clear();
    return SUCCESS;
  }
  Status GetExternalWeightPaths(std::vector<ExternalWeightDescPtr> &paths) const {
    paths.clear();
    return SUCCESS;
  }
  Status GetOutputShapes(std::vector<ge::Shape> &shapes) const {
    shapes = shapes_;
    return SUCCESS;
  }
  Status GetOutputDtypes(std::vector<ge::DataType> &types) const {
    types = types_;
    return SUCCESS;
  }

 private:
  static Status Give(size_t &to, size_t value) {
    to = value;
    return SUCCESS;
  }
  bool is_static_ = false;
  size_t const_bytes_ = 0;
  size_t feature_bytes_ = 0;
  std::vector<Shape> shapes_;
  std::vector<DataType> types_;
};
typedef std::shared_ptr<CompiledGraphSummary> CompiledGraphSummaryPtr;

}  // namespace ge

#endif
