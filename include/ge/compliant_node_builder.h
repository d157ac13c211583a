/* Builds a node from the definition of its type. The functions of es_<Operator>.h are made with it. */
#ifndef JUMAR_COMPLIANT_NODE_BUILDER_H_
#define JUMAR_COMPLIANT_NODE_BUILDER_H_

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../graph/graph.h"

namespace ge {
namespace es {

class CompliantNodeBuilder {
 public:
  enum IrInputType { kEsIrInputRequired = 0, kEsIrInputOptional = 1, kEsIrInputDynamic = 2, kEsIrInputTypeEnd = 3 };
  enum IrOutputType { kEsIrOutputRequired = 0, kEsIrOutputDynamic = 1, kEsIrOutputTypeEnd = 2 };
  enum IrAttrType { kEsAttrRequired = 0, kEsAttrOptional = 1 };

  struct IrInputDef {
    std::string name;
    IrInputType ir_input_type;
    std::string symbol_id;
  };
  struct IrOutputDef {
    std::string name;
    IrOutputType ir_output_type;
    std::string symbol_id;
  };
  struct IrAttrDef {
    std::string attr_name;
    IrAttrType ir_attr_type;
    std::string attr_data_type;
    AttrValue attr_default_value;
  };

  class IrInputDefV2 {
   public:
    IrInputDefV2() = default;
    IrInputDefV2(const char_t *name, IrInputType ir_input_type, const char_t *symbol_id)
        : name_(name), symbol_(symbol_id), type_(ir_input_type) {}
    IrInputDefV2 &Name(const char_t *name) { return name_ = AscendString(name), *this; }
    IrInputDefV2 &InputType(IrInputType ir_input_type) { return type_ = ir_input_type, *this; }
    IrInputDefV2 &SymbolId(const char_t *symbol_id) { return symbol_ = AscendString(symbol_id), *this; }
    const char_t *GetName() const { return name_.GetString(); }
    IrInputType GetInputType() const { return type_; }
    const char_t *GetSymbolId() const { return symbol_.GetString(); }

   private:
    AscendString name_;
    AscendString symbol_;
    IrInputType type_ = kEsIrInputRequired;
  };
  class IrOutputDefV2 {
   public:
    IrOutputDefV2() = default;
    IrOutputDefV2(const char_t *name, IrOutputType ir_output_type, const char_t *symbol_id)
        : name_(name), symbol_(symbol_id), type_(ir_output_type) {}
    IrOutputDefV2 &Name(const char_t *name) { return name_ = AscendString(name), *this; }
    IrOutputDefV2 &OutputType(IrOutputType ir_output_type) { return type_ = ir_output_type, *this; }
    IrOutputDefV2 &SymbolId(const char_t *symbol_id) { return symbol_ = AscendString(symbol_id), *this; }
    const char_t *GetName() const { return name_.GetString(); }
    IrOutputType GetOutputType() const { return type_; }
    const char_t *GetSymbolId() const { return symbol_.GetString(); }

   private:
    AscendString name_;
    AscendString symbol_;
    IrOutputType type_ = kEsIrOutputRequired;
  };
  class IrAttrDefV2 {
   public:
    IrAttrDefV2() = default;
    IrAttrDefV2(const char_t *attr_name, IrAttrType ir_attr_type, const char_t *attr_data_type,
                const AttrValue &attr_default_value)
        : name_(attr_name), data_type_(attr_data_type), type_(ir_attr_type), default_(attr_default_value) {}
    IrAttrDefV2 &AttrName(const char_t *attr_name) { return name_ = AscendString(attr_name), *this; }
    IrAttrDefV2 &AttrType(IrAttrType ir_attr_type) { return type_ = ir_attr_type, *this; }
    IrAttrDefV2 &AttrDataType(const char_t *attr_data_type) { return data_type_ = AscendString(attr_data_type), *this; }
    IrAttrDefV2 &DefaultValue(const AttrValue &attr_default_value) { return default_ = attr_default_value, *this; }
    const char_t *GetAttrName() const { return name_.GetString(); }
    IrAttrType GetAttrType() const { return type_; }
    const char_t *GetAttrDataType() const { return data_type_.GetString(); }
    const AttrValue &GetDefaultValue() const { return default_; }

   private:
    AscendString name_;
    AscendString data_type_;
    IrAttrType type_ = kEsAttrOptional;
    AttrValue default_;
  };

  explicit CompliantNodeBuilder(ge::Graph *graph);
  ~CompliantNodeBuilder();
  CompliantNodeBuilder(CompliantNodeBuilder &&) noexcept;
  CompliantNodeBuilder &operator=(CompliantNodeBuilder &&) noexcept;
  CompliantNodeBuilder(const CompliantNodeBuilder &) = delete;
  CompliantNodeBuilder &operator=(const CompliantNodeBuilder &) = delete;

  CompliantNodeBuilder &OpType(const char_t *type);
  CompliantNodeBuilder &Name(const char_t *name);
  CompliantNodeBuilder &IrDefInputsV2(const IrInputDefV2 *input_ir_def, size_t input_ir_def_num);
  CompliantNodeBuilder &IrDefInputsV2(std::initializer_list<IrInputDefV2> input_ir_def) {
    return IrDefInputsV2(input_ir_def.begin(), input_ir_def.size());
  }
  CompliantNodeBuilder &IrDefInputsV2(const std::vector<IrInputDefV2> &input_ir_def) {
    return IrDefInputsV2(input_ir_def.data(), input_ir_def.size());
  }
  CompliantNodeBuilder &IrDefInputs(std::vector<IrInputDef> input_ir_def) {
    std::vector<IrInputDefV2> all;
    for (const IrInputDef &one : input_ir_def) {
      all.emplace_back(one.name.c_str(), one.ir_input_type, one.symbol_id.c_str());
    }
    return IrDefInputsV2(all);
  }
  CompliantNodeBuilder &IrDefOutputsV2(const IrOutputDefV2 *output_ir_def, size_t output_ir_def_num);
  CompliantNodeBuilder &IrDefOutputsV2(std::initializer_list<IrOutputDefV2> output_ir_def) {
    return IrDefOutputsV2(output_ir_def.begin(), output_ir_def.size());
  }
  CompliantNodeBuilder &IrDefOutputsV2(const std::vector<IrOutputDefV2> &output_ir_def) {
    return IrDefOutputsV2(output_ir_def.data(), output_ir_def.size());
  }
  CompliantNodeBuilder &IrDefOutputs(std::vector<IrOutputDef> output_ir_def) {
    std::vector<IrOutputDefV2> all;
    for (const IrOutputDef &one : output_ir_def) {
      all.emplace_back(one.name.c_str(), one.ir_output_type, one.symbol_id.c_str());
    }
    return IrDefOutputsV2(all);
  }
  CompliantNodeBuilder &IrDefAttrsV2(const IrAttrDefV2 *attr_ir_def, size_t attr_ir_def_num);
  CompliantNodeBuilder &IrDefAttrsV2(std::initializer_list<IrAttrDefV2> attr_ir_def) {
    return IrDefAttrsV2(attr_ir_def.begin(), attr_ir_def.size());
  }
  CompliantNodeBuilder &IrDefAttrsV2(const std::vector<IrAttrDefV2> &attr_ir_def) {
    return IrDefAttrsV2(attr_ir_def.data(), attr_ir_def.size());
  }
  CompliantNodeBuilder &IrDefAttrs(std::vector<IrAttrDef> attr_ir_def) {
    std::vector<IrAttrDefV2> all;
    for (const IrAttrDef &one : attr_ir_def) {
      all.emplace_back(one.attr_name.c_str(), one.ir_attr_type, one.attr_data_type.c_str(), one.attr_default_value);
    }
    return IrDefAttrsV2(all);
  }

  CompliantNodeBuilder &InstanceDynamicInputNum(const char_t *ir_name, int32_t num);
  CompliantNodeBuilder &InstanceDynamicOutputNum(const char_t *ir_name, int32_t num);
  /* Descriptions of outputs, by the names of the node: that of the definition, with a number behind it for a dynamic one.
   * Shapes and formats of origin and storage are the same here; the last call decides. */
  CompliantNodeBuilder &InstanceOutputDataType(const char_t *name, ge::DataType data_type);
  CompliantNodeBuilder &InstanceOutputShape(const char_t *name, const std::vector<int64_t> &shape);
  CompliantNodeBuilder &InstanceOutputOriginShape(const char_t *name, const std::vector<int64_t> &shape);
  CompliantNodeBuilder &InstanceOutputStorageShape(const char_t *name, const std::vector<int64_t> &shape);
  CompliantNodeBuilder &InstanceOutputFormat(const char_t *name, ge::Format format);
  CompliantNodeBuilder &InstanceOutputOriginFormat(const char_t *name, ge::Format format);
  CompliantNodeBuilder &InstanceOutputStorageFormat(const char_t *name, ge::Format format);
  /* Adds the node to the graph, without edges. The node of a failed build has no type, and the error text says why. */
  ge::GNode Build() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/* Connects two nodes, and copies the description of the output to the input. */
ge::graphStatus AddEdgeAndUpdatePeerDesc(Graph &graph, GNode &src_node, int32_t src_port_index, GNode &dst_node,
                                         int32_t dst_port_index);

template <typename T>
bool ValuesEqual(const T &a, const T &b) {
  return a == b;
}
inline bool ValuesEqual(const float &a, const float &b) {
  return std::fabs(a - b) <= std::numeric_limits<float>::epsilon();
}
template <typename T>
ge::AttrValue CreateFrom(const T &value) {
  return ge::AttrValue::CreateFrom<T>(value);
}
/* The value as an attribute, or an empty attribute where it is the default. */
template <typename T>
ge::AttrValue CreateFromIfNotEqual(const T &value, const T &default_value) {
  return ValuesEqual(value, default_value) ? ge::AttrValue() : CreateFrom(value);
}

}  // namespace es
}  // namespace ge

#endif
