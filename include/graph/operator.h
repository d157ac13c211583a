/* Operators: what programs link to graphs. */
#ifndef JUMAR_GRAPH_OPERATOR_H_
#define JUMAR_GRAPH_OPERATOR_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "attr_value.h"
#include "tensor.h"
#include "types.h"

namespace ge {

class Graph;
class Operator;
class OperatorFactory;
typedef std::function<Graph()> SubgraphBuilder;
typedef std::shared_ptr<Operator> OperatorPtr;

namespace jumar {

/* A text of the standard library from one of ours. */
inline std::string Owned(const char *text) { return std::string(text); }

/* The name of an operator, however a program writes it. */
class Name {
 public:
  Name() : text_("") {}
  Name(const char *text) : text_(text) {}
  Name(const AscendString &text) : text_(text.GetString()) {}
  Name(const std::string &text) : text_(text.c_str()) {}
  const char *text() const { return text_; }

 private:
  const char *text_;
};

/* Which output of an operator an input is linked with: the only one, one by name or one by number. */
struct Port {
  Port() {}
  Port(const char *text) : way(1), name(text) {}
  Port(const std::string &text) : way(1), name(text.c_str()) {}
  template <typename N, typename = typename std::enable_if<std::is_integral<N>::value>::type>
  Port(N place) : way(2), number(static_cast<uint64_t>(place)) {}
  uint64_t way = 0;
  const char *name = "";
  uint64_t number = 0;
};

}  // namespace jumar

class Operator {
 public:
  typedef int64_t OpInt;
  typedef float32_t OpFloat;
  typedef std::string OpString;
  typedef AscendString OpAscendString;
  typedef bool OpBool;
  typedef Tensor OpTensor;
  typedef ge::DataType OpType;
  typedef ge::NamedAttrs OpNamedAttrs;
  typedef std::vector<int64_t> OpListInt;
  typedef std::vector<float32_t> OpListFloat;
  typedef std::vector<std::string> OpListString;
  typedef std::vector<AscendString> OpListAcendString;
  typedef std::vector<AscendString> OpListAscendString;
  typedef std::vector<bool> OpListBool;
  typedef std::vector<Tensor> OpListTensor;
  typedef std::vector<uint8_t> OpBytes;
  typedef std::vector<std::vector<int64_t>> OpListListInt;
  typedef std::vector<ge::DataType> OpListType;
  typedef std::vector<ge::NamedAttrs> OpListNamedAttrs;

  Operator() = default;
  /* An operator that the library knows, with its inputs, outputs and defaults. */
  Operator(const jumar::Name &name, const char_t *type) {
    handle_ = std::make_shared<jumar::Handle>(
        jumar::CallId::kOpRelease, jumar::Number(jumar::CallId::kOpCreate, jumar::Message().Text(name.text()).Text(type)));
  }
  explicit Operator(const char_t *type) { Make("", type); }
  explicit Operator(const std::string &type) { Make("", type.c_str()); }
  Operator(const char_t *name, const char_t *type) { Make(name, type); }
  Operator(const AscendString &name, const AscendString &type) { Make(name.GetString(), type.GetString()); }
  Operator(const std::string &name, const std::string &type) { Make(name.c_str(), type.c_str()); }
  virtual ~Operator() = default;

  bool IsEmpty() const { return handle_ == nullptr; }
  graphStatus GetName(AscendString &name) const {
    jumar::Reply reply;
    const graphStatus status = Ask(jumar::CallId::kOpInfo, jumar::Message().U64(JumarId()), reply);
    name = reply.Text();
    return status;
  }
  std::string GetName() const {
    AscendString name;
    (void)GetName(name);
    return std::string(name.GetString());
  }
  graphStatus GetOpType(AscendString &type) const {
    jumar::Reply reply;
    const graphStatus status = Ask(jumar::CallId::kOpInfo, jumar::Message().U64(JumarId()), reply);
    (void)reply.Text();
    type = reply.Text();
    return status;
  }
  std::string GetOpType() const {
    AscendString type;
    (void)GetOpType(type);
    return std::string(type.GetString());
  }

  Operator &SetInput(const char_t *input, const Operator &source) { return Link(input, 0, source, 0, "", 0); }
  Operator &SetInput(const char_t *input, const Operator &source, const char_t *output) {
    return Link(input, 0, source, 1, output, 0);
  }
  Operator &SetInput(const char_t *input, const Operator &source, uint32_t output) {
    return Link(input, 0, source, 2, "", output);
  }
  Operator &SetInput(uint32_t input, const Operator &source, uint32_t output) {
    return Link("", input, source, 2, "", output);
  }
  Operator &SetInput(const char_t *input, uint32_t number, const Operator &source) {
    return Link(Numbered(input, number).GetString(), 0, source, 0, "", 0);
  }
  Operator &SetInput(const char_t *input, uint32_t number, const Operator &source, const char_t *output) {
    return Link(Numbered(input, number).GetString(), 0, source, 1, output, 0);
  }
  Operator &SetInput(const std::string &input, const Operator &source) { return SetInput(input.c_str(), source); }
  Operator &SetInput(const std::string &input, const Operator &source, const std::string &output) {
    return SetInput(input.c_str(), source, output.c_str());
  }
  Operator &SetInput(const std::string &input, const Operator &source, uint32_t output) {
    return SetInput(input.c_str(), source, output);
  }
  Operator &AddControlInput(const Operator &source) {
    (void)jumar::Call(jumar::CallId::kOpControl, jumar::Message().U64(JumarId()).U64(source.JumarId()));
    return *this;
  }
  void BreakConnect() const { (void)jumar::Call(jumar::CallId::kOpCut, jumar::Message().U64(JumarId())); }

  TensorDesc GetInputDesc(uint32_t index) const { return Desc(jumar::CallId::kOpInputDesc, "", index); }
  TensorDesc GetInputDesc(const std::string &name) const { return Desc(jumar::CallId::kOpInputDesc, name.c_str(), 0); }
  TensorDesc GetInputDescByName(const char_t *name) const { return Desc(jumar::CallId::kOpInputDesc, name, 0); }
  graphStatus TryGetInputDesc(const char_t *name, TensorDesc &desc) const {
    jumar::Reply reply;
    const graphStatus status = Ask(jumar::CallId::kOpInputDesc, jumar::Message().U64(JumarId()).Text(name).U64(0), reply);
    if (status == GRAPH_SUCCESS) {
      desc = TensorDesc::JumarRead(reply);
    }
    return status;
  }
  graphStatus UpdateInputDesc(const char_t *name, const TensorDesc &desc) {
    return SetDesc(jumar::CallId::kOpSetInputDesc, name, 0, desc);
  }
  graphStatus UpdateInputDesc(const std::string &name, const TensorDesc &desc) {
    return UpdateInputDesc(name.c_str(), desc);
  }
  graphStatus UpdateInputDesc(const uint32_t index, const TensorDesc &desc) {
    return SetDesc(jumar::CallId::kOpSetInputDesc, "", index, desc);
  }
  TensorDesc GetOutputDesc(uint32_t index) const { return Desc(jumar::CallId::kOpOutputDesc, "", index); }
  TensorDesc GetOutputDesc(const std::string &name) const { return Desc(jumar::CallId::kOpOutputDesc, name.c_str(), 0); }
  TensorDesc GetOutputDescByName(const char_t *name) const { return Desc(jumar::CallId::kOpOutputDesc, name, 0); }
  graphStatus UpdateOutputDesc(const char_t *name, const TensorDesc &desc) {
    return SetDesc(jumar::CallId::kOpSetOutputDesc, name, 0, desc);
  }
  graphStatus UpdateOutputDesc(const std::string &name, const TensorDesc &desc) {
    return UpdateOutputDesc(name.c_str(), desc);
  }
  graphStatus UpdateOutputDesc(const uint32_t index, const TensorDesc &desc) {
    return SetDesc(jumar::CallId::kOpSetOutputDesc, "", index, desc);
  }
  TensorDesc GetDynamicInputDesc(const char_t *name, uint32_t index) const {
    return Desc(jumar::CallId::kOpInputDesc, Numbered(name, index).GetString(), 0);
  }
  graphStatus UpdateDynamicInputDesc(const char_t *name, uint32_t index, const TensorDesc &desc) {
    return UpdateInputDesc(Numbered(name, index).GetString(), desc);
  }
  TensorDesc GetDynamicOutputDesc(const char_t *name, uint32_t index) const {
    return Desc(jumar::CallId::kOpOutputDesc, Numbered(name, index).GetString(), 0);
  }
  graphStatus UpdateDynamicOutputDesc(const char_t *name, uint32_t index, const TensorDesc &desc) {
    return UpdateOutputDesc(Numbered(name, index).GetString(), desc);
  }
  int32_t GetDynamicInputNum(const char_t *name) const { return Group(name, 0); }
  int32_t GetDynamicOutputNum(const char_t *name) const { return Group(name, 1); }
  size_t GetInputsSize() const { return Sizes().first; }
  size_t GetOutputsSize() const { return Sizes().second; }
  /* Finds the descriptions of the outputs from those of the inputs, and from constants that are linked. */
  graphStatus InferShapeAndType() {
    return jumar::Call(jumar::CallId::kOpInfer, jumar::Message().U64(JumarId())) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }

  Operator &SetAttr(const char_t *name, int64_t value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, int32_t value) { return Attr(name, static_cast<int64_t>(value)); }
  Operator &SetAttr(const char_t *name, uint32_t value) { return Attr(name, static_cast<int64_t>(value)); }
  Operator &SetAttr(const char_t *name, const std::vector<int64_t> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<int32_t> &value) {
    return Attr(name, std::vector<int64_t>(value.begin(), value.end()));
  }
  Operator &SetAttr(const char_t *name, const std::vector<uint32_t> &value) {
    return Attr(name, std::vector<int64_t>(value.begin(), value.end()));
  }
  Operator &SetAttr(const char_t *name, std::initializer_list<int64_t> &&value) {
    return Attr(name, std::vector<int64_t>(value));
  }
  Operator &SetAttr(const char_t *name, float32_t value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<float32_t> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const char_t *value) { return Attr(name, AscendString(value)); }
  Operator &SetAttr(const char_t *name, const AscendString &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::string &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<AscendString> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<std::string> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, bool value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<bool> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const Tensor &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<Tensor> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const OpBytes &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<std::vector<int64_t>> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<ge::DataType> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const ge::DataType &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const ge::NamedAttrs &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const std::vector<ge::NamedAttrs> &value) { return Attr(name, value); }
  Operator &SetAttr(const char_t *name, const AttrValue &value) {
    (void)jumar::Call(jumar::CallId::kOpSetAttr,
                      jumar::Message().U64(JumarId()).Text(name).Append(value.JumarBytes()));
    return *this;
  }
  template <typename T>
  Operator &SetAttr(const std::string &name, const T &value) {
    return SetAttr(name.c_str(), value);
  }
  template <typename T>
  graphStatus GetAttr(const char_t *name, T &value) const {
    jumar::Reply reply;
    const graphStatus status = Ask(jumar::CallId::kOpGetAttr, jumar::Message().U64(JumarId()).Text(name), reply);
    if (status != GRAPH_SUCCESS) {
      return status;
    }
    return jumar::Get(reply, value) ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  graphStatus GetAttr(const char_t *name, AttrValue &value) const {
    jumar::Reply reply;
    const graphStatus status = Ask(jumar::CallId::kOpGetAttr, jumar::Message().U64(JumarId()).Text(name), reply);
    value.JumarTake(reply.All());
    return status;
  }
  template <typename T>
  graphStatus GetAttr(const std::string &name, T &value) const {
    return GetAttr(name.c_str(), value);
  }

  void DynamicInputRegister(const char_t *name, const uint32_t count, bool push_back = true) {
    Groups(jumar::CallId::kOpInputs, name, count, push_back ? -1 : 0);
  }
  void DynamicInputRegister(const char_t *name, const uint32_t count, const char_t *, bool push_back = true) {
    DynamicInputRegister(name, count, push_back);
  }
  void DynamicInputRegisterByIndex(const char_t *name, const uint32_t count, size_t index) {
    Groups(jumar::CallId::kOpInputs, name, count, static_cast<int64_t>(index));
  }
  void DynamicOutputRegister(const char_t *name, const uint32_t count, bool push_back = true) {
    Groups(jumar::CallId::kOpOutputs, name, count, push_back ? -1 : 0);
  }
  void DynamicOutputRegister(const char_t *name, const uint32_t count, const char_t *, bool push_back = true) {
    DynamicOutputRegister(name, count, push_back);
  }
  void SubgraphRegister(const char_t *, bool) {}
  void SubgraphCountRegister(const char_t *, uint32_t) {}
  /* The builder is called at once; graph.h has these, as they need the class Graph. */
  inline void SetSubgraphBuilder(const char_t *name, uint32_t index, const SubgraphBuilder &builder);
  inline SubgraphBuilder GetSubgraphBuilder(const char_t *name) const;
  inline SubgraphBuilder GetDynamicSubgraphBuilder(const char_t *name, uint32_t index) const;
  inline Graph GetSubgraph(const char_t *name) const;
  inline Graph GetDynamicSubgraph(const char_t *name, uint32_t index) const;

  uint64_t JumarId() const { return handle_ == nullptr ? 0 : handle_->id(); }
  static Operator JumarOf(uint64_t id) {
    Operator op;
    op.handle_ = std::make_shared<jumar::Handle>(jumar::CallId::kOpRelease, id);
    return op;
  }

 protected:
  template <typename T>
  void AttrRegister(const char_t *name, const T &value) {
    (void)SetAttr(name, value);
  }
  void AttrRegister(const char_t *name, const char_t *value) { (void)SetAttr(name, value); }
  void AttrRegister(const std::string &name, const AscendString &value) { (void)SetAttr(name.c_str(), value); }
  void AttrRegister(const std::string &name, const std::vector<AscendString> &value) {
    (void)SetAttr(name.c_str(), value);
  }
  void RequiredAttrRegister(const char_t *) {}
  void RequiredAttrWithTypeRegister(const char_t *, const char_t *) {}
  void InputRegister(const char_t *name) { (void)jumar::Call(jumar::CallId::kOpInput, jumar::Message().U64(JumarId()).Text(name)); }
  void InputRegister(const char_t *name, const char_t *) { InputRegister(name); }
  void OptionalInputRegister(const char_t *name) { InputRegister(name); }
  void OptionalInputRegister(const char_t *name, const char_t *) { InputRegister(name); }
  void OutputRegister(const char_t *name) {
    (void)jumar::Call(jumar::CallId::kOpOutput, jumar::Message().U64(JumarId()).Text(name));
  }
  void OutputRegister(const char_t *name, const char_t *) { OutputRegister(name); }
  void DataTypeRegister(const char_t *, const TensorType &) {}
  void DataTypeRegister(const char_t *, const ListTensorType &) {}
  void DataTypeRegister(const char_t *, const Promote &) {}

  /* What the members of operators' classes call. None has another of its name. */
  void JumarLink(const char_t *input, const Operator &source) { (void)Link(input, 0, source, 0, "", 0); }
  void JumarLinkName(const char_t *input, const Operator &source, const char_t *output) {
    (void)Link(input, 0, source, 1, output, 0);
  }
  void JumarLinkPort(const char_t *input, const Operator &source, const jumar::Port &port) {
    (void)Link(input, 0, source, port.way, port.name, port.number);
  }
  void JumarLinkAt(const char_t *input, uint32_t index, const Operator &source, const jumar::Port &port) {
    (void)Link(Numbered(input, index).GetString(), 0, source, port.way, port.name, port.number);
  }
  TensorDesc JumarInputDesc(const char_t *name) const { return Desc(jumar::CallId::kOpInputDesc, name, 0); }
  TensorDesc JumarOutputDesc(const char_t *name) const { return Desc(jumar::CallId::kOpOutputDesc, name, 0); }
  graphStatus JumarDescribeInput(const char_t *name, const TensorDesc &desc) {
    return SetDesc(jumar::CallId::kOpSetInputDesc, name, 0, desc);
  }
  graphStatus JumarDescribeOutput(const char_t *name, const TensorDesc &desc) {
    return SetDesc(jumar::CallId::kOpSetOutputDesc, name, 0, desc);
  }
  void JumarInputs(const char_t *name, uint32_t count, bool push_back) {
    Groups(jumar::CallId::kOpInputs, name, count, push_back ? -1 : 0);
  }
  void JumarOutputs(const char_t *name, uint32_t count, bool push_back) {
    Groups(jumar::CallId::kOpOutputs, name, count, push_back ? -1 : 0);
  }
  void JumarSetText(const char_t *name, const char_t *value) { (void)Attr(name, AscendString(value)); }
  graphStatus JumarGetText(const char_t *name, AscendString &value) const { return GetAttr(name, value); }
  graphStatus JumarGetTexts(const char_t *name, std::vector<AscendString> &value) const { return GetAttr(name, value); }
#define JUMAR_KIND_(T)                                                                       \
  Op##T JumarGet##T(const char_t *name) const {                                              \
    Op##T value = Op##T();                                                                   \
    (void)GetAttr(name, value);                                                              \
    return value;                                                                            \
  }                                                                                          \
  void JumarSet##T(const char_t *name, const Op##T &value) { (void)Attr(name, value); }
  JUMAR_KIND_(Int)
  JUMAR_KIND_(Float)
  JUMAR_KIND_(Bool)
  JUMAR_KIND_(String)
  JUMAR_KIND_(AscendString)
  JUMAR_KIND_(Tensor)
  JUMAR_KIND_(Type)
  JUMAR_KIND_(Bytes)
  JUMAR_KIND_(NamedAttrs)
  JUMAR_KIND_(ListInt)
  JUMAR_KIND_(ListFloat)
  JUMAR_KIND_(ListBool)
  JUMAR_KIND_(ListString)
  JUMAR_KIND_(ListAscendString)
  JUMAR_KIND_(ListTensor)
  JUMAR_KIND_(ListListInt)
  JUMAR_KIND_(ListType)
  JUMAR_KIND_(ListNamedAttrs)
#undef JUMAR_KIND_

 private:
  void Make(const char_t *name, const char_t *type) {
    const uint64_t id = jumar::Number(jumar::CallId::kOpNew, jumar::Message().Text(name).Text(type));
    handle_ = std::make_shared<jumar::Handle>(jumar::CallId::kOpRelease, id);
  }
  static AscendString Numbered(const char_t *name, uint32_t index) {
    const std::string text = std::string(name == nullptr ? "" : name) + std::to_string(index);
    return AscendString(text.c_str());
  }
  static graphStatus Ask(jumar::CallId call, const jumar::Message &message, jumar::Reply &reply) {
    return jumar::Call(call, message, reply) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  Operator &Link(const char_t *input, uint32_t number, const Operator &source, uint64_t way, const char_t *output,
                 uint64_t index) {
    jumar::Message message;
    message.U64(JumarId()).Text(input).U64(number).U64(source.JumarId()).U64(way).Text(output).U64(index);
    (void)jumar::Call(jumar::CallId::kOpLink, message);
    return *this;
  }
  template <typename T>
  Operator &Attr(const char_t *name, const T &value) {
    jumar::Message message;
    message.U64(JumarId()).Text(name);
    jumar::Put(message, value);
    (void)jumar::Call(jumar::CallId::kOpSetAttr, message);
    return *this;
  }
  TensorDesc Desc(jumar::CallId call, const char_t *name, uint32_t index) const {
    jumar::Reply reply;
    if (Ask(call, jumar::Message().U64(JumarId()).Text(name).U64(index), reply) != GRAPH_SUCCESS) {
      return TensorDesc();
    }
    return TensorDesc::JumarRead(reply);
  }
  graphStatus SetDesc(jumar::CallId call, const char_t *name, uint32_t index, const TensorDesc &desc) {
    jumar::Message message;
    message.U64(JumarId()).Text(name).U64(index);
    desc.JumarWrite(message);
    return jumar::Call(call, message) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  void Groups(jumar::CallId call, const char_t *name, uint32_t count, int64_t at) {
    (void)jumar::Call(call, jumar::Message().U64(JumarId()).Text(name).U64(count).Int(at));
  }
  int32_t Group(const char_t *name, uint64_t outputs) const {
    return static_cast<int32_t>(jumar::Number(jumar::CallId::kOpGroup, jumar::Message().U64(JumarId()).Text(name).U64(outputs)));
  }
  std::pair<size_t, size_t> Sizes() const {
    jumar::Reply reply;
    (void)Ask(jumar::CallId::kOpInfo, jumar::Message().U64(JumarId()), reply);
    (void)reply.Text();
    (void)reply.Text();
    std::pair<size_t, size_t> sizes;
    sizes.first = static_cast<size_t>(reply.U64());
    for (size_t left = sizes.first; left > 0; --left) {
      (void)reply.Text();
    }
    sizes.second = static_cast<size_t>(reply.U64());
    return sizes;
  }

  jumar::HandlePtr handle_;
  friend class OperatorFactory;
};

}  // namespace ge

#endif
