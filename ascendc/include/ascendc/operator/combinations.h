// The combinations of types of a custom operator: its kernel is compiled once for each.
#ifndef JUMAR_ASCENDC_OPERATOR_COMBINATIONS_H
#define JUMAR_ASCENDC_OPERATOR_COMBINATIONS_H

#include "register/op_def_registry.h"

namespace jumar {
namespace operators {

struct TypeNames {
    ge::DataType type;
    const char *name, *cpp;
};
inline const std::vector<TypeNames>& type_names()
{
    static const std::vector<TypeNames> all = {
        {ge::DT_FLOAT, "DT_FLOAT", "float"},       {ge::DT_FLOAT16, "DT_FLOAT16", "half"},   {ge::DT_INT8, "DT_INT8", "int8_t"},
        {ge::DT_INT32, "DT_INT32", "int32_t"},     {ge::DT_UINT8, "DT_UINT8", "uint8_t"},    {ge::DT_INT16, "DT_INT16", "int16_t"},
        {ge::DT_UINT16, "DT_UINT16", "uint16_t"},  {ge::DT_UINT32, "DT_UINT32", "uint32_t"}, {ge::DT_INT64, "DT_INT64", "int64_t"},
        {ge::DT_UINT64, "DT_UINT64", "uint64_t"},  {ge::DT_DOUBLE, "DT_DOUBLE", "double"},   {ge::DT_BOOL, "DT_BOOL", "bool"},
        {ge::DT_BF16, "DT_BF16", "bfloat16_t"},    {ge::DT_INT4, "DT_INT4", "int4b_t"},
    };
    return all;
}
// Returns the name of a type; null for one that kernels do not have.
inline const TypeNames* names_of(ge::DataType type)
{
    for (const TypeNames& one : type_names())
        if (one.type == type) return &one;
    return nullptr;
}
inline std::string type_name(ge::DataType type)
{
    const TypeNames* names = names_of(type);
    return names ? names->name : "type " + std::to_string(static_cast<int>(type));
}

struct Combination {
    std::vector<ge::DataType> inputs, outputs;
    std::vector<ge::Format> input_formats, output_formats;
};

// Returns the combinations. The lists of DataType belong together element by element; each type of a DataTypeList goes with all of them.
inline std::vector<Combination> combinations(const ops::OpDef& definition)
{
    size_t columns = 1;
    for (const auto* parameters : {&definition.inputs(), &definition.outputs()})
        for (const ops::OpParamDef& one : *parameters)
            if (!one.is_list() && one.follows().empty() && one.types().size() > columns) columns = one.types().size();
    std::vector<Combination> all(columns);
    for (const auto* parameters : {&definition.inputs(), &definition.outputs()}) {
        const bool is_input = parameters == &definition.inputs();
        for (const ops::OpParamDef& one : *parameters) {
            std::vector<Combination> next;
            for (size_t column = 0; column < all.size(); column++) {
                const size_t variants = one.is_list() ? one.types().size() : 1;
                for (size_t variant = 0; variant < variants; variant++) {
                    Combination made = all[column];
                    // After a DataTypeList the columns repeat.
                    const size_t at = one.is_list() ? variant : column * columns / all.size() % columns;
                    ge::DataType type = one.types().empty() ? ge::DT_UNDEFINED : one.types()[at < one.types().size() ? at : 0];
                    ge::Format format = one.formats().empty() ? ge::FORMAT_ND : one.formats()[at < one.formats().size() ? at : 0];
                    for (size_t other = 0; other < definition.inputs().size() && other < made.inputs.size(); other++) {
                        if (definition.inputs()[other].name() != one.follows()) continue;
                        type = made.inputs[other];
                        format = made.input_formats[other];
                    }
                    (is_input ? made.inputs : made.outputs).push_back(type);
                    (is_input ? made.input_formats : made.output_formats).push_back(format);
                    next.push_back(made);
                }
            }
            all = std::move(next);
        }
    }
    return all;
}

// Returns the name of files and kernels of an operator: AddCustom becomes add_custom.
inline std::string snake_case(const std::string& type)
{
    std::string text;
    auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    for (size_t at = 0; at < type.size(); at++) {
        const bool begins_word = is_upper(type[at]) && at > 0 && (!is_upper(type[at - 1]) || (at + 1 < type.size() && type[at + 1] >= 'a' && type[at + 1] <= 'z'));
        if (begins_word && type[at - 1] != '_') text += '_';
        text += is_upper(type[at]) ? static_cast<char>(type[at] - 'A' + 'a') : type[at];
    }
    return text;
}

} // namespace operators
} // namespace jumar

#endif
