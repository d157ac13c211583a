// Definitions of custom operators: inputs, outputs, attributes, and the functions of the host's side.
#ifndef JUMAR_REGISTER_OP_DEF_REGISTRY_H
#define JUMAR_REGISTER_OP_DEF_REGISTRY_H

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exe_graph/runtime/tiling_context.h"
#include "register/op_impl_registry.h"
#include "register/tilingdata_base.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FollowType { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE = 4 };

class OpParamDef {
public:
    explicit OpParamDef(const char* name) : name_(name) {}
    OpParamDef& ParamType(Option type)
    {
        type_ = type;
        return *this;
    }
    // The types of the combinations, one for each; with DataTypeList each type goes with each combination of the others.
    OpParamDef& DataType(std::vector<ge::DataType> types)
    {
        types_ = std::move(types);
        return *this;
    }
    OpParamDef& DataTypeList(std::vector<ge::DataType> types)
    {
        types_ = std::move(types);
        is_list_ = true;
        return *this;
    }
    OpParamDef& Format(std::vector<ge::Format> formats)
    {
        formats_ = std::move(formats);
        return *this;
    }
    OpParamDef& FormatList(std::vector<ge::Format> formats) { return Format(std::move(formats)); }
    OpParamDef& UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
    OpParamDef& FormatForBinQuery(std::vector<ge::Format>) { return *this; }
    OpParamDef& ValueDepend(Option)
    {
        depends_on_value_ = true;
        return *this;
    }
    OpParamDef& AutoContiguous() { return *this; }
    OpParamDef& IgnoreContiguous()
    {
        ignores_strides_ = true;
        return *this;
    }
    OpParamDef& Comment(const char*) { return *this; }
    OpParamDef& Version(uint32_t) { return *this; }
    // Takes type and format of another parameter.
    OpParamDef& Follow(const char* name, FollowType = FollowType::ALL)
    {
        follows_ = name;
        return *this;
    }
    OpParamDef& InitValue(uint64_t value)
    {
        has_initial_value_ = true;
        initial_value_ = value;
        return *this;
    }

    const std::string& name() const { return name_; }
    Option type() const { return type_; }
    const std::vector<ge::DataType>& types() const { return types_; }
    const std::vector<ge::Format>& formats() const { return formats_; }
    bool is_list() const { return is_list_; }
    bool depends_on_value() const { return depends_on_value_; }
    bool ignores_strides() const { return ignores_strides_; }
    bool has_initial_value() const { return has_initial_value_; }
    uint64_t initial_value() const { return initial_value_; }
    const std::string& follows() const { return follows_; }

private:
    std::string name_, follows_;
    Option type_ = REQUIRED;
    std::vector<ge::DataType> types_;
    std::vector<ge::Format> formats_;
    bool is_list_ = false, depends_on_value_ = false, ignores_strides_ = false, has_initial_value_ = false;
    uint64_t initial_value_ = 0;
};

enum class AttributeType { BOOL, INT, FLOAT, STRING, LIST_BOOL, LIST_INT, LIST_FLOAT, LIST_LIST_INT };

class OpAttrDef {
public:
    explicit OpAttrDef(const char* name) : name_(name) {}
    OpAttrDef& AttrType(Option type)
    {
        option_ = type;
        return *this;
    }
    OpAttrDef& Bool(bool = false) { return set(AttributeType::BOOL); }
    OpAttrDef& Int(int64_t = 0) { return set(AttributeType::INT); }
    OpAttrDef& Float(float = 0) { return set(AttributeType::FLOAT); }
    OpAttrDef& String(const char* = "") { return set(AttributeType::STRING); }
    // The value of a list counts for calls without one, if the attribute is optional.
    OpAttrDef& ListBool(std::vector<bool> value = {})
    {
        default_.booleans.assign(value.begin(), value.end());
        return set(AttributeType::LIST_BOOL);
    }
    OpAttrDef& ListInt(std::vector<int64_t> value = {})
    {
        default_.integers = std::move(value);
        return set(AttributeType::LIST_INT);
    }
    OpAttrDef& ListFloat(std::vector<float> value = {})
    {
        default_.reals = std::move(value);
        return set(AttributeType::LIST_FLOAT);
    }
    OpAttrDef& ListListInt(std::vector<std::vector<int64_t>> = {}) { return set(AttributeType::LIST_LIST_INT); }
    OpAttrDef& Comment(const char*) { return *this; }
    OpAttrDef& Version(uint32_t) { return *this; }

    const std::string& name() const { return name_; }
    AttributeType type() const { return type_; }
    bool is_optional() const { return option_ == OPTIONAL; }
    const gert::AttributeValue& default_list() const { return default_; }

private:
    OpAttrDef& set(AttributeType type)
    {
        type_ = type;
        return *this;
    }
    std::string name_;
    Option option_ = REQUIRED;
    AttributeType type_ = AttributeType::INT;
    gert::AttributeValue default_;
};

// Options of a chip. The kernels of an operator are compiled once, for the chip of the build.
class OpAICoreConfig {
public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char*) {}
    OpParamDef& Input(const char* name) { return parameter(name); }
    OpParamDef& Output(const char* name) { return parameter(name); }
    OpAICoreConfig& DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig& DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig& DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig& DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig& NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig& PrecisionReduceFlag(bool) { return *this; }
    OpAICoreConfig& ExtendCfgInfo(const char*, const char*) { return *this; }

private:
    OpParamDef& parameter(const char* name)
    {
        parameters_.emplace_back(name);
        return parameters_.back();
    }
    std::deque<OpParamDef> parameters_;
};

class OpAICoreDef {
public:
    OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc function)
    {
        tiling_ = function;
        return *this;
    }
    template <typename Function> OpAICoreDef& SetCheckSupport(Function) { return *this; }
    template <typename Function> OpAICoreDef& SetOpSelectFormat(Function) { return *this; }
    template <typename Function> OpAICoreDef& SetOpSpecInfo(Function) { return *this; }
    template <typename Function> OpAICoreDef& SetOpSupportInfo(Function) { return *this; }
    template <typename Function> OpAICoreDef& SetParamGeneralize(Function) { return *this; }
    OpAICoreDef& LaunchWithZeroEleOutputTensors(bool flag)
    {
        launches_empty_ = flag;
        return *this;
    }
    OpAICoreDef& AddConfig(const char* soc)
    {
        socs_.push_back(soc);
        return *this;
    }
    OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig&) { return AddConfig(soc); }

    gert::OpImplRegisterV2::TilingKernelFunc tiling() const { return tiling_; }
    const std::vector<std::string>& socs() const { return socs_; }
    bool launches_empty() const { return launches_empty_; }

private:
    gert::OpImplRegisterV2::TilingKernelFunc tiling_ = nullptr;
    std::vector<std::string> socs_;
    bool launches_empty_ = false;
};

class OpDef {
public:
    explicit OpDef(const char* type) : type_(type) {}
    OpParamDef& Input(const char* name) { return find(inputs_, name); }
    OpParamDef& Output(const char* name) { return find(outputs_, name); }
    OpAttrDef& Attr(const char* name) { return find(attributes_, name); }
    OpAICoreDef& AICore() { return core_; }
    OpDef& SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc function)
    {
        infer_shape_ = function;
        return *this;
    }
    OpDef& SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) { return *this; }
    OpDef& SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc) { return *this; }
    OpDef& EnableFallBack() { return *this; }
    OpDef& Comment(const char*) { return *this; }

    const std::string& type() const { return type_; }
    const std::deque<OpParamDef>& inputs() const { return inputs_; }
    const std::deque<OpParamDef>& outputs() const { return outputs_; }
    const std::deque<OpAttrDef>& attributes() const { return attributes_; }
    const OpAICoreDef& core() const { return core_; }

private:
    // A deque keeps the addresses of what it holds.
    template <typename TypeT> static TypeT& find(std::deque<TypeT>& all, const char* name)
    {
        for (TypeT& one : all)
            if (one.name() == name) return one;
        all.emplace_back(name);
        return all.back();
    }
    std::string type_;
    std::deque<OpParamDef> inputs_, outputs_;
    std::deque<OpAttrDef> attributes_;
    OpAICoreDef core_;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape_ = nullptr;
};

// The operators of the program, by type.
inline std::map<std::string, std::shared_ptr<OpDef>>& definitions()
{
    static std::map<std::string, std::shared_ptr<OpDef>> all;
    return all;
}
struct OpRegistration {
    OpRegistration(const char* type, std::shared_ptr<OpDef> definition) { definitions()[type] = std::move(definition); }
};

// Tiling functions that are registered apart from the definition, by IMPL_OP_OPTILING.
struct OpTilingRegistration {
    explicit OpTilingRegistration(const char* type) : type_(type) {}
    OpTilingRegistration& Tiling(gert::OpImplRegisterV2::TilingKernelFunc function)
    {
        all()[type_] = function;
        return *this;
    }
    template <typename CompileInfo, typename Function> OpTilingRegistration& TilingParse(Function) { return *this; }
    OpTilingRegistration& TilingInputsDataDependency(std::initializer_list<int32_t>) { return *this; }
    static std::map<std::string, gert::OpImplRegisterV2::TilingKernelFunc>& all()
    {
        static std::map<std::string, gert::OpImplRegisterV2::TilingKernelFunc> functions;
        return functions;
    }

private:
    std::string type_;
};

} // namespace ops

#define OP_ADD(op_type) [[maybe_unused]] static const ::ops::OpRegistration jumar_definition_of_##op_type(#op_type, std::make_shared<op_type>(#op_type))
#undef IMPL_OP_OPTILING
#define IMPL_OP_OPTILING(op_type) [[maybe_unused]] static const ::ops::OpTilingRegistration jumar_tiling_function_of_##op_type = ::ops::OpTilingRegistration(#op_type)

#endif
