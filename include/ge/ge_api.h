/* Sessions: graphs are added, built and run, from host memory or on a stream. */
#ifndef INC_EXTERNAL_GE_GE_API_H_
#define INC_EXTERNAL_GE_GE_API_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exe_graph/runtime/tensor.h"
#include "../graph/graph.h"
#include "../graph/tensor.h"
#include "ge_allocator.h"
#include "ge_api_types.h"
#include "ge_continuous_tensor_list_api.h"
#include "ge_graph_compile_summary.h"
#include "ge_ir_build.h"

namespace ge {

typedef uint32_t (*pCallBackFunc)(uint32_t graph_id, const std::map<std::string, ge::Tensor> &params);
typedef std::function<void(Status, std::vector<gert::Tensor> &)> RunAsyncCallbackV2;
namespace session {
typedef uint32_t (*pCallBackFunc)(uint32_t graph_id, const std::map<AscendString, ge::Tensor> &params);
}  // namespace session

Status GEInitialize(const std::map<AscendString, AscendString> &options);
Status GEInitialize(const std::map<std::string, std::string> &options);
Status GEFinalize();
/* Return and forget the error texts or warnings of the calling thread. */
AscendString GEGetErrorMsgV2();
AscendString GEGetErrorMsgV3();
AscendString GEGetWarningMsgV2();
AscendString GEGetWarningMsgV3();
std::string GEGetErrorMsg();
std::string GEGetWarningMsg();

class Session {
 public:
  explicit Session(const std::map<AscendString, AscendString> &options);
  explicit Session(const std::map<std::string, std::string> &options);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session();

  Status AddGraph(uint32_t graph_id, const Graph &graph);
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options);
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<std::string, std::string> &options);
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph);
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options);
  Status RemoveGraph(uint32_t graph_id);

  Status BuildGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs);
  Status BuildGraph(uint32_t graph_id, const std::vector<InputTensorInfo> &inputs);
  bool IsGraphNeedRebuild(uint32_t graph_id);

  Status RunGraph(uint32_t graph_id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs);
  Status RunGraphAsync(uint32_t graph_id, const std::vector<ge::Tensor> &inputs, RunAsyncCallback callback);
#ifdef JUMAR_GE_LIBRARY
  Status RunGraph(uint32_t graph_id, const ContinuousTensorList &inputs, std::vector<Tensor> &outputs);
  Status RunGraphAsync(uint32_t graph_id, const ContinuousTensorList &inputs, RunAsyncCallback callback);
#else
  /* Templates, so that {} as the inputs stays an empty list of tensors. */
  template <typename List, typename = typename std::enable_if<std::is_same<List, ContinuousTensorList>::value>::type>
  Status RunGraph(uint32_t graph_id, const List &inputs, std::vector<Tensor> &outputs) {
    return RunGraph(graph_id, inputs.GetTensorList(), outputs);
  }
  template <typename List, typename = typename std::enable_if<std::is_same<List, ContinuousTensorList>::value>::type>
  Status RunGraphAsync(uint32_t graph_id, const List &inputs, RunAsyncCallback callback) {
    return RunGraphAsync(graph_id, inputs.GetTensorList(), callback);
  }
#endif
  Status RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs,
                                 std::vector<Tensor> &outputs);
  /* Runs a graph that CompileGraph and LoadGraph prepared. */
  Status ExecuteGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                     std::vector<gert::Tensor> &outputs);
  /* The allocator provides outputs of runs on the stream for which the program brings no memory. */
  Status RegisterExternalAllocator(const void *const stream, AllocatorPtr allocator) const;
  Status UnregisterExternalAllocator(const void *const stream) const;

  Status CompileGraph(uint32_t graph_id);
  Status CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs);
  CompiledGraphSummaryPtr GetCompiledGraphSummary(uint32_t graph_id);
  Status GetCompiledModel(uint32_t graph_id, ModelBufferData &model_buffer);
  Status LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *stream) const;
  Status SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size);
  Status SetGraphFixedFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size);
  Status SetGraphFixedFeatureMemoryBaseWithType(uint32_t graph_id, MemoryType type, const void *const memory,
                                                size_t size);
  Status UpdateGraphFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size);
  Status UpdateGraphRefreshableFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size);

  /* "Save" is called after a run of a graph with Save nodes, where ge.graphRunMode is 1. Other keys are never called. */
  Status RegisterCallBackFunc(const char *key, const session::pCallBackFunc &callback);
  Status RegisterCallBackFunc(const std::string &key, const pCallBackFunc &callback);
  Status GetVariables(const std::vector<AscendString> &names, std::vector<Tensor> &values);
#ifdef JUMAR_GE_LIBRARY
  Status GetVariables(const std::vector<std::string> &names, std::vector<Tensor> &values);
#else
  /* A template, so that {"a"} as the names stays a list of AscendString. */
  template <typename Text, typename = typename std::enable_if<std::is_same<Text, std::string>::value>::type>
  Status GetVariables(const std::vector<Text> &names, std::vector<Tensor> &values) {
    std::vector<AscendString> list;
    for (const Text &name : names) {
      list.push_back(AscendString(name.c_str()));
    }
    return GetVariables(list, values);
  }
#endif
  uint64_t GetSessionId() const;
  Status ShardGraphs() const;
  Status ShardGraphsToFile(const char_t *path = "./") const;
  Status SaveGraphsToPb(const char_t *path) const;

 private:
  friend class GeSession;
  Status RegisterCallBack(const char *key,
                          const std::function<uint32_t(uint32_t, const std::map<AscendString, Tensor> &)> &callback);
  struct Impl;
  Impl *impl_;
};

Status GeSessionLoadGraph(Session &session, uint32_t graph_id, const std::map<AscendString, AscendString> &options,
                          void *stream);
Status GeSessionExecuteGraphWithStreamAsync(Session &session, uint32_t graph_id, void *stream,
                                            const std::vector<gert::Tensor> &inputs,
                                            std::vector<gert::Tensor> &outputs);

}  // namespace ge

/* Returns the prototype of an operator type: names of inputs and outputs with "required", "optional" or "dynamic", and names of
 * attributes with their types, as VT_INT. Clients also look it up by this name at run time. */
extern "C" ge::Status GetRegisteredIrDef(const char *op_type,
                                         std::vector<std::pair<ge::AscendString, ge::AscendString>> &inputs,
                                         std::vector<std::pair<ge::AscendString, ge::AscendString>> &outputs,
                                         std::vector<std::pair<ge::AscendString, ge::AscendString>> &attrs);

#endif
