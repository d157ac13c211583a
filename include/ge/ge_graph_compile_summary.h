/* What is known of a compiled graph. */
#ifndef JUMAR_GE_GRAPH_COMPILE_SUMMARY_H_
#define JUMAR_GE_GRAPH_COMPILE_SUMMARY_H_

#include <memory>
#include <utility>
#include <vector>

#include "ge_api_types.h"
#include "ge_external_weight_desc.h"
#include "ge_feature_memory.h"

namespace ge {

class CompiledGraphSummary {
 public:
  ~CompiledGraphSummary();
  CompiledGraphSummary(const CompiledGraphSummary &) = delete;
  CompiledGraphSummary &operator=(const CompiledGraphSummary &) = delete;
  bool IsStatic() const;
  Status GetConstMemorySize(size_t &size) const;
  Status GetFeatureMemorySize(size_t &size) const;
  Status GetFixedFeatureMemorySize(size_t &size) const;
  Status GetRefreshableFeatureMemorySize(size_t &size) const;
  Status GetFeatureMemoryBaseRefreshable(bool &refreshable) const;
  Status GetStreamNum(size_t &count) const;
  Status GetEventNum(size_t &count) const;
  std::vector<FeatureMemoryPtr> GetAllFeatureMemoryTypeSize() const;
  /* Returns an empty list: no output shares memory with an input. */
  Status GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>> &indexes) const;
  /* Returns an empty list: weights are part of the graph. */
  Status GetExternalWeightPaths(std::vector<ExternalWeightDescPtr> &paths) const;
  Status GetOutputShapes(std::vector<ge::Shape> &shapes) const;
  Status GetOutputDtypes(std::vector<ge::DataType> &types) const;

 private:
  CompiledGraphSummary();
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};
typedef std::shared_ptr<CompiledGraphSummary> CompiledGraphSummaryPtr;

}  // namespace ge

#endif
