/* The private parts of the public classes, for the units of this library. */
#ifndef JUMAR_GE_CPP_ACCESS_H_
#define JUMAR_GE_CPP_ACCESS_H_

#include <map>
#include <memory>
#include <vector>

#include "public.h"
#include "wire.h"

namespace ge {
namespace jumar {

struct PatternData;
struct RegisteredPass;

struct __attribute__((visibility("hidden"))) Access {
  static uint64_t Id(const Operator &op) { return op.handle_ == nullptr ? 0 : op.handle_->id(); }
  static uint64_t Id(const Graph &graph) { return graph.handle_ == nullptr ? 0 : graph.handle_->id(); }
  static uint64_t Id(const GNode &node);
  static const HandlePtr &Held(const Operator &op) { return op.handle_; }
  static const HandlePtr &Held(const Graph &graph) { return graph.handle_; }
  static void Take(Operator &op, uint64_t id) { op.handle_ = std::make_shared<Handle>(CallId::kOpRelease, id); }
  /* Return an object for an identifier, whose reference the object takes over. */
  static Operator OperatorOf(uint64_t id);
  static Operator OperatorOf(const GNode &node);
  static Graph GraphOf(uint64_t id);
  static GNode NodeOf(uint64_t id);
  /* Creates the graph behind an empty object. */
  static void Create(Graph &graph, const char *name);
  static void CreateIfEmpty(Graph &graph);

  static void Write(Message &to, const TensorDesc &desc);
  static void Write(Message &to, const Tensor &tensor);
  static void Write(Message &to, const NamedAttrs &attrs);
  /* Returns how many bytes a tensor in device memory has. */
  static size_t DeviceSize(const Tensor &tensor);
  static TensorDesc ReadDesc(Reply &from);
  static Tensor ReadTensor(Reply &from);
  static NamedAttrs ReadNamedAttrs(Reply &from);

  static const std::vector<char> &Bytes(const AttrValue &value);
  static void SetBytes(AttrValue &value, const std::vector<char> &bytes);
  static void SetBytes(GraphBuffer &buffer, const void *bytes, size_t size);

  static CompiledGraphSummaryPtr Summary(Reply &reply);

  static std::shared_ptr<PatternData> Data(const fusion::Pattern *pattern);
  /* Returns the status of the check of a matcher's pattern. */
  static Status StatusOf(const fusion::PatternMatcher &matcher);

  static RegisteredPass PassOf(const PassRegistrationData &data, uint64_t id);
  static void SetName(PassRegistrationData &data, const AscendString &name);
  static AscendString NameOf(const PassRegistrationData &data);
  static void Begin(CustomPassContext &context, const AscendString &name,
                    const std::map<AscendString, AscendString> &options);
};

/* Each object without a value has the message of its identifier, which is 0. */
template <typename T>
inline Message About(const T &object) {
  return Message().U64(Access::Id(object));
}
inline graphStatus Did(CallId call, const Message &message) {
  return Call(call, message) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}
inline graphStatus Did(CallId call, const Message &message, Reply &reply) {
  return Call(call, message, reply) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}

}  // namespace jumar
}  // namespace ge

#endif
