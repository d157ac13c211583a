/* Sessions: graphs are added, built and run, from host memory or on a stream. */
#ifndef JUMAR_GE_API_H_
#define JUMAR_GE_API_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../graph/graph.h"
#include "../graph/tensor.h"
#include "ge_api_types.h"
#include "ge_graph_compile_summary.h"

namespace ge {

typedef uint32_t (*pCallBackFunc)(uint32_t graph_id, const std::map<std::string, ge::Tensor> &params);
namespace session {
typedef uint32_t (*pCallBackFunc)(uint32_t graph_id, const std::map<AscendString, ge::Tensor> &params);
}  // namespace session

inline Status GEInitialize(const std::map<AscendString, AscendString> &options) {
  return jumar::Call("ge.initialize", jumar::Message().Map(options));
}
inline Status GEInitialize(const std::map<std::string, std::string> &options) {
  return GEInitialize(jumar::FromStrings(options));
}
inline Status GEFinalize() { return jumar::Call("ge.finalize", jumar::Message()); }
namespace jumar {
inline AscendString Texts(const char *name) {
  Reply reply;
  (void)Call(name, Message(), reply);
  return reply.Text();
}
}  // namespace jumar
/* The texts of what went wrong on this thread since they were last asked for. */
inline AscendString GEGetErrorMsgV2() { return jumar::Texts("ge.error"); }
inline AscendString GEGetErrorMsgV3() { return jumar::Texts("ge.error"); }
inline AscendString GEGetWarningMsgV2() { return jumar::Texts("ge.warning"); }
inline AscendString GEGetWarningMsgV3() { return jumar::Texts("ge.warning"); }
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

struct Waiting {
  RunAsyncCallback callback;
  static void Done(void *user, uint32_t status, const void *bytes, size_t size) {
    std::unique_ptr<Waiting> self(static_cast<Waiting *>(user));
    Reply reply;
    reply.Take(bytes, size);
    std::vector<Tensor> outputs;
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
      : id_(jumar::Number("session.new", jumar::Message().Map(options))), options_(options) {}
  explicit Session(const std::map<std::string, std::string> &options) : Session(jumar::FromStrings(options)) {}
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  ~Session() { (void)jumar::Call("session.delete", jumar::Message().U64(id_)); }

  Status AddGraph(uint32_t graph_id, const Graph &graph) {
    return AddGraph(graph_id, graph, std::map<AscendString, AscendString>());
  }
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    return jumar::Call("session.add", Own(graph_id).U64(graph.JumarId()).Map(options));
  }
  Status AddGraph(uint32_t graph_id, const Graph &graph, const std::map<std::string, std::string> &options) {
    return AddGraph(graph_id, graph, jumar::FromStrings(options));
  }
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph) {
    return AddGraphWithCopy(graph_id, graph, std::map<AscendString, AscendString>());
  }
  Status AddGraphWithCopy(uint32_t graph_id, const Graph &graph, const std::map<AscendString, AscendString> &options) {
    return jumar::Call("session.add_copy", Own(graph_id).U64(graph.JumarId()).Map(options));
  }
  Status RemoveGraph(uint32_t graph_id) { return jumar::Call("session.remove", Own(graph_id)); }

  Status BuildGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
    return jumar::Call("session.build", Described(graph_id, inputs));
  }
  Status BuildGraph(uint32_t graph_id, const std::vector<InputTensorInfo> &inputs) {
    std::vector<ge::Tensor> list;
    for (const InputTensorInfo &info : inputs) {
      list.push_back(Tensor(TensorDesc(Shape(info.dims), FORMAT_ND, static_cast<DataType>(info.data_type))));
    }
    return BuildGraph(graph_id, list);
  }
  bool IsGraphNeedRebuild(uint32_t graph_id) { return jumar::Number("session.needs_build", Own(graph_id)) != 0; }

  Status RunGraph(uint32_t graph_id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
    const jumar::Tensors given(inputs, true);
    jumar::Reply reply;
    outputs.clear();
    const Status status = jumar_ge_run(0, id_, graph_id, nullptr, given.data(), given.size(), nullptr, 0,
                                       &jumar::Reply::Sink, &reply);
    if (status != SUCCESS) {
      return status;
    }
    jumar::Outputs(reply, outputs);
    return Saved(graph_id, reply);
  }
  Status RunGraphAsync(uint32_t graph_id, const std::vector<ge::Tensor> &inputs, RunAsyncCallback callback) {
    const jumar::Tensors given(inputs, true);
    jumar::Waiting *waiting = new jumar::Waiting();
    waiting->callback = callback;
    return jumar_ge_run_async(id_, graph_id, given.data(), given.size(), &jumar::Waiting::Done, waiting);
  }
  Status RunGraphWithStreamAsync(uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs,
                                 std::vector<Tensor> &outputs) {
    return OnStream(1, graph_id, stream, inputs, outputs);
  }

  Status CompileGraph(uint32_t graph_id) { return CompileGraph(graph_id, std::vector<ge::Tensor>()); }
  Status CompileGraph(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) {
    return jumar::Call("session.compile", Described(graph_id, inputs));
  }
  CompiledGraphSummaryPtr GetCompiledGraphSummary(uint32_t graph_id) {
    jumar::Reply reply;
    if (jumar::Call("session.summary", Own(graph_id), reply) != SUCCESS) {
      return nullptr;
    }
    return std::make_shared<CompiledGraphSummary>(reply);
  }
  Status LoadGraph(const uint32_t graph_id, const std::map<AscendString, AscendString> &options, void *) const {
    return jumar::Call("session.load", jumar::Message().U64(id_).U64(graph_id).Map(options));
  }
  Status SetGraphConstMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return Memory(graph_id, "const", memory, size);
  }
  Status SetGraphFixedFeatureMemoryBase(uint32_t graph_id, const void *const memory, size_t size) {
    return Memory(graph_id, "fixed", memory, size);
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
    const Status status = jumar::Call("session.variables", message, reply);
    if (status == SUCCESS) {
      jumar::Outputs(reply, values);
    }
    return status;
  }
  uint64_t GetSessionId() const { return id_; }
  Status ShardGraphs() { return Retired("ShardGraphs"); }
  Status SaveGraphsToPb(uint32_t, const std::vector<AscendString> &) { return Retired("SaveGraphsToPb"); }

 protected:
  jumar::Message Own(uint32_t graph_id) const { return jumar::Message().U64(id_).U64(graph_id); }
  jumar::Message Described(uint32_t graph_id, const std::vector<ge::Tensor> &inputs) const {
    jumar::Message message = Own(graph_id);
    message.U64(inputs.size());
    for (const ge::Tensor &tensor : inputs) {
      tensor.GetTensorDesc().JumarWrite(message);
    }
    return message;
  }
  Status OnStream(uint32_t how, uint32_t graph_id, void *stream, const std::vector<Tensor> &inputs,
                  std::vector<Tensor> &outputs) {
    jumar::Tensors given(inputs, false);
    for (size_t index = 0; index < given.size(); ++index) {
      given[index].on_host = MayBeOnHost(index) ? 1 : 0;
    }
    const jumar::Tensors wanted(outputs, false);
    jumar::Reply reply;
    const Status status = jumar_ge_run(how, id_, graph_id, stream, given.data(), given.size(), wanted.data(),
                                       wanted.size(), &jumar::Reply::Sink, &reply);
    if (status != SUCCESS) {
      return status;
    }
    const uint64_t count = reply.U64();
    outputs.resize(static_cast<size_t>(count));
    for (Tensor &output : outputs) {
      const TensorDesc desc = TensorDesc::JumarRead(reply);
      uint8_t *const data = reinterpret_cast<uint8_t *>(static_cast<uintptr_t>(reply.U64()));
      (void)reply.U64();
      const size_t bytes = static_cast<size_t>(reply.U64());
      if (output.GetData() == nullptr && data != nullptr) {
        /* The memory is the session's: it is given back with the last copy of the tensor, or with the session. */
        const uint64_t id = id_;
        (void)output.SetData(data, bytes, [id](uint8_t *own) {
          (void)jumar::Call("session.free", jumar::Message().U64(id).U64(reinterpret_cast<uintptr_t>(own)));
        });
        TensorDesc placed = desc;
        placed.SetPlacement(kPlacementDevice);
        (void)output.SetTensorDesc(placed);
      } else {
        TensorDesc own = output.GetTensorDesc();
        own.SetShape(desc.GetShape());
        own.SetDataType(desc.GetDataType());
        (void)output.SetTensorDesc(own);
      }
    }
    return SUCCESS;
  }

 private:
  Status Memory(uint32_t graph_id, const char *what, const void *memory, size_t size) {
    return jumar::Call("session.memory",
                       Own(graph_id).Text(what).U64(reinterpret_cast<uintptr_t>(memory)).U64(size));
  }
  static Status Retired(const char *name) {
    const std::string text = std::string(name) + " is not supported: it was retired from the interface";
    return jumar::Call("ge.fail", jumar::Message().Text(text.c_str()));
  }
  bool MayBeOnHost(size_t index) const {
    const auto found = options_.find(AscendString("ge.exec.hostInputIndexes"));
    if (found == options_.end()) {
      return false;
    }
    const std::string text = std::string(",") + found->second.GetString() + ",";
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
  std::map<AscendString, session::pCallBackFunc> callbacks_;
};

}  // namespace ge

#endif
