/* Sessions: graphs are added, built and run, from host memory or on a stream. */
#ifndef JUMAR_GE_API_H_
#define JUMAR_GE_API_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
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

inline Status GEInitialize(const std::map<AscendString, AscendString> &options) {
  return jumar::Call(jumar::CallId::kGeInitialize, jumar::Message().Map(options));
}
inline Status GEInitialize(const std::map<std::string, std::string> &options) {
  return GEInitialize(jumar::FromStrings(options));
}
inline Status GEFinalize() { return jumar::Call(jumar::CallId::kGeFinalize, jumar::Message()); }
namespace jumar {
inline AscendString Texts(CallId call) {
  Reply reply;
  (void)Call(call, Message(), reply);
  return reply.Text();
}
}  // namespace jumar
/* The texts of what went wrong on this thread since they were last asked for. */
inline AscendString GEGetErrorMsgV2() { return jumar::Texts(jumar::CallId::kGeError); }
inline AscendString GEGetErrorMsgV3() { return jumar::Texts(jumar::CallId::kGeError); }
inline AscendString GEGetWarningMsgV2() { return jumar::Texts(jumar::CallId::kGeWarning); }
inline AscendString GEGetWarningMsgV3() { return jumar::Texts(jumar::CallId::kGeWarning); }
inline std::string GEGetErrorMsg() { return std::string(GEGetErrorMsgV2().GetString()); }
inline std::string GEGetWarningMsg() { return std::string(GEGetWarningMsgV2().GetString()); }

namespace jumar {

/* Tensors, as the library takes them. They must outlive the call. */
class Tensors {
 public:
  Tensors(const std::vector<Tensor> &list, bool on_host) {
    dims_.reserve(list.size());
    for (const Tensor &one : list) {
      const TensorDesc desc = one.GetTensorDesc();
      dims_.push_back(desc.GetShape().GetDims());
      jumar_ge_tensor tensor;
      tensor.dims = dims_.back().data();
      tensor.rank = dims_.back().size();
      tensor.dtype = static_cast<int32_t>(desc.GetDataType());
      tensor.format = static_cast<int32_t>(desc.GetFormat());
      tensor.data = const_cast<uint8_t *>(one.GetData());
      tensor.bytes = tensor.data == nullptr ? 0 : one.GetSize();
      tensor.on_host = on_host ? 1 : 0;
      all_.push_back(tensor);
    }
  }
  jumar_ge_tensor &operator[](size_t index) { return all_[index]; }
  const jumar_ge_tensor *data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::vector<int64_t>> dims_;
  std::vector<jumar_ge_tensor> all_;
};

/* The same of the run-time's tensors. */
class RuntimeTensors {
 public:
  RuntimeTensors(const std::vector<gert::Tensor> &list, bool all_on_host) {
    dims_.reserve(list.size());
    for (const gert::Tensor &one : list) {
      const gert::Shape &shape = one.GetStorageShape();
      std::vector<int64_t> dims;
      for (size_t at = 0; at < shape.GetDimNum(); ++at) {
        dims.push_back(shape.GetDim(at));
      }
      dims_.push_back(dims);
      jumar_ge_tensor tensor;
      tensor.dims = dims_.back().data();
      tensor.rank = dims_.back().size();
      tensor.dtype = static_cast<int32_t>(one.GetDataType());
      tensor.format = static_cast<int32_t>(one.GetStorageFormat());
      tensor.data = const_cast<void *>(one.GetAddr());
      tensor.bytes = 0;
      if (tensor.data != nullptr) {
        /* A tensor that was not told its size is as large as its shape says. */
        const int64_t needs = GetSizeInBytes(shape.GetShapeSize(), one.GetDataType());
        tensor.bytes = one.GetSize() > 0 || needs < 0 ? one.GetSize() : static_cast<size_t>(needs);
      }
      tensor.on_host = all_on_host ? 1 : 0;
      all_.push_back(tensor);
    }
  }
  jumar_ge_tensor &operator[](size_t index) { return all_[index]; }
  const jumar_ge_tensor *data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::vector<int64_t>> dims_;
  std::vector<jumar_ge_tensor> all_;
};

/* Memory behind the address of a run-time's tensor that is given back when nobody shares it any more. */
struct Shared {
  std::atomic<size_t> count;
  void *data;
  std::function<void(void *)> free;
  static gert::TensorAddress Make(void *data, const std::function<void(void *)> &free) {
    Shared *shared = new Shared();
    shared->count = 1;
    shared->data = data;
    shared->free = free;
    return shared;
  }
  static graphStatus Manage(gert::TensorAddress address, gert::TensorOperateType what, void **out) {
    Shared *shared = static_cast<Shared *>(address);
    if (shared == nullptr || (what == gert::kGetTensorAddress && out == nullptr)) {
      return GRAPH_FAILED;
    }
    if (what == gert::kGetTensorAddress) {
      *out = shared->data;
    } else if (what == gert::kPlusShareCount) {
      ++shared->count;
    } else if (what == gert::kFreeTensor && --shared->count == 0) {
      shared->free(shared->data);
      delete shared;
    }
    return GRAPH_SUCCESS;
  }
};

/* Writes what a tensor is. */
inline void Describe(gert::Tensor &tensor, const TensorDesc &desc) {
  gert::Shape shape;
  for (int64_t dim : desc.GetShape().GetDims()) {
    (void)shape.AppendDim(dim);
  }
  tensor.MutableStorageShape() = shape;
  tensor.MutableOriginShape() = shape;
  tensor.SetDataType(desc.GetDataType());
}

/* Reads the outputs of a run into the run-time's tensors in host memory. */
inline void Outputs(Reply &reply, std::vector<gert::Tensor> &outputs) {
  outputs.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const TensorDesc desc = TensorDesc::JumarRead(reply);
    (void)reply.U64();
    const std::pair<const char *, size_t> bytes = reply.Bytes();
    gert::Tensor output;
    Describe(output, desc);
    output.SetStorageFormat(desc.GetFormat());
    output.SetOriginFormat(desc.GetFormat());
    uint64_t *const copy = new uint64_t[bytes.second / 8 + 1];
    if (bytes.second > 0) {
      std::memcpy(copy, bytes.first, bytes.second);
    }
    const std::function<void(void *)> free = [](void *own) { delete[] static_cast<uint64_t *>(own); };
    output.SetData(gert::TensorData(Shared::Make(copy, free), &Shared::Manage, bytes.second, gert::kOnHost));
    outputs.push_back(std::move(output));
  }
}

/* Reads the outputs of a run from host memory. */
inline void Outputs(Reply &reply, std::vector<Tensor> &outputs) {
  outputs.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const TensorDesc desc = TensorDesc::JumarRead(reply);
    (void)reply.U64();
    const std::pair<const char *, size_t> bytes = reply.Bytes();
    outputs.push_back(Tensor(desc, reinterpret_cast<const uint8_t *>(bytes.first), bytes.second));
  }
}

template <typename T>
struct Waiting {
  std::function<void(Status, std::vector<T> &)> callback;
  static void Done(void *user, uint32_t status, const void *bytes, size_t size) {
    std::unique_ptr<Waiting> self(static_cast<Waiting *>(user));
    Reply reply;
    reply.Take(bytes, size);
    std::vector<T> outputs;
    Outputs(reply, outputs);
    if (self->callback) {
      self->callback(status, outputs);
    }
  }
};

}  // namespace jumar

class Session {
 public:
  explicit Session(const std::map<AscendString, AscendString> &options)
      : id_(jumar::Number(jumar::CallId::kSessionNew, jumar::Message().Map(options))), options_(options) {}
  explicit Session(const std::map<std::string, std::string> &options) : Session(jumar::FromStrings(options)) {}
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session() { (void)jumar::Call(jumar::CallId::kSessionDelete, jumar::Message().U64(id_)); }

  Status AddGraph(uint32_t graph_id, const Graph &graph) {
    return AddGraph(graph_id, graph, std::map<AscendString, AscendString>());
  }
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    return Added(graph_id, options, jumar::Call(jumar::CallId::kSessionAdd, Own(graph_id).U64(graph.JumarId()).Map(options)));
  }
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<std::string, std::string> &options) {
    return AddGraph(graph_id, graph, jumar::FromStrings(options));
  }
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph) {
    return AddGraphWithCopy(graph_id, graph, std::map<AscendString, AscendString>());
  }
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    return Added(graph_id, options, jumar::Call(jumar::CallId::kSessionAddCopy, Own(graph_id).U64(graph.JumarId()).Map(options)));
  }
  Status RemoveGraph(uint32_t graph_id) { return jumar::Call(jumar::CallId::kSessionRemove, Own(graph_id)); }

  Status BuildGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
    return jumar::Call(jumar::CallId::kSessionBuild, Described(graph_id, inputs));
  }
  Status BuildGraph(uint32_t graph_id, const std::vector<InputTensorInfo> &inputs) {
    std::vector<ge::Tensor> list;
    for (const InputTensorInfo &info : inputs) {
      list.push_back(Tensor(TensorDesc(Shape(info.dims), FORMAT_ND, static_cast<DataType>(info.data_type))));
    }
    return BuildGraph(graph_id, list);
  }
  bool IsGraphNeedRebuild(uint32_t graph_id) { return jumar::Number(jumar::CallId::kSessionNeedsBuild, Own(graph_id)) != 0; }

  Status RunGraph(uint32_t graph_id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
    return OnHost<jumar::Tensors>(jumar::RunMode::kHost, graph_id, inputs, outputs);
  }
  /* A template, so that {} as the inputs stays an empty list of tensors. */
  template <typename List, typename = typename std::enable_if<std::is_same<List, ContinuousTensorList>::value>::type>
  Status RunGraph(uint32_t graph_id, const List &inputs, std::vector<Tensor> &outputs) {
    return RunGraph(graph_id, inputs.GetTensorList(), outputs);
  }
  Status RunGraphAsync(uint32_t graph_id, const std::vector<ge::Tensor> &inputs, RunAsyncCallback callback) {
    return Queued<jumar::Tensors>(jumar::RunMode::kHost, graph_id, inputs, callback);
  }
  template <typename List, typename = typename std::enable_if<std::is_same<List, ContinuousTensorList>::value>::type>
  Status RunGraphAsync(uint32_t graph_id, const List &inputs, RunAsyncCallback callback) {
    return RunGraphAsync(graph_id, inputs.GetTensorList(), callback);
  }
  Status RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs,
                                 std::vector<Tensor> &outputs) {
    return OnStream<jumar::Tensors>(jumar::RunMode::kStream, graph_id, stream, inputs, outputs);
  }
  /* Runs what CompileGraph and LoadGraph made ready. */
  Status ExecuteGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                     std::vector<gert::Tensor> &outputs) {
    return OnStream<jumar::RuntimeTensors>(jumar::RunMode::kStreamLoaded, graph_id, stream, inputs, outputs);
  }
  /* Outputs of runs on the stream that the program brings no memory for come from the allocator. */
  Status RegisterExternalAllocator(const void *const stream, AllocatorPtr allocator) const {
    if (allocator == nullptr) {
      return jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text("RegisterExternalAllocator is given no allocator"));
    }
    const std::lock_guard<std::mutex> guard(*lock_);
    (*allocators_)[stream] = allocator;
    return SUCCESS;
  }
  Status UnregisterExternalAllocator(const void *const stream) const {
    const std::lock_guard<std::mutex> guard(*lock_);
    (void)allocators_->erase(stream);
    return SUCCESS;
  }

  Status CompileGraph(uint32_t graph_id) { return CompileGraph(graph_id, std::vector<ge::Tensor>()); }
  Status CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
    return jumar::Call(jumar::CallId::kSessionCompile, Described(graph_id, inputs));
  }
  CompiledGraphSummaryPtr GetCompiledGraphSummary(uint32_t graph_id) {
    jumar::Reply reply;
    if (jumar::Call(jumar::CallId::kSessionSummary, Own(graph_id), reply) != SUCCESS) {
      return nullptr;
    }
    return std::make_shared<CompiledGraphSummary>(reply);
  }
  Status GetCompiledModel(uint32_t graph_id, ModelBufferData &model_buffer) {
    jumar::Reply reply;
    const Status status = jumar::Call(jumar::CallId::kSessionModel, Own(graph_id), reply);
    if (status == SUCCESS) {
      jumar::Fill(model_buffer, reply);
    }
    return status;
  }
  Status LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *) const {
    return jumar::Call(jumar::CallId::kSessionLoad, jumar::Message().U64(id_).U64(graph_id).Map(options));
  }
  Status SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return Memory(graph_id, "const", memory, size);
  }
  Status SetGraphFixedFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return Memory(graph_id, "fixed", memory, size);
  }
  Status SetGraphFixedFeatureMemoryBaseWithType(uint32_t graph_id, MemoryType type, const void *const memory,
                                                size_t size) {
    return Memory(graph_id, type == MEMORY_TYPE_P2P ? "fixed, p2p" : "fixed", memory, size);
  }
  Status UpdateGraphFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return Memory(graph_id, "feature", memory, size);
  }
  Status UpdateGraphRefreshableFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return Memory(graph_id, "refreshable", memory, size);
  }

  /* "Save" is called after a run of a graph with Save nodes, where ge.graphRunMode is 1. Other keys are never called. */
  Status RegisterCallBackFunc(const char *key, const session::pCallBackFunc &callback) {
    callbacks_[AscendString(key)] = callback;
    return SUCCESS;
  }
  Status GetVariables(const std::vector<AscendString> &names, std::vector<Tensor> &values) {
    jumar::Message message = Own(0);
    message.U64(names.size());
    for (const AscendString &name : names) {
      message.Text(name);
    }
    jumar::Reply reply;
    values.clear();
    const Status status = jumar::Call(jumar::CallId::kSessionVariables, message, reply);
    if (status == SUCCESS) {
      jumar::Outputs(reply, values);
    }
    return status;
  }
  template <typename Text, typename = typename std::enable_if<std::is_same<Text, std::string>::value>::type>
  Status GetVariables(const std::vector<Text> &names, std::vector<Tensor> &values) {
    std::vector<AscendString> list;
    for (const Text &name : names) {
      list.push_back(AscendString(name.c_str()));
    }
    return GetVariables(list, values);
  }
  uint64_t GetSessionId() const { return id_; }
  Status ShardGraphs() const { return Retired("ShardGraphs"); }
  Status ShardGraphsToFile(const char_t * = "./") const { return Retired("ShardGraphsToFile"); }
  Status SaveGraphsToPb(const char_t *) const { return Retired("SaveGraphsToPb"); }

 private:
  friend class GeSession;
  jumar::Message Own(uint32_t graph_id) const { return jumar::Message().U64(id_).U64(graph_id); }
  jumar::Message Described(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) const {
    jumar::Message message = Own(graph_id);
    message.U64(inputs.size());
    for (const ge::Tensor &tensor : inputs) {
      tensor.GetTensorDesc().JumarWrite(message);
    }
    return message;
  }
  Status Added(uint32_t graph_id, const std::map<AscendString, AscendString> &options, Status status) {
    const auto found = options.find(AscendString("ge.exec.hostInputIndexes"));
    if (status == SUCCESS && found != options.end()) {
      host_inputs_.insert(std::make_pair(graph_id, found->second));
    }
    return status;
  }
  template <typename List, typename T>
  Status OnHost(jumar::RunMode mode, uint32_t graph_id, const std::vector<T> &inputs, std::vector<T> &outputs) {
    const List given(inputs, true);
    jumar::Reply reply;
    outputs.clear();
    const Status status = jumar_ge_run(jumar::kCallVersion, static_cast<uint32_t>(mode), id_, graph_id, nullptr, given.data(), given.size(), nullptr, 0,
                                       &jumar::Reply::Sink, &reply);
    if (status != SUCCESS) {
      return status;
    }
    jumar::Outputs(reply, outputs);
    return Saved(graph_id, reply);
  }
  template <typename List, typename T>
  Status Queued(jumar::RunMode mode, uint32_t graph_id, const std::vector<T> &inputs,
                const std::function<void(Status, std::vector<T> &)> &callback) {
    const List given(inputs, true);
    jumar::Waiting<T> *waiting = new jumar::Waiting<T>();
    waiting->callback = callback;
    return jumar_ge_run_async(jumar::kCallVersion, static_cast<uint32_t>(mode), id_, graph_id, given.data(), given.size(), &jumar::Waiting<T>::Done, waiting);
  }
  /* Memory that the session gave or an allocator: it goes back with the last copy of the tensor, or with the session. */
  static void Own(Tensor &output, const TensorDesc &desc, void *data, size_t bytes,
                  const std::function<void(void *)> &free) {
    (void)output.SetData(static_cast<uint8_t *>(data), bytes, [free](uint8_t *own) { free(own); });
    TensorDesc placed = desc;
    placed.SetPlacement(kPlacementDevice);
    (void)output.SetTensorDesc(placed);
  }
  static void Own(gert::Tensor &output, const TensorDesc &desc, void *data, size_t bytes,
                  const std::function<void(void *)> &free) {
    jumar::Describe(output, desc);
    output.SetData(gert::TensorData(jumar::Shared::Make(data, free), &jumar::Shared::Manage, bytes,
                                    gert::kOnDeviceHbm));
  }
  static void Told(Tensor &output, const TensorDesc &desc) {
    TensorDesc own = output.GetTensorDesc();
    own.SetShape(desc.GetShape());
    own.SetDataType(desc.GetDataType());
    (void)output.SetTensorDesc(own);
  }
  static void Told(gert::Tensor &output, const TensorDesc &desc) { jumar::Describe(output, desc); }
  static const void *Address(const Tensor &tensor) { return tensor.GetData(); }
  static const void *Address(const gert::Tensor &tensor) { return tensor.GetAddr(); }

  /* The allocator of a stream, if there is one. */
  AllocatorPtr External(const void *stream) const {
    const std::lock_guard<std::mutex> guard(*lock_);
    const auto found = allocators_->find(stream);
    return found == allocators_->end() ? nullptr : found->second;
  }
  /* Gets a block of an allocator, or says that there is none. */
  static MemBlock *Block(const AllocatorPtr &allocator, size_t bytes) {
    MemBlock *const block = allocator->Malloc(bytes == 0 ? 1 : bytes);
    if (block == nullptr || block->GetAddr() == nullptr) {
      (void)jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text("the external allocator of the stream gave no memory"));
      return nullptr;
    }
    return block;
  }
  /* Gets memory for the outputs that have none and whose sizes are known from the allocator of the stream. */
  template <typename List, typename T>
  Status Allocate(uint32_t graph_id, const AllocatorPtr &allocator, const List &given, std::vector<T> &outputs) {
    jumar::Message message = Own(graph_id);
    message.U64(given.size());
    for (size_t index = 0; index < given.size(); ++index) {
      const jumar_ge_tensor &one = given.data()[index];
      message.Int(one.dtype).Int(one.format);
      message.Ints(std::vector<int64_t>(one.dims, one.dims + one.rank)).U64(0);
    }
    jumar::Reply reply;
    const Status status = jumar::Call(jumar::CallId::kSessionOutputs, message, reply);
    if (status != SUCCESS) {
      return FAILED;
    }
    const size_t count = static_cast<size_t>(reply.U64());
    if (!outputs.empty() && outputs.size() != count) {
      return SUCCESS;
    }
    outputs.resize(count);
    for (T &output : outputs) {
      const int64_t bytes = reply.Int();
      if (bytes < 0 || Address(output) != nullptr) {
        continue;
      }
      MemBlock *const block = Block(allocator, static_cast<size_t>(bytes));
      if (block == nullptr) {
        return FAILED;
      }
      Own(output, TensorDesc(), block->GetAddr(), static_cast<size_t>(bytes),
          [allocator, block](void *) { block->Free(); });
    }
    return SUCCESS;
  }
  template <typename List, typename T>
  Status OnStream(jumar::RunMode mode, uint32_t graph_id, void *stream, const std::vector<T> &inputs,
                  std::vector<T> &outputs) {
    List given(inputs, false);
    for (size_t index = 0; index < given.size(); ++index) {
      given[index].on_host = MayBeOnHost(graph_id, index) ? 1 : 0;
    }
    const AllocatorPtr allocator = External(stream);
    if (allocator != nullptr && Allocate(graph_id, allocator, given, outputs) != SUCCESS) {
      return FAILED;
    }
    const List wanted(outputs, false);
    jumar::Reply reply;
    const Status status = jumar_ge_run(jumar::kCallVersion, static_cast<uint32_t>(mode), id_, graph_id, stream, given.data(), given.size(), wanted.data(),
                                       wanted.size(), &jumar::Reply::Sink, &reply);
    if (status != SUCCESS) {
      return status;
    }
    const uint64_t count = reply.U64();
    outputs.resize(static_cast<size_t>(count));
    for (T &output : outputs) {
      const TensorDesc desc = TensorDesc::JumarRead(reply);
      void *const data = reinterpret_cast<void *>(static_cast<uintptr_t>(reply.U64()));
      (void)reply.U64();
      const size_t bytes = static_cast<size_t>(reply.U64());
      if (Address(output) == nullptr && data != nullptr) {
        const uint64_t id = id_;
        if (allocator != nullptr) {
          /* The size is known by now, and the run was waited for. */
          MemBlock *const block = Block(allocator, bytes);
          if (block == nullptr) {
            return FAILED;
          }
          void *const to = block->GetAddr();
          const Status moved = jumar::Call(jumar::CallId::kSessionCopyOutput, jumar::Message().U64(id).U64(reinterpret_cast<uintptr_t>(data)).U64(
                                                                    reinterpret_cast<uintptr_t>(to)).U64(bytes));
          Own(output, desc, to, bytes, [allocator, block](void *) { block->Free(); });
          if (moved != SUCCESS) {
            return FAILED;
          }
          continue;
        }
        Own(output, desc, data, bytes, [id](void *own) {
          (void)jumar::Call(jumar::CallId::kSessionFree, jumar::Message().U64(id).U64(reinterpret_cast<uintptr_t>(own)));
        });
      } else {
        Told(output, desc);
      }
    }
    return SUCCESS;
  }
  Status Memory(uint32_t graph_id, const char *what, const void *memory, size_t size) {
    return jumar::Call(jumar::CallId::kSessionMemory,
                       Own(graph_id).Text(what).U64(reinterpret_cast<uintptr_t>(memory)).U64(size));
  }
  static Status Retired(const char *name) {
    const std::string text = std::string(name) + " is not supported: it was retired from the interface";
    return jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text(text.c_str()));
  }
  bool MayBeOnHost(uint32_t graph_id, size_t index) const {
    const auto own = host_inputs_.find(graph_id);
    const auto found = options_.find(AscendString("ge.exec.hostInputIndexes"));
    if (own == host_inputs_.end() && found == options_.end()) {
      return false;
    }
    const AscendString list = own == host_inputs_.end() ? found->second : own->second;
    const std::string text = std::string(",") + list.GetString() + ",";
    return text.find("," + std::to_string(index) + ",") != std::string::npos;
  }
  Status Saved(uint32_t graph_id, jumar::Reply &reply) {
    std::map<AscendString, Tensor> saved;
    for (uint64_t left = reply.U64(); left > 0; --left) {
      const AscendString name = reply.Text();
      const TensorDesc desc = TensorDesc::JumarRead(reply);
      (void)reply.U64();
      const std::pair<const char *, size_t> bytes = reply.Bytes();
      saved[name] = Tensor(desc, reinterpret_cast<const uint8_t *>(bytes.first), bytes.second);
    }
    const auto found = callbacks_.find(AscendString("Save"));
    if (saved.empty() || found == callbacks_.end() || found->second == nullptr) {
      return SUCCESS;
    }
    return found->second(graph_id, saved) == 0 ? SUCCESS : FAILED;
  }

  uint64_t id_;
  std::map<AscendString, AscendString> options_;
  std::map<uint32_t, AscendString> host_inputs_;
  std::map<AscendString, session::pCallBackFunc> callbacks_;
  std::shared_ptr<std::mutex> lock_ = std::make_shared<std::mutex>();
  std::shared_ptr<std::map<const void *, AllocatorPtr>> allocators_ =
      std::make_shared<std::map<const void *, AllocatorPtr>>();
};

inline Status GeSessionLoadGraph(Session &session, uint32_t graph_id,
                                 const std::map<AscendString, AscendString> &options, void *stream) {
  return session.LoadGraph(graph_id, options, stream);
}
inline Status GeSessionExecuteGraphWithStreamAsync(Session &session, uint32_t graph_id, void *stream,
                                                   const std::vector<gert::Tensor> &inputs,
                                                   std::vector<gert::Tensor> &outputs) {
  return session.ExecuteGraphWithStreamAsync(graph_id, stream, inputs, outputs);
}

}  // namespace ge

#endif
