/* The macros by which an operator's class is declared: REG_OP(Name).INPUT(..).ATTR(..).OUTPUT(..).OP_END_FACTORY_REG(Name).
 *
 * What stands behind the name of an input or output is never evaluated: real headers have types there that do not exist.
 * Each macro ends one member function and opens the next, so that the chain of dots is a chain of calls. */
#ifndef INC_EXTERNAL_GRAPH_OPERATOR_REG_H_
#define INC_EXTERNAL_GRAPH_OPERATOR_REG_H_

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
  OpReg &ATTR() { return *this; }
  OpReg &REQUIRED_ATTR() { return *this; }
  OpReg &INPUT() { return *this; }
  OpReg &OPTIONAL_INPUT() { return *this; }
  OpReg &OUTPUT() { return *this; }
  OpReg &GRAPH() { return *this; }
  OpReg &DYNAMIC_GRAPH() { return *this; }
  OpReg &INFER_SHAPE_AND_TYPE() { return *this; }
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

/* What a class has for each input, output, attribute and graph inside. The members are many in a program that includes
 * every operator, so each is one call of a function that has no other of its name: that is what compiles quickly. */
#define JUMAR_INPUT_MEMBERS_(x)                                                                        \
  static const std::string name_in_##x() { return ge::jumar::Owned(#x); }                              \
  _THIS_TYPE &set_input_##x(ge::Operator &v) { return JumarLink(#x, v), *this; }                       \
  _THIS_TYPE &set_input_##x(ge::Operator &v, const ge::jumar::Port &out) {                             \
    return JumarLinkPort(#x, v, out), *this;                                                           \
  }                                                                                                    \
  _THIS_TYPE &set_input_##x##_by_name(ge::Operator &v, const char *out) {                              \
    return JumarLinkName(#x, v, out), *this;                                                           \
  }                                                                                                    \
  ge::TensorDesc get_input_desc_##x() const { return JumarInputDesc(#x); }                             \
  ge::graphStatus update_input_desc_##x(const ge::TensorDesc &desc) { return JumarDescribeInput(#x, desc); }

#define JUMAR_OUTPUT_MEMBERS_(x)                                           \
  static const std::string name_out_##x() { return ge::jumar::Owned(#x); } \
  ge::TensorDesc get_output_desc_##x() const { return JumarOutputDesc(#x); } \
  ge::graphStatus update_output_desc_##x(const ge::TensorDesc &desc) { return JumarDescribeOutput(#x, desc); }

#define JUMAR_INPUTS_MEMBERS_(x)                                                               \
  _THIS_TYPE &create_dynamic_input_##x(uint32_t num, bool push_back = true) {                  \
    return JumarInputs(#x, num, push_back), *this;                                             \
  }                                                                                            \
  _THIS_TYPE &create_dynamic_input_byindex_##x(uint32_t num, size_t index) {                   \
    return ge::Operator::DynamicInputRegisterByIndex(#x, num, index), *this;                   \
  }                                                                                            \
  ge::TensorDesc get_dynamic_input_desc_##x(uint32_t index) const {                            \
    return ge::Operator::GetDynamicInputDesc(#x, index);                                       \
  }                                                                                            \
  ge::graphStatus update_dynamic_input_desc_##x(uint32_t index, const ge::TensorDesc &desc) {  \
    return ge::Operator::UpdateDynamicInputDesc(#x, index, desc);                              \
  }                                                                                            \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t index, ge::Operator &v) {                         \
    return JumarLinkAt(#x, index, v, ge::jumar::Port()), *this;                                \
  }                                                                                            \
  _THIS_TYPE &set_dynamic_input_##x(uint32_t index, ge::Operator &v, const ge::jumar::Port &out) { \
    return JumarLinkAt(#x, index, v, out), *this;                                              \
  }

#define JUMAR_OUTPUTS_MEMBERS_(x)                                                               \
  _THIS_TYPE &create_dynamic_output_##x(uint32_t num, bool push_back = true) {                  \
    return JumarOutputs(#x, num, push_back), *this;                                             \
  }                                                                                             \
  ge::TensorDesc get_dynamic_output_desc_##x(uint32_t index) const {                            \
    return ge::Operator::GetDynamicOutputDesc(#x, index);                                       \
  }                                                                                             \
  ge::graphStatus update_dynamic_output_desc_##x(uint32_t index, const ge::TensorDesc &desc) {  \
    return ge::Operator::UpdateDynamicOutputDesc(#x, index, desc);                              \
  }

#define JUMAR_ATTR_MEMBERS_(x, T)                                                            \
  static const std::string name_attr_##x() { return ge::jumar::Owned(#x); }                  \
  Op##T get_attr_##x() const { return JumarGet##T(#x); }                                     \
  _THIS_TYPE &set_attr_##x(const Op##T &value) { return JumarSet##T(#x, value), *this; }     \
  _THIS_TYPE &set_attr_##x(const std::function<Op##T()> &) { return *this; }                 \
  JUMAR_MORE_##T(x)

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
#define JUMAR_MORE_String(x)                                                                                      \
  _THIS_TYPE &set_attr_##x(const char *value) { return JumarSetText(#x, value), *this; }                          \
  _THIS_TYPE &set_attr_##x(const ge::AscendString &value) { return JumarSetAscendString(#x, value), *this; }      \
  ge::graphStatus get_attr_##x(ge::AscendString &value) const { return JumarGetText(#x, value); }
#define JUMAR_MORE_ListString(x)                                           \
  _THIS_TYPE &set_attr_##x(const std::vector<ge::AscendString> &value) {   \
    return JumarSetListAscendString(#x, value), *this;                     \
  }                                                                        \
  ge::graphStatus get_attr_##x(std::vector<ge::AscendString> &value) const { return JumarGetTexts(#x, value); }

#define JUMAR_GRAPH_MEMBERS_(x)                                                                       \
  static const std::string name_graph_##x() { return ge::jumar::Owned(#x); }                          \
  ge::SubgraphBuilder get_subgraph_builder_##x() const { return GetSubgraphBuilder(#x); }             \
  _THIS_TYPE &set_subgraph_builder_##x(const ge::SubgraphBuilder &builder) {                          \
    return SetSubgraphBuilder(#x, 0, builder), *this;                                                 \
  }                                                                                                   \
  ge::Graph get_subgraph_##x() const { return GetSubgraph(#x); }

#define JUMAR_GRAPHS_MEMBERS_(x)                                                                       \
  static const std::string name_graph_##x() { return ge::jumar::Owned(#x); }                           \
  _THIS_TYPE &create_dynamic_subgraph_##x(uint32_t num) {                                              \
    return ge::Operator::SubgraphCountRegister(#x, num), *this;                                        \
  }                                                                                                    \
  ge::SubgraphBuilder get_dynamic_subgraph_builder_##x(uint32_t index) const {                         \
    return GetDynamicSubgraphBuilder(#x, index);                                                       \
  }                                                                                                    \
  ge::Graph get_dynamic_subgraph_##x(uint32_t index) const { return GetDynamicSubgraph(#x, index); }   \
  _THIS_TYPE &set_dynamic_subgraph_builder_##x(uint32_t index, const ge::SubgraphBuilder &builder) {   \
    return SetSubgraphBuilder(#x, index, builder), *this;                                              \
  }

/* Classes of operators that the library knows: it adds their inputs, outputs and defaults itself. The generated
 * headers are made of these; programs write REG_OP. */
#define JUMAR_OP(T)                                                                \
  namespace op {                                                                   \
  class T : public ge::Operator {                                                  \
    typedef T _THIS_TYPE;                                                          \
                                                                                   \
   public:                                                                         \
    explicit T(const ge::jumar::Name &name) : ge::Operator(name, #T) {}            \
    T() : ge::Operator(ge::jumar::Name(), #T) {}
#define JUMAR_IN(x) JUMAR_INPUT_MEMBERS_(x)
#define JUMAR_INS(x) JUMAR_INPUTS_MEMBERS_(x)
#define JUMAR_OUT(x) JUMAR_OUTPUT_MEMBERS_(x)
#define JUMAR_OUTS(x) JUMAR_OUTPUTS_MEMBERS_(x)
#define JUMAR_ATTR(x, T) JUMAR_ATTR_MEMBERS_(x, T)
#define JUMAR_GRAPH(x) JUMAR_GRAPH_MEMBERS_(x)
#define JUMAR_GRAPHS(x) JUMAR_GRAPHS_MEMBERS_(x)
#define JUMAR_OP_END \
  };                 \
  }

#define REG_OP(T)                                                                        \
  namespace op {                                                                         \
  class T : public ge::Operator {                                                        \
    typedef T _THIS_TYPE;                                                                \
                                                                                         \
   public:                                                                               \
    explicit T(const ge::jumar::Name &name) : ge::Operator(name.text(), #T) { __begin(); } \
    T() : ge::Operator("", #T) { __begin(); }                                            \
                                                                                         \
   private:                                                                              \
    void __begin() {                                                                     \
      ge::OpReg()

/* Operators of the program's own are created by the names of their types as well. */
#define OP_END_FACTORY_REG(T)                                              \
  N();                                                                     \
  }                                                                        \
  };                                                                       \
  static const ge::OperatorCreatorRegister jumar_creator_of_##T(           \
      #T, [](const ge::AscendString &name) -> ge::Operator { return T(name); }); \
  }  // namespace op

#define OP_END() \
  N();           \
  }              \
  };             \
  }  // namespace op

/* Ends one member function, and begins the one that the chain calls next. */
#define JUMAR_LINK_(f, members, own) \
  N();                               \
  f();                               \
  }                                  \
                                     \
 public:                             \
  members                            \
                                     \
 private:                            \
  void f() {                         \
    own;                             \
    ge::OpReg()

#define INPUT(x, t) JUMAR_LINK_(__input_##x, JUMAR_INPUT_MEMBERS_(x), ge::Operator::InputRegister(#x))
#define OPTIONAL_INPUT(x, t) JUMAR_LINK_(__input_##x, JUMAR_INPUT_MEMBERS_(x), ge::Operator::OptionalInputRegister(#x))
#define OUTPUT(x, t) JUMAR_LINK_(__output_##x, JUMAR_OUTPUT_MEMBERS_(x), ge::Operator::OutputRegister(#x))
#define DYNAMIC_INPUT(x, t) \
  JUMAR_LINK_(__dynamic_input_##x, JUMAR_INPUTS_MEMBERS_(x), ge::Operator::DynamicInputRegister(#x, 0))
#define DYNAMIC_OUTPUT(x, t) \
  JUMAR_LINK_(__dynamic_output_##x, JUMAR_OUTPUTS_MEMBERS_(x), ge::Operator::DynamicOutputRegister(#x, 0))
#define ATTR(x, T, ...) \
  JUMAR_LINK_(__attr_##x, JUMAR_ATTR_MEMBERS_(x, T), ge::Operator::AttrRegister(#x, Op##T(__VA_ARGS__)))
#define REQUIRED_ATTR(x, T) \
  JUMAR_LINK_(__attr_##x, JUMAR_ATTR_MEMBERS_(x, T), ge::Operator::RequiredAttrWithTypeRegister(#x, #T))
#define DATATYPE(x, t) JUMAR_LINK_(__datatype_##x, , ge::Operator::DataTypeRegister(#x, t))
#define GRAPH(x) JUMAR_LINK_(__graph_##x, JUMAR_GRAPH_MEMBERS_(x), ge::Operator::SubgraphRegister(#x, false))
#define DYNAMIC_GRAPH(x) JUMAR_LINK_(__graph_##x, JUMAR_GRAPHS_MEMBERS_(x), ge::Operator::SubgraphRegister(#x, true))

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
