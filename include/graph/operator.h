/* Operators: what programs link to graphs. */
#ifndef INC_EXTERNAL_GRAPH_OPERATOR_H_
#define INC_EXTERNAL_GRAPH_OPERATOR_H_

#include <functional>
#include <initializer_list>
#include <map>
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

class Handle;

/* Returns a string of the standard library. */
inline std::string Owned(const char *text) { return std::string(text); }

/* The name of an operator, in each form that programs pass. */
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

/* The output of an operator that an input is linked with: the only one, one by name or one by index. */
struct Port {
  Port() {}
  Port(const char *text) : way(1), name(text) {}
  Port(const std::string &text) : way(1), name(text.c_str()) {}
  template <typename N, typename = typename std::enable_if<std::is_integral<N>::value>::type>
  Port(N index) : way(2), number(static_cast<uint64_t>(index)) {}
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

  Operator();
  /* Creates an operator of a type that the library knows, with its inputs, outputs and defaults. */
  Operator(const jumar::Name &name, const char_t *type);
  explicit Operator(const char_t *type);
  explicit Operator(const std::string &type);
  Operator(const char_t *name, const char_t *type);
  Operator(const AscendString &name, const AscendString &type);
  Operator(const std::string &name, const std::string &type);
  virtual ~Operator() = default;

  bool IsEmpty() const;
  graphStatus GetName(AscendString &name) const;
  std::string GetName() const;
  graphStatus GetOpType(AscendString &type) const;
  std::string GetOpType() const;

  Operator &SetInput(const char_t *input, const Operator &source);
  Operator &SetInput(const char_t *input, const Operator &source, const char_t *output);
  Operator &SetInput(const char_t *input, const Operator &source, uint32_t output);
  Operator &SetInput(uint32_t input, const Operator &source, uint32_t output);
  Operator &SetInput(const char_t *input, uint32_t number, const Operator &source);
  Operator &SetInput(const char_t *input, uint32_t number, const Operator &source, const char_t *output);
  Operator &SetInput(const std::string &input, const Operator &source);
  Operator &SetInput(const std::string &input, const Operator &source, const std::string &output);
  Operator &SetInput(const std::string &input, const Operator &source, uint32_t output);
  Operator &SetInput(const std::string &input, uint32_t number, const Operator &source);
  Operator &SetInput(const std::string &input, uint32_t number, const Operator &source, const std::string &output);
  Operator &AddControlInput(const Operator &source);
  void BreakConnect() const;

  TensorDesc GetInputDesc(uint32_t index) const;
  TensorDesc GetInputDesc(const std::string &name) const;
  TensorDesc GetInputDescByName(const char_t *name) const;
  graphStatus TryGetInputDesc(const char_t *name, TensorDesc &desc) const;
  graphStatus TryGetInputDesc(const std::string &name, TensorDesc &desc) const;
  graphStatus UpdateInputDesc(const char_t *name, const TensorDesc &desc);
  graphStatus UpdateInputDesc(const std::string &name, const TensorDesc &desc);
  graphStatus UpdateInputDesc(const uint32_t index, const TensorDesc &desc);
  TensorDesc GetOutputDesc(uint32_t index) const;
  TensorDesc GetOutputDesc(const std::string &name) const;
  TensorDesc GetOutputDescByName(const char_t *name) const;
  graphStatus UpdateOutputDesc(const char_t *name, const TensorDesc &desc);
  graphStatus UpdateOutputDesc(const std::string &name, const TensorDesc &desc);
  graphStatus UpdateOutputDesc(const uint32_t index, const TensorDesc &desc);
  TensorDesc GetDynamicInputDesc(const char_t *name, uint32_t index) const;
  TensorDesc GetDynamicInputDesc(const std::string &name, uint32_t index) const;
  graphStatus UpdateDynamicInputDesc(const char_t *name, uint32_t index, const TensorDesc &desc);
  graphStatus UpdateDynamicInputDesc(const std::string &name, uint32_t index, const TensorDesc &desc);
  TensorDesc GetDynamicOutputDesc(const char_t *name, uint32_t index) const;
  TensorDesc GetDynamicOutputDesc(const std::string &name, uint32_t index) const;
  graphStatus UpdateDynamicOutputDesc(const char_t *name, uint32_t index, const TensorDesc &desc);
  graphStatus UpdateDynamicOutputDesc(const std::string &name, uint32_t index, const TensorDesc &desc);
  int32_t GetDynamicInputNum(const char_t *name) const;
  int32_t GetDynamicInputNum(const std::string &name) const;
  int32_t GetDynamicOutputNum(const char_t *name) const;
  int32_t GetDynamicOutputNum(const std::string &name) const;
  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;
  /* Infers the descriptions of the outputs from those of the inputs and from linked constants. */
  graphStatus InferShapeAndType();

  /* Lists the attributes of the operator's type, with the names of their types. */
  graphStatus GetAllIrAttrNamesAndTypes(std::map<AscendString, AscendString> &attr_name_types) const;

#define JUMAR_BY_VALUE_(T)                              \
  Operator &SetAttr(const char_t *name, T value);       \
  Operator &SetAttr(const std::string &name, T value);  \
  graphStatus GetAttr(const char_t *name, T &value) const; \
  graphStatus GetAttr(const std::string &name, T &value) const;
#define JUMAR_BY_REFERENCE_(T)                                  \
  Operator &SetAttr(const char_t *name, const T &value);        \
  Operator &SetAttr(const std::string &name, const T &value);   \
  graphStatus GetAttr(const char_t *name, T &value) const;      \
  graphStatus GetAttr(const std::string &name, T &value) const;
  JUMAR_NUMBERS_(JUMAR_BY_VALUE_)
  JUMAR_ATTRIBUTES_(JUMAR_BY_REFERENCE_)
  JUMAR_BY_REFERENCE_(std::string)
  JUMAR_BY_REFERENCE_(std::vector<std::string>)
  JUMAR_BY_REFERENCE_(AttrValue)
#undef JUMAR_BY_VALUE_
#undef JUMAR_BY_REFERENCE_
  Operator &SetAttr(const char_t *name, const char_t *value);
  Operator &SetAttr(const char_t *name, std::initializer_list<int64_t> &&value);
  Operator &SetAttr(const std::string &name, std::initializer_list<int64_t> &&value);
  Operator &SetAttr(const char_t *name, AttrValue &&value);
  Operator &SetAttr(const std::string &name, AttrValue &&value);

  void DynamicInputRegister(const char_t *name, const uint32_t count, bool push_back = true);
  void DynamicInputRegister(const char_t *name, const uint32_t count, const char_t *type, bool push_back = true);
  void DynamicInputRegister(const std::string &name, const uint32_t count, bool push_back = true);
  void DynamicInputRegisterByIndex(const char_t *name, const uint32_t count, size_t index);
  void DynamicInputRegisterByIndex(const std::string &name, const uint32_t count, size_t index);
  void DynamicOutputRegister(const char_t *name, const uint32_t count, bool push_back = true);
  void DynamicOutputRegister(const char_t *name, const uint32_t count, const char_t *type, bool push_back = true);
  void DynamicOutputRegister(const std::string &name, const uint32_t count, bool push_back = true);
  void SubgraphRegister(const char_t *name, bool dynamic);
  void SubgraphRegister(const std::string &name, bool dynamic);
  void SubgraphCountRegister(const char_t *name, uint32_t count);
  void SubgraphCountRegister(const std::string &name, uint32_t count);
  /* Calls the builder at once. */
  void SetSubgraphBuilder(const char_t *name, uint32_t index, const SubgraphBuilder &builder);
  void SetSubgraphBuilder(const std::string &name, uint32_t index, const SubgraphBuilder &builder);
  SubgraphBuilder GetSubgraphBuilder(const char_t *name) const;
  SubgraphBuilder GetSubgraphBuilder(const std::string &name) const;
  SubgraphBuilder GetDynamicSubgraphBuilder(const char_t *name, uint32_t index) const;
  SubgraphBuilder GetDynamicSubgraphBuilder(const std::string &name, uint32_t index) const;
  Graph GetSubgraph(const char_t *name) const;
  Graph GetSubgraph(const std::string &name) const;
  Graph GetDynamicSubgraph(const char_t *name, uint32_t index) const;
  Graph GetDynamicSubgraph(const std::string &name, uint32_t index) const;

 protected:
#define JUMAR_BY_VALUE_(T)                           \
  void AttrRegister(const char_t *name, T value);    \
  void AttrRegister(const std::string &name, T value);
#define JUMAR_BY_REFERENCE_(T)                              \
  void AttrRegister(const char_t *name, const T &value);    \
  void AttrRegister(const std::string &name, const T &value);
  JUMAR_NUMBERS_(JUMAR_BY_VALUE_)
  JUMAR_ATTRIBUTES_(JUMAR_BY_REFERENCE_)
  JUMAR_BY_REFERENCE_(std::string)
  JUMAR_BY_REFERENCE_(std::vector<std::string>)
  JUMAR_BY_REFERENCE_(AttrValue)
#undef JUMAR_BY_VALUE_
#undef JUMAR_BY_REFERENCE_
  void AttrRegister(const char_t *name, const char_t *value);
  void RequiredAttrRegister(const char_t *name);
  void RequiredAttrRegister(const std::string &name);
  void RequiredAttrWithTypeRegister(const char_t *name, const char_t *type);
  void InputRegister(const char_t *name);
  void InputRegister(const char_t *name, const char_t *type);
  void InputRegister(const std::string &name);
  void OptionalInputRegister(const char_t *name);
  void OptionalInputRegister(const char_t *name, const char_t *type);
  void OptionalInputRegister(const std::string &name);
  void OutputRegister(const char_t *name);
  void OutputRegister(const char_t *name, const char_t *type);
  void OutputRegister(const std::string &name);
  void DataTypeRegister(const char_t *name, const TensorType &types);
  void DataTypeRegister(const char_t *name, const ListTensorType &types);
  void DataTypeRegister(const char_t *name, const Promote &rule);
  /* Sets the function that infers the descriptions of the outputs, for all operators of this one's type. */
  void InferFuncRegister(const std::function<graphStatus(Operator &)> &function);

  /* The members of the operators' classes call these. None is overloaded, which keeps compiling all classes quick. */
  void JumarLink(const char_t *input, const Operator &source);
  void JumarLinkName(const char_t *input, const Operator &source, const char_t *output);
  void JumarLinkPort(const char_t *input, const Operator &source, const jumar::Port &port);
  void JumarLinkAt(const char_t *input, uint32_t index, const Operator &source, const jumar::Port &port);
  TensorDesc JumarInputDesc(const char_t *name) const;
  TensorDesc JumarOutputDesc(const char_t *name) const;
  graphStatus JumarDescribeInput(const char_t *name, const TensorDesc &desc);
  graphStatus JumarDescribeOutput(const char_t *name, const TensorDesc &desc);
  void JumarInputs(const char_t *name, uint32_t count, bool push_back);
  void JumarOutputs(const char_t *name, uint32_t count, bool push_back);
  void JumarSetText(const char_t *name, const char_t *value);
  graphStatus JumarGetText(const char_t *name, AscendString &value) const;
  graphStatus JumarGetTexts(const char_t *name, std::vector<AscendString> &value) const;
#define JUMAR_KIND_(T)                          \
  Op##T JumarGet##T(const char_t *name) const;  \
  void JumarSet##T(const char_t *name, const Op##T &value);
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
  friend struct jumar::Access;
  std::shared_ptr<jumar::Handle> handle_;
};

}  // namespace ge

#endif
