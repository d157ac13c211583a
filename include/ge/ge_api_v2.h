/* Sessions that take the runtime's tensors. */
#ifndef JUMAR_GE_API_V2_H_
#define JUMAR_GE_API_V2_H_

#include "ge_api.h"

namespace ge {

typedef std::function<Status(uint32_t graph_id, const std::map<AscendString, gert::Tensor> &params)> RunCallback;

Status GEInitializeV2(const std::map<AscendString, AscendString> &options);
Status GEFinalizeV2();

class GeSession {
 public:
  explicit GeSession(const std::map<AscendString, AscendString> &options);
  ~GeSession();
  GeSession(const GeSession &) = delete;
  GeSession &operator=(const GeSession &) = delete;

  Status AddGraph(uint32_t graph_id, const Graph &graph);
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options);
  Status AddGraphClone(uint32_t graph_id, const Graph &graph);
  Status AddGraphClone(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options);
  Status RemoveGraph(uint32_t graph_id);
  bool IsGraphNeedRebuild(uint32_t graph_id);
  uint64_t GetSessionId() const;

  Status CompileGraph(uint32_t graph_id);
  Status CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs);
  Status LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *stream) const;

  /* A graph keeps the first of these three ways to run that is used; another one is refused. */
  Status RunGraph(uint32_t graph_id, const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs);
  Status RunGraphAsync(uint32_t graph_id, const std::vector<gert::Tensor> &inputs, RunAsyncCallbackV2 callback);
  Status RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                 std::vector<gert::Tensor> &outputs);

  CompiledGraphSummaryPtr GetCompiledGraphSummary(uint32_t graph_id);
  Status GetCompiledModel(uint32_t graph_id, ModelBufferData &model_buffer);
  Status SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size);
  Status UpdateGraphFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size);
  Status SetGraphFixedFeatureMemoryBaseWithType(uint32_t graph_id, MemoryType type, const void *const memory,
                                                size_t size);
  Status UpdateGraphRefreshableFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size);
  Status RegisterExternalAllocator(const void *const stream, AllocatorPtr allocator) const;
  Status UnregisterExternalAllocator(const void *const stream) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
