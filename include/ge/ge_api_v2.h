/* Sessions that take the run-time's tensors. */
#ifndef JUMAR_GE_API_V2_H_
#define JUMAR_GE_API_V2_H_

#include "ge_api.h"

namespace ge {

typedef std::function<Status(uint32_t graph_id, const std::map<AscendString, gert::Tensor> &params)> RunCallback;

inline Status GEInitializeV2(const std::map<AscendString, AscendString> &options) { return GEInitialize(options); }
inline Status GEFinalizeV2() { return GEFinalize(); }

class GeSession {
 public:
  explicit GeSession(const std::map<AscendString, AscendString> &options) : session_(options) {}
  ~GeSession() = default;
  GeSession(const GeSession &) = delete;
  GeSession &operator=(const GeSession &) = delete;

  Status AddGraph(uint32_t graph_id, const Graph &graph) { return session_.AddGraph(graph_id, graph); }
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    return session_.AddGraph(graph_id, graph, options);
  }
  Status AddGraphClone(uint32_t graph_id, const Graph &graph) { return session_.AddGraphWithCopy(graph_id, graph); }
  Status AddGraphClone(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    return session_.AddGraphWithCopy(graph_id, graph, options);
  }
  Status RemoveGraph(uint32_t graph_id) {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      (void)ways_.erase(graph_id);
    }
    return session_.RemoveGraph(graph_id);
  }
  bool IsGraphNeedRebuild(uint32_t graph_id) { return session_.IsGraphNeedRebuild(graph_id); }
  uint64_t GetSessionId() const { return session_.GetSessionId(); }

  Status CompileGraph(uint32_t graph_id) { return session_.CompileGraph(graph_id); }
  Status CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
    return session_.CompileGraph(graph_id, inputs);
  }
  Status LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *stream) const {
    return session_.LoadGraph(graph_id, options, stream);
  }

  /* A graph is run in one of these three ways; another one afterwards is refused. */
  Status RunGraph(uint32_t graph_id, const std::vector<gert::Tensor> &inputs, std::vector<gert::Tensor> &outputs) {
    if (!Keeps(graph_id, 1)) {
      return FAILED;
    }
    std::vector<gert::Tensor> made;
    const Status status = session_.OnHost<jumar::RuntimeTensors>(jumar::RunMode::kHostAny, graph_id, inputs, made);
    return status == SUCCESS ? Deliver(made, outputs) : status;
  }
  Status RunGraphAsync(uint32_t graph_id, const std::vector<gert::Tensor> &inputs, RunAsyncCallbackV2 callback) {
    if (!Keeps(graph_id, 2)) {
      return FAILED;
    }
    return session_.Queued<jumar::RuntimeTensors>(jumar::RunMode::kHostAny, graph_id, inputs, callback);
  }
  Status RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                 std::vector<gert::Tensor> &outputs) {
    if (!Keeps(graph_id, 3)) {
      return FAILED;
    }
    return session_.OnStream<jumar::RuntimeTensors>(jumar::RunMode::kStream, graph_id, stream, inputs, outputs);
  }

  CompiledGraphSummaryPtr GetCompiledGraphSummary(uint32_t graph_id) {
    return session_.GetCompiledGraphSummary(graph_id);
  }
  Status GetCompiledModel(uint32_t graph_id, ModelBufferData &model_buffer) {
    return session_.GetCompiledModel(graph_id, model_buffer);
  }
  Status SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return session_.SetGraphConstMemoryBase(graph_id, memory, size);
  }
  Status UpdateGraphFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return session_.UpdateGraphFeatureMemoryBase(graph_id, memory, size);
  }
  Status SetGraphFixedFeatureMemoryBaseWithType(uint32_t graph_id, MemoryType type, const void *const memory,
                                                size_t size) {
    return session_.SetGraphFixedFeatureMemoryBaseWithType(graph_id, type, memory, size);
  }
  Status UpdateGraphRefreshableFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return session_.UpdateGraphRefreshableFeatureMemoryBase(graph_id, memory, size);
  }
  Status RegisterExternalAllocator(const void *const stream, AllocatorPtr allocator) const {
    return session_.RegisterExternalAllocator(stream, allocator);
  }
  Status UnregisterExternalAllocator(const void *const stream) const {
    return session_.UnregisterExternalAllocator(stream);
  }

 private:
  bool Keeps(uint32_t graph_id, int way) {
    int before;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      before = ways_.insert(std::make_pair(graph_id, way)).first->second;
    }
    if (before != way) {
      (void)jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text(
          "RunGraph, RunGraphAsync and RunGraphWithStreamAsync do not mix on one graph of a GeSession: add it again "
          "under another number"));
    }
    return before == way;
  }
  /* Into memory that the program brought where it did, which has to be large enough. */
  static Status Deliver(std::vector<gert::Tensor> &made, std::vector<gert::Tensor> &outputs) {
    bool brought = outputs.size() == made.size();
    for (const gert::Tensor &output : outputs) {
      brought = brought && output.GetAddr() != nullptr && gert::TensorPlacementUtils::IsOnHost(output.GetPlacement());
    }
    if (!brought || outputs.empty()) {
      outputs = std::move(made);
      return SUCCESS;
    }
    for (size_t index = 0; index < made.size(); ++index) {
      if (outputs[index].GetSize() < made[index].GetSize()) {
        (void)jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text("an output's memory is smaller than the output"));
        return FAILED;
      }
      std::memcpy(outputs[index].GetAddr(), made[index].GetAddr(), made[index].GetSize());
      outputs[index].MutableStorageShape() = made[index].GetStorageShape();
      outputs[index].MutableOriginShape() = made[index].GetOriginShape();
      outputs[index].SetDataType(made[index].GetDataType());
    }
    return SUCCESS;
  }

  Session session_;
  std::mutex lock_;
  std::map<uint32_t, int> ways_;
};

}  // namespace ge

#endif
