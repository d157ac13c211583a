/* Sessions. */
#include <mutex>
#include <string>

#include "access.h"
#include "build.h"
#include "passes.h"
#include "run.h"

namespace ge {

using jumar::Access;
using jumar::CallId;
using jumar::Message;
using jumar::Reply;

namespace {

typedef std::function<uint32_t(uint32_t, const std::map<AscendString, Tensor> &)> SavedFunc;

}  // namespace

struct Session::Impl {
  explicit Impl(const std::map<AscendString, AscendString> &options)
      : id_(jumar::Number(CallId::kSessionNew, Message().Map(options))), options_(options) {}
  ~Impl() { (void)jumar::Call(CallId::kSessionDelete, Message().U64(id_)); }
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;

  Message About(uint32_t graph_id) const { return Message().U64(id_).U64(graph_id); }
  Message Described(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) const {
    Message message = About(graph_id);
    message.U64(inputs.size());
    for (const ge::Tensor &tensor : inputs) {
      Access::Write(message, tensor.GetTensorDesc());
    }
    return message;
  }
  Status Add(CallId call, uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    Graph changed;
    Status status = jumar::RunPasses(graph, options, options_, changed);
    if (status == SUCCESS) {
      status = jumar::Call(call, About(graph_id).U64(Access::Id(changed)).Map(options));
    }
    return status;
  }
  template <typename List, typename T>
  Status OnHost(jumar::RunMode mode, uint32_t graph_id, const std::vector<T> &inputs, std::vector<T> &outputs) {
    const List given(inputs, true);
    Reply reply;
    outputs.clear();
    const Status status = jumar_ge_run(jumar::kCallVersion, static_cast<uint32_t>(mode), id_, graph_id,
                                       nullptr, given.data(), given.size(), nullptr, 0, &Reply::Sink, &reply);
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
    return jumar_ge_run_async(jumar::kCallVersion, static_cast<uint32_t>(mode), id_, graph_id, given.data(),
                              given.size(), &jumar::Waiting<T>::Done, waiting);
  }
  /* Assigns memory of the session or of an allocator to a tensor; it is freed with the tensor's last copy or with the session. */
  static void Own(Tensor &output, const TensorDesc &desc, void *data, size_t bytes,
                  const std::function<void(void *)> &free) {
    (void)output.SetData(static_cast<uint8_t *>(data), bytes, [free](uint8_t *own) { free(own); });
    TensorDesc on_device = desc;
    on_device.SetPlacement(kPlacementDevice);
    (void)output.SetTensorDesc(on_device);
  }
  static void Own(gert::Tensor &output, const TensorDesc &desc, void *data, size_t bytes,
                  const std::function<void(void *)> &free) {
    jumar::Describe(output, desc);
    output.SetData(gert::TensorData(jumar::Shared::Make(data, free), &jumar::Shared::Manage, bytes,
                                    gert::kOnDeviceHbm));
  }
  static void Describe(Tensor &output, const TensorDesc &desc) {
    TensorDesc own = output.GetTensorDesc();
    own.SetShape(desc.GetShape());
    own.SetDataType(desc.GetDataType());
    (void)output.SetTensorDesc(own);
  }
  static void Describe(gert::Tensor &output, const TensorDesc &desc) { jumar::Describe(output, desc); }
  static const void *Address(const Tensor &tensor) { return tensor.GetData(); }
  static const void *Address(const gert::Tensor &tensor) { return tensor.GetAddr(); }

  /* Returns the allocator of a stream, or null. */
  AllocatorPtr External(const void *stream) const {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = allocators_.find(stream);
    return found == allocators_.end() ? nullptr : found->second;
  }
  /* Allocates a block, or records an error and returns null. */
  static MemBlock *Block(const AllocatorPtr &allocator, size_t bytes) {
    MemBlock *const block = allocator->Malloc(bytes == 0 ? 1 : bytes);
    if (block == nullptr || block->GetAddr() == nullptr) {
      (void)jumar::Fail("the external allocator of the stream returned no memory");
      return nullptr;
    }
    return block;
  }
  /* Allocates memory for those outputs without memory whose sizes are known. */
  template <typename List, typename T>
  Status Allocate(uint32_t graph_id, const AllocatorPtr &allocator, const List &given, std::vector<T> &outputs) {
    Message message = About(graph_id);
    message.U64(given.size());
    for (size_t index = 0; index < given.size(); ++index) {
      const jumar_ge_tensor &one = given.data()[index];
      message.Int(one.dtype).Int(one.format);
      message.Ints(std::vector<int64_t>(one.dims, one.dims + one.rank)).U64(0);
    }
    Reply reply;
    const Status status = jumar::Call(CallId::kSessionOutputs, message, reply);
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
    Reply on_host;
    if (jumar::Call(CallId::kSessionHostInputs, About(graph_id), on_host) != SUCCESS) {
      return FAILED;
    }
    for (uint64_t left = on_host.U64(); left > 0; --left) {
      const uint64_t index = on_host.U64();
      if (index < given.size()) {
        given[static_cast<size_t>(index)].on_host = 1;
      }
    }
    const AllocatorPtr allocator = External(stream);
    if (allocator != nullptr && Allocate(graph_id, allocator, given, outputs) != SUCCESS) {
      return FAILED;
    }
    const List wanted(outputs, false);
    Reply reply;
    const Status status = jumar_ge_run(jumar::kCallVersion, static_cast<uint32_t>(mode), id_, graph_id,
                                       stream, given.data(), given.size(), wanted.data(), wanted.size(),
                                       &Reply::Sink, &reply);
    if (status != SUCCESS) {
      return status;
    }
    const uint64_t count = reply.U64();
    outputs.resize(static_cast<size_t>(count));
    bool failed = false;
    for (T &output : outputs) {
      const TensorDesc desc = Access::ReadDesc(reply);
      void *const data = reinterpret_cast<void *>(static_cast<uintptr_t>(reply.U64()));
      (void)reply.U64();
      const size_t bytes = static_cast<size_t>(reply.U64());
      if (Address(output) != nullptr || data == nullptr) {
        Describe(output, desc);
      } else if (failed) {
        /* The program does not get this output, so that nothing else would free its memory. */
        Free(id_, data);
      } else if (allocator != nullptr) {
        failed = !Move(allocator, output, desc, data, bytes);
      } else {
        const uint64_t id = id_;
        Own(output, desc, data, bytes, [id](void *own) { Free(id, own); });
      }
    }
    return failed ? FAILED : SUCCESS;
  }
  /* Moves an output whose size only the run found into memory of an allocator. Frees the memory of the session in any case. */
  template <typename T>
  bool Move(const AllocatorPtr &allocator, T &output, const TensorDesc &desc, void *data, size_t bytes) {
    MemBlock *const block = Block(allocator, bytes);
    if (block == nullptr) {
      Free(id_, data);
      return false;
    }
    void *const to = block->GetAddr();
    const Status moved = jumar::Call(CallId::kSessionCopyOutput, Message().U64(id_).U64(
        reinterpret_cast<uintptr_t>(data)).U64(reinterpret_cast<uintptr_t>(to)).U64(bytes));
    Own(output, desc, to, bytes, [allocator, block](void *) { block->Free(); });
    return moved == SUCCESS;
  }
  static void Free(uint64_t id, void *lent) {
    (void)jumar::Call(CallId::kSessionFree, Message().U64(id).U64(reinterpret_cast<uintptr_t>(lent)));
  }
  Status Memory(uint32_t graph_id, const char *what, const void *memory, size_t size) {
    return jumar::Call(CallId::kSessionMemory,
                       About(graph_id).Text(what).U64(reinterpret_cast<uintptr_t>(memory)).U64(size));
  }
  static Status Retired(const char *name) {
    const std::string text = std::string(name) + " is not supported: it was removed from the interface";
    return jumar::Fail(text.c_str());
  }
  Status Saved(uint32_t graph_id, Reply &reply) {
    std::map<AscendString, Tensor> saved;
    for (uint64_t left = reply.U64(); left > 0; --left) {
      const AscendString name = reply.Text();
      const TensorDesc desc = Access::ReadDesc(reply);
      (void)reply.U64();
      const std::pair<const char *, size_t> bytes = reply.Bytes();
      saved[name] = Tensor(desc, reinterpret_cast<const uint8_t *>(bytes.first), bytes.second);
    }
    const SavedFunc save = Callback(AscendString("Save"));
    if (saved.empty() || save == nullptr) {
      return SUCCESS;
    }
    return save(graph_id, saved) == 0 ? SUCCESS : FAILED;
  }
  /* Returns a copy, which is called without the lock. */
  SavedFunc Callback(const AscendString &key) const {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = callbacks_.find(key);
    return found == callbacks_.end() ? nullptr : found->second;
  }

  const uint64_t id_;
  const std::map<AscendString, AscendString> options_;
  /* Guards what follows. */
  mutable std::mutex lock_;
  std::map<AscendString, SavedFunc> callbacks_;
  std::map<const void *, AllocatorPtr> allocators_;
};

Session::Session(const std::map<AscendString, AscendString> &options) : impl_(new Impl(options)) {}
Session::~Session() { delete impl_; }

Status Session::AddGraph(uint32_t graph_id, const Graph &graph) {
  return AddGraph(graph_id, graph, std::map<AscendString, AscendString>());
}
Status Session::AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
  return impl_->Add(CallId::kSessionAdd, graph_id, graph, options);
}
Status Session::AddGraphWithCopy(uint32_t graph_id, const Graph &graph) {
  return AddGraphWithCopy(graph_id, graph, std::map<AscendString, AscendString>());
}
Status Session::AddGraphWithCopy(uint32_t graph_id, const Graph &graph,
                                 const std::map<AscendString, AscendString> &options) {
  return impl_->Add(CallId::kSessionAddCopy, graph_id, graph, options);
}
Status Session::RemoveGraph(uint32_t graph_id) {
  return jumar::Call(CallId::kSessionRemove, impl_->About(graph_id));
}

Status Session::BuildGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
  return jumar::Call(CallId::kSessionBuild, impl_->Described(graph_id, inputs));
}
Status Session::BuildGraph(uint32_t graph_id, const std::vector<InputTensorInfo> &inputs) {
  std::vector<ge::Tensor> list;
  for (const InputTensorInfo &info : inputs) {
    list.push_back(Tensor(TensorDesc(Shape(info.dims), FORMAT_ND, static_cast<DataType>(info.data_type))));
  }
  return BuildGraph(graph_id, list);
}
bool Session::IsGraphNeedRebuild(uint32_t graph_id) {
  return jumar::Number(CallId::kSessionNeedsBuild, impl_->About(graph_id)) != 0;
}

Status Session::RunGraph(uint32_t graph_id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
  return impl_->OnHost<jumar::Tensors>(jumar::RunMode::kHost, graph_id, inputs, outputs);
}
Status Session::RunGraph(uint32_t graph_id, const ContinuousTensorList &inputs, std::vector<Tensor> &outputs) {
  return RunGraph(graph_id, inputs.GetTensorList(), outputs);
}
Status Session::RunGraphAsync(uint32_t graph_id, const std::vector<ge::Tensor> &inputs, RunAsyncCallback callback) {
  return impl_->Queued<jumar::Tensors>(jumar::RunMode::kHost, graph_id, inputs, callback);
}
Status Session::RunGraphAsync(uint32_t graph_id, const ContinuousTensorList &inputs, RunAsyncCallback callback) {
  return RunGraphAsync(graph_id, inputs.GetTensorList(), callback);
}
Status Session::RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs,
                                        std::vector<Tensor> &outputs) {
  return impl_->OnStream<jumar::Tensors>(jumar::RunMode::kStream, graph_id, stream, inputs, outputs);
}
Status Session::ExecuteGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                            std::vector<gert::Tensor> &outputs) {
  return impl_->OnStream<jumar::RuntimeTensors>(jumar::RunMode::kStreamLoaded, graph_id, stream, inputs, outputs);
}
Status Session::RegisterExternalAllocator(const void *const stream, AllocatorPtr allocator) const {
  if (allocator == nullptr) {
    return jumar::Fail("RegisterExternalAllocator: the allocator is null");
  }
  const std::lock_guard<std::mutex> guard(impl_->lock_);
  impl_->allocators_[stream] = allocator;
  return SUCCESS;
}
Status Session::UnregisterExternalAllocator(const void *const stream) const {
  const std::lock_guard<std::mutex> guard(impl_->lock_);
  (void)impl_->allocators_.erase(stream);
  return SUCCESS;
}

Status Session::CompileGraph(uint32_t graph_id) { return CompileGraph(graph_id, std::vector<ge::Tensor>()); }
Status Session::CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
  return jumar::Call(CallId::kSessionCompile, impl_->Described(graph_id, inputs));
}
CompiledGraphSummaryPtr Session::GetCompiledGraphSummary(uint32_t graph_id) {
  Reply reply;
  if (jumar::Call(CallId::kSessionSummary, impl_->About(graph_id), reply) != SUCCESS) {
    return nullptr;
  }
  return Access::Summary(reply);
}
Status Session::GetCompiledModel(uint32_t graph_id, ModelBufferData &model_buffer) {
  Reply reply;
  const Status status = jumar::Call(CallId::kSessionModel, impl_->About(graph_id), reply);
  if (status == SUCCESS) {
    jumar::Fill(model_buffer, reply);
  }
  return status;
}
Status Session::LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *) const {
  return jumar::Call(CallId::kSessionLoad, impl_->About(graph_id).Map(options));
}
Status Session::SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Memory(graph_id, "const", memory, size);
}
Status Session::SetGraphFixedFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Memory(graph_id, "fixed", memory, size);
}
Status Session::SetGraphFixedFeatureMemoryBaseWithType(uint32_t graph_id, MemoryType type, const void *const memory,
                                                       size_t size) {
  return impl_->Memory(graph_id, type == MEMORY_TYPE_P2P ? "fixed, p2p" : "fixed", memory, size);
}
Status Session::UpdateGraphFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Memory(graph_id, "feature", memory, size);
}
Status Session::UpdateGraphRefreshableFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Memory(graph_id, "refreshable", memory, size);
}

Status Session::RegisterCallBackFunc(const char *key, const session::pCallBackFunc &callback) {
  return RegisterCallBack(key, callback);
}
Status Session::RegisterCallBack(const char *key, const SavedFunc &callback) {
  const std::lock_guard<std::mutex> guard(impl_->lock_);
  impl_->callbacks_[AscendString(key)] = callback;
  return SUCCESS;
}
Status Session::GetVariables(const std::vector<AscendString> &names, std::vector<Tensor> &values) {
  Message message = impl_->About(0);
  message.U64(names.size());
  for (const AscendString &name : names) {
    message.Text(name);
  }
  Reply reply;
  values.clear();
  const Status status = jumar::Call(CallId::kSessionVariables, message, reply);
  if (status == SUCCESS) {
    jumar::Outputs(reply, values);
  }
  return status;
}
uint64_t Session::GetSessionId() const { return impl_->id_; }
Status Session::ShardGraphs() const { return Impl::Retired("ShardGraphs"); }
Status Session::ShardGraphsToFile(const char_t *) const { return Impl::Retired("ShardGraphsToFile"); }
Status Session::SaveGraphsToPb(const char_t *) const { return Impl::Retired("SaveGraphsToPb"); }

Status GeSessionLoadGraph(Session &session, uint32_t graph_id, const std::map<AscendString, AscendString> &options,
                          void *stream) {
  return session.LoadGraph(graph_id, options, stream);
}
Status GeSessionExecuteGraphWithStreamAsync(Session &session, uint32_t graph_id, void *stream,
                                            const std::vector<gert::Tensor> &inputs,
                                            std::vector<gert::Tensor> &outputs) {
  return session.ExecuteGraphWithStreamAsync(graph_id, stream, inputs, outputs);
}

/* The session of a GeSession. It is created when it is first used, because programs construct a GeSession before
 * GEInitializeV2. */
struct GeSession::Impl {
  explicit Impl(const std::map<AscendString, AscendString> &options) : options_(options) {}

  Session &Inner() {
    const std::lock_guard<std::mutex> guard(lock_);
    if (session_ == nullptr || session_->GetSessionId() == 0) {
      session_ = std::make_shared<Session>(options_);
    }
    return *session_;
  }
  Session::Impl &Runs() { return *Inner().impl_; }

  /* Refuses a second way to run a graph. */
  bool Keeps(uint32_t graph_id, int way) {
    int before;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      before = ways_.insert(std::make_pair(graph_id, way)).first->second;
    }
    if (before != way) {
      (void)jumar::Fail(
          "RunGraph, RunGraphAsync and RunGraphWithStreamAsync do not mix on one graph of a GeSession: add it again "
          "under another number");
    }
    return before == way;
  }
  void Forget(uint32_t graph_id) {
    const std::lock_guard<std::mutex> guard(lock_);
    (void)ways_.erase(graph_id);
  }
  /* Copies outputs into memory of the program if it brought any, which has to be large enough. */
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
        const std::string text = "output " + std::to_string(index) + " needs " + std::to_string(made[index].GetSize()) +
                                 " bytes, but the memory of its tensor is smaller: " +
                                 std::to_string(outputs[index].GetSize()) + " bytes";
        return jumar::Fail(text.c_str());
      }
      std::memcpy(outputs[index].GetAddr(), made[index].GetAddr(), made[index].GetSize());
      outputs[index].MutableStorageShape() = made[index].GetStorageShape();
      outputs[index].MutableOriginShape() = made[index].GetOriginShape();
      outputs[index].SetDataType(made[index].GetDataType());
    }
    return SUCCESS;
  }

  const std::map<AscendString, AscendString> options_;
  /* Guards what follows. */
  std::mutex lock_;
  std::shared_ptr<Session> session_;
  std::map<uint32_t, int> ways_;
};

GeSession::GeSession(const std::map<AscendString, AscendString> &options) : impl_(std::make_shared<Impl>(options)) {}
GeSession::~GeSession() = default;

Status GeSession::AddGraph(uint32_t graph_id, const Graph &graph) { return impl_->Inner().AddGraph(graph_id, graph); }
Status GeSession::AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
  return impl_->Inner().AddGraph(graph_id, graph, options);
}
Status GeSession::AddGraphClone(uint32_t graph_id, const Graph &graph) {
  return impl_->Inner().AddGraphWithCopy(graph_id, graph);
}
Status GeSession::AddGraphClone(uint32_t graph_id, const Graph &graph,
                                const std::map<AscendString, AscendString> &options) {
  return impl_->Inner().AddGraphWithCopy(graph_id, graph, options);
}
Status GeSession::RemoveGraph(uint32_t graph_id) {
  impl_->Forget(graph_id);
  return impl_->Inner().RemoveGraph(graph_id);
}
bool GeSession::IsGraphNeedRebuild(uint32_t graph_id) { return impl_->Inner().IsGraphNeedRebuild(graph_id); }
uint64_t GeSession::GetSessionId() const { return impl_->Inner().GetSessionId(); }

Status GeSession::CompileGraph(uint32_t graph_id) { return impl_->Inner().CompileGraph(graph_id); }
Status GeSession::CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
  return impl_->Inner().CompileGraph(graph_id, inputs);
}
Status GeSession::LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options,
                            void *stream) const {
  return impl_->Inner().LoadGraph(graph_id, options, stream);
}

Status GeSession::RunGraph(uint32_t graph_id, const std::vector<gert::Tensor> &inputs,
                           std::vector<gert::Tensor> &outputs) {
  if (!impl_->Keeps(graph_id, 1)) {
    return FAILED;
  }
  std::vector<gert::Tensor> made;
  const Status status =
      impl_->Runs().OnHost<jumar::RuntimeTensors>(jumar::RunMode::kHostAny, graph_id, inputs, made);
  return status == SUCCESS ? Impl::Deliver(made, outputs) : status;
}
Status GeSession::RunGraphAsync(uint32_t graph_id, const std::vector<gert::Tensor> &inputs,
                                RunAsyncCallbackV2 callback) {
  if (!impl_->Keeps(graph_id, 2)) {
    return FAILED;
  }
  return impl_->Runs().Queued<jumar::RuntimeTensors>(jumar::RunMode::kHostAny, graph_id, inputs, callback);
}
Status GeSession::RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<gert::Tensor> &inputs,
                                          std::vector<gert::Tensor> &outputs) {
  if (!impl_->Keeps(graph_id, 3)) {
    return FAILED;
  }
  return impl_->Runs().OnStream<jumar::RuntimeTensors>(jumar::RunMode::kStream, graph_id, stream, inputs, outputs);
}

CompiledGraphSummaryPtr GeSession::GetCompiledGraphSummary(uint32_t graph_id) {
  return impl_->Inner().GetCompiledGraphSummary(graph_id);
}
Status GeSession::GetCompiledModel(uint32_t graph_id, ModelBufferData &model_buffer) {
  return impl_->Inner().GetCompiledModel(graph_id, model_buffer);
}
Status GeSession::SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Inner().SetGraphConstMemoryBase(graph_id, memory, size);
}
Status GeSession::UpdateGraphFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Inner().UpdateGraphFeatureMemoryBase(graph_id, memory, size);
}
Status GeSession::SetGraphFixedFeatureMemoryBaseWithType(uint32_t graph_id, MemoryType type, const void *const memory,
                                                         size_t size) {
  return impl_->Inner().SetGraphFixedFeatureMemoryBaseWithType(graph_id, type, memory, size);
}
Status GeSession::UpdateGraphRefreshableFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
  return impl_->Inner().UpdateGraphRefreshableFeatureMemoryBase(graph_id, memory, size);
}
Status GeSession::RegisterExternalAllocator(const void *const stream, AllocatorPtr allocator) const {
  return impl_->Inner().RegisterExternalAllocator(stream, allocator);
}
Status GeSession::UnregisterExternalAllocator(const void *const stream) const {
  return impl_->Inner().UnregisterExternalAllocator(stream);
}

}  // namespace ge
