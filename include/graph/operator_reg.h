/* The macros by which an operator's class is declared: REG_OP(Name).INPUT(..).ATTR(..).OUTPUT(..).OP_END_FACTORY_REG(Name).
 *
 * What stands behind the name of an input or output is never evaluated: real headers have types there that do not exist.
 * Each macro ends one member function and opens the next, so that the chain of dots is a chain of calls. */
#ifndef JUMAR_GRAPH_OPERATOR_REG_H_
#define JUMAR_GRAPH_OPERATOR_REG_H_

#include <functional>
#include <string>
#include <vector>

#include "graph.h"
#include "operator.h"
#include "operator_factory.h"

namespace ge {

/* What the dots hang on. */
class OpReg {
 public:
  OpReg &N() { return *this; }
};

}  // namespace ge

inline ge::AscendString ConvertToAscendString(const char *text) { return ge::AscendString(text); }
inline ge::AscendString ConvertToAscendString(std::string text) { return ge::AscendString(text.c_str()); }
inline ge::AscendString ConvertToAscendString(ge::AscendString text) { return text; }
inline std::vector<ge::AscendString> ConvertToListAscendString(std::vector<std::string> list) {
  std::vector<ge::AscendString> result;
  for (const std::string &one : list) {
    result.push_back(ge::AscendString(one.c_str()));
  }
  return result;
}
inline std::vector<ge::AscendString> ConvertToListAscendString(std::vector<ge::AscendString> list) { return list; }

#define REG_OP(T)                                                          \
  namespace op {                                                           \
  class T : public ge::Operator {                                          \
    typedef T _THIS_TYPE;                                                  \
                                                                           \
   public:                                                                 \
    explicit T(const char *name) : ge::Operator(name, #T) { __begin(); }   \
    explicit T(const ge::AscendString &name) : T(name.GetString()) {}      \
    explicit T(const std::string &name) : T(name.c_str()) {}               \
    T() : ge::Operator("", #T) { __begin(); }                              \
                                                                           \
   private:                                                                \
    void __begin() {                                                       \
      ge::OpReg()

#define OP_END_FACTORY_REG(T) \
  N();                        \
  }                           \
  };                          \
  }  // namespace op

#define OP_END() \
  N();           \
  }              \
  };             \
  }  // namespace op

#define INPUT(x, t)                                                                            \
  N();                                                                                         \
  __input_##x();                                                                               \
  }                                                                                            \
                                                                                               \
 public:                                                                                       \
  static const std::string name_in_##x() { return #x; }                                        \
  _THIS_TYPE &set_input_##x(ge::Operator &v) {                                                 \
    (void)ge::Operator::SetInput(#x, v);                                                       \
    return *this;                                                                              \
  }                                                                                            \
  _THIS_TYPE &set_input_##x(ge::Operator &v, const std::string &out) {                         \
    (void)ge::Operator::SetInput(#x, v, out.c_str());                                          \
    return *this;                                                                              \
  }                                                                                            \
  _THIS_TYPE &set_input_##x(ge::Operator &v, const char *out) {                                \
    (void)ge::Operator::SetInput(#x, v, out);                                                  \
    return *this;                                                                              \
  }                                                                                            \
  _THIS_TYPE &set_input_##x##_by_name(ge::Operator &v, const char *out) {                      \
    (void)ge::Operator::SetInput(#x, v, out);                                                  \
    return *this;                                                                              \
  }                                                                                            \
  _THIS_TYPE &set_input_##x(ge::Operator &v, uint32_t out) {                                   \
    (void)ge::Operator::SetInput(#x, v, out);                                                  \
    return *this;                                                                              \
  }                                                                                            \
  ge::TensorDesc get_input_desc_##x() const { return ge::Operator::GetInputDescByName(#x); }   \
  ge::graphStatus update_input_desc_##x(const ge::TensorDesc &desc) {                          \
    return ge::Operator::UpdateInputDesc(#x, desc);                                            \
  }                                                                                            \
                                                                                               \
 private:                                                                                      \
  void __input_##x() {                                                                         \
    ge::Operator::InputRegister(#x);                                                           \
    ge::OpReg()

#define OPTIONAL_INPUT(x, t) INPUT(x, t)

#define OUTPUT(x, t)                                                                            \
  N();                                                                                          \
  __output_##x();                                                                               \
  }                                                                                             \
                                                                                                \
 public:                                                                                        \
  static const std::string name_out_##x() { return #x; }                                        \
  ge::TensorDesc get_output_desc_##x() const { return ge::Operator::GetOutputDescByName(#x); }  \
  ge::graphStatus update_output_desc_##x(const ge::TensorDesc &desc) {                          \
    return ge::Operator::UpdateOutputDesc(#x, desc);                                            \
  }                                                                                             \
                                                                                                \
 private:                                                                                       \
  void __output_##x() {                                                                         \
    ge::Operator::OutputRegister(#x);                                                           \
    ge::OpReg()

#define DYNAMIC_INPUT(x, t)                                                                             \
  N();                                                                                                  \
  __dynamic_input_##x();                                                                                \
  }                                                                                                     \
                                                                                                        \
 public:                                                                                                \
  _THIS_TYPE &create_dynamic_input_##x(uint32_t num, bool push_back = true) {                           \
    ge::Operator::DynamicInputRegister(#x, num, push_back);                                             \
    return *this;                                                                                       \
  }                                                                                                     \
  _THIS_TYPE &create_dynamic_input_byindex_##x(uint32_t num, size_t index) {                            \
    ge::Operator::DynamicInputRegisterByIndex(#x, num, index);                                          \
    return *this;                                                                                       \
  }                                                                                                     \
  ge::TensorDesc get_dynamic_input_desc_##x(uint32_t index) const {                                     \
    return ge::Operator::GetDynamicInputDesc(#x, index);                                                \
  }                                                                                                     \
  ge::graphStatus update_dynamic_input_desc_##x(uint32_t index, const ge::TensorDesc &desc) {           \
    return ge::Operator::UpdateDynamicInputDesc(#x, index, desc);                                       \
  }                                                                                                     \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t index, ge::Operator &v) {                                  \
    (void)ge::Operator::SetInput(#x, index, v);                                                         \
    return *this;                                                                                       \
  }                                                                                                     \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t index, ge::Operator &v, const std::string &out) {          \
    (void)ge::Operator::SetInput(#x, index, v, out.c_str());                                            \
    return *this;                                                                                       \
  }                                                                                                     \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t index, ge::Operator &v, const char *out) {                 \
    (void)ge::Operator::SetInput(#x, index, v, out);                                                    \
    return *this;                                                                                       \
  }                                                                                                     \
                                                                                                        \
 private:                                                                                               \
  void __dynamic_input_##x() {                                                                          \
    ge::OpReg()

#define DYNAMIC_OUTPUT(x, t)                                                                            \
  N();                                                                                                  \
  __dynamic_output_##x();                                                                               \
  }                                                                                                     \
                                                                                                        \
 public:                                                                                                \
  _THIS_TYPE &create_dynamic_output_##x(uint32_t num, bool push_back = true) {                          \
    ge::Operator::DynamicOutputRegister(#x, num, push_back);                                            \
    return *this;                                                                                       \
  }                                                                                                     \
  ge::TensorDesc get_dynamic_output_desc_##x(uint32_t index) const {                                    \
    return ge::Operator::GetDynamicOutputDesc(#x, index);                                               \
  }                                                                                                     \
  ge::graphStatus update_dynamic_output_desc_##x(uint32_t index, const ge::TensorDesc &desc) {          \
    return ge::Operator::UpdateDynamicOutputDesc(#x, index, desc);                                      \
  }                                                                                                     \
                                                                                                        \
 private:                                                                                               \
  void __dynamic_output_##x() {                                                                         \
    ge::OpReg()

#define JUMAR_ATTR_(x, T, begin)                                     \
  N();                                                               \
  __attr_##x();                                                      \
  }                                                                  \
                                                                     \
 public:                                                             \
  static const std::string name_attr_##x() { return #x; }            \
  Op##T get_attr_##x() const {                                       \
    Op##T value = Op##T();                                           \
    (void)ge::Operator::GetAttr(#x, value);                          \
    return value;                                                    \
  }                                                                  \
  _THIS_TYPE &set_attr_##x(const Op##T &value) {                     \
    (void)ge::Operator::SetAttr(#x, value);                          \
    return *this;                                                    \
  }                                                                  \
  _THIS_TYPE &set_attr_##x(const std::function<Op##T()> &) {         \
    return *this;                                                    \
  }                                                                  \
  JUMAR_MORE_##T(x)                                                  \
                                                                     \
 private:                                                            \
  void __attr_##x() {                                                \
    begin ge::OpReg()

/* Attributes of text have more setters. */
#define JUMAR_MORE_Int(x)
#define JUMAR_MORE_Float(x)
#define JUMAR_MORE_Bool(x)
#define JUMAR_MORE_Tensor(x)
#define JUMAR_MORE_Type(x)
#define JUMAR_MORE_NamedAttrs(x)
#define JUMAR_MORE_Bytes(x)
#define JUMAR_MORE_ListInt(x)
#define JUMAR_MORE_ListFloat(x)
#define JUMAR_MORE_ListBool(x)
#define JUMAR_MORE_ListTensor(x)
#define JUMAR_MORE_ListListInt(x)
#define JUMAR_MORE_ListType(x)
#define JUMAR_MORE_ListNamedAttrs(x)
#define JUMAR_MORE_AscendString(x)
#define JUMAR_MORE_ListAscendString(x)
#define JUMAR_MORE_String(x)                                   \
  _THIS_TYPE &set_attr_##x(const char *value) {                \
    (void)ge::Operator::SetAttr(#x, value);                    \
    return *this;                                              \
  }                                                            \
  _THIS_TYPE &set_attr_##x(const ge::AscendString &value) {    \
    (void)ge::Operator::SetAttr(#x, value);                    \
    return *this;                                              \
  }                                                            \
  ge::graphStatus get_attr_##x(ge::AscendString &value) const { return ge::Operator::GetAttr(#x, value); }
#define JUMAR_MORE_ListString(x)                                          \
  _THIS_TYPE &set_attr_##x(const std::vector<ge::AscendString> &value) {  \
    (void)ge::Operator::SetAttr(#x, value);                               \
    return *this;                                                         \
  }

#define ATTR(x, T, ...) JUMAR_ATTR_(x, T, ge::Operator::AttrRegister(#x, Op##T(__VA_ARGS__));)
#define REQUIRED_ATTR(x, T) JUMAR_ATTR_(x, T, )

#define DATATYPE(x, t)   \
  N();                   \
  __datatype_##x();      \
  }                      \
                         \
 private:                \
  void __datatype_##x() { \
    ge::Operator::DataTypeRegister(#x, t); \
    ge::OpReg()

#define GRAPH(x)                                                                       \
  N();                                                                                 \
  __graph_##x();                                                                       \
  }                                                                                    \
                                                                                       \
 public:                                                                               \
  static const std::string name_graph_##x() { return #x; }                             \
  ge::SubgraphBuilder get_subgraph_builder_##x() const { return GetSubgraphBuilder(#x); } \
  _THIS_TYPE &set_subgraph_builder_##x(const ge::SubgraphBuilder &builder) {           \
    SetSubgraphBuilder(#x, 0, builder);                                                \
    return *this;                                                                      \
  }                                                                                    \
  ge::Graph get_subgraph_##x() const { return GetSubgraph(#x); }                       \
                                                                                       \
 private:                                                                              \
  void __graph_##x() {                                                                 \
    ge::Operator::SubgraphRegister(#x, false);                                         \
    ge::OpReg()

#define DYNAMIC_GRAPH(x)                                                                             \
  N();                                                                                               \
  __graph_##x();                                                                                     \
  }                                                                                                  \
                                                                                                     \
 public:                                                                                             \
  static const std::string name_graph_##x() { return #x; }                                           \
  _THIS_TYPE &create_dynamic_subgraph_##x(uint32_t num) {                                            \
    ge::Operator::SubgraphCountRegister(#x, num);                                                    \
    return *this;                                                                                    \
  }                                                                                                  \
  ge::SubgraphBuilder get_dynamic_subgraph_builder_##x(uint32_t index) const {                       \
    return GetDynamicSubgraphBuilder(#x, index);                                                     \
  }                                                                                                  \
  ge::Graph get_dynamic_subgraph_##x(uint32_t index) const { return GetDynamicSubgraph(#x, index); } \
  _THIS_TYPE &set_dynamic_subgraph_builder_##x(uint32_t index, const ge::SubgraphBuilder &builder) { \
    SetSubgraphBuilder(#x, index, builder);                                                          \
    return *this;                                                                                    \
  }                                                                                                  \
                                                                                                     \
 private:                                                                                            \
  void __graph_##x() {                                                                               \
    ge::Operator::SubgraphRegister(#x, true);                                                        \
    ge::OpReg()

/* What authors of custom operators write beside a class: functions that nothing here calls. */
#define IMPLEMT_INFERFUNC(op_name, func_name) inline ge::graphStatus func_name(op::op_name &op)
#define IMPLEMT_COMMON_INFERFUNC(func_name) inline ge::graphStatus func_name(ge::Operator &op)
#define IMPLEMT_VERIFIER(op_name, func_name) inline ge::graphStatus func_name(op::op_name &op)
#define IMPLEMT_INFERFORMAT_FUNC(op_name, func_name) inline ge::graphStatus func_name(op::op_name &op)
#define INFER_FUNC_REG(op_name, func)
#define COMMON_INFER_FUNC_REG(op_name, func)
#define VERIFY_FUNC_REG(op_name, func)
#define INFER_FORMAT_FUNC_REG(op_name, func)

#endif
