// The generator of a custom operator project: from the definitions it writes the headers and sources of aclnn<Op>, the kernel's side of the
// tiling data, and what CMake has to compile. The build compiles it together with the sources of op_host and runs it.
#ifndef JUMAR_ASCENDC_OPERATOR_GENERATE_H
#define JUMAR_ASCENDC_OPERATOR_GENERATE_H

#include <cctype>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "combinations.h"

namespace jumar {
namespace operators {

class Generator {
public:
    explicit Generator(std::string folder) : folder_(std::move(folder)) {}

    // Writes all files. Returns whether all definitions are supported.
    bool run()
    {
        std::ostringstream list, kernels, externs;
        for (const auto& [type, definition] : ops::definitions()) {
            if (!is_supported(*definition)) return false;
            const std::string name = snake_case(type);
            const auto all = combinations(*definition);
            if (!write("aclnn_" + name + ".h", header(*definition)) || !write("aclnn_" + name + ".cpp", source(*definition)) ||
                !write(name + "_kernel.h", preamble(*definition)))
                return false;
            list << "list(APPEND JUMAR_OPERATORS " << type << ")\nset(JUMAR_OPERATOR_" << type << "_NAME " << name << ")\n";
            list << "set(JUMAR_OPERATOR_" << type << "_COMBINATIONS " << all.size() << ")\n";
            for (size_t at = 0; at < all.size(); at++) {
                list << "set(JUMAR_OPERATOR_" << type << "_" << at << macros(*definition, all[at]) << ")\n";
                const std::string symbol = "jumar_operator_" + type + "_" + std::to_string(at);
                externs << "extern \"C\" __attribute__((weak, visibility(\"hidden\"))) const jumar_kernel_object* " << symbol << "(const char*);\n";
                externs << "static const jumar_kernel_object* make_" << symbol << "() { return " << symbol << " ? " << symbol << "(\"" << type << "\") : nullptr; }\n";
                kernels << "    {\"" << type << "\", " << at << ", &make_" << symbol << "},\n";
            }
        }
        if (ops::definitions().empty()) return refuse("the sources define no operator (OP_ADD)");
        return write("operators.cmake", list.str()) &&
               write("aclnn_kernels.cpp", "// Generated: the kernels of the project's operators.\n#include \"ascendc/operator/aclnn.h\"\n\n" + externs.str() +
                                              "\nconst jumar::operators::Kernel jumar::operators::kernels[] = {\n" + kernels.str() + "    {nullptr, 0, nullptr},\n};\n");
    }

private:
    static bool refuse(const std::string& text)
    {
        std::fprintf(stderr, "jumar: %s\n", text.c_str());
        return false;
    }

    static bool is_supported(const ops::OpDef& definition)
    {
        const std::string& type = definition.type();
        for (const auto* parameters : {&definition.inputs(), &definition.outputs()})
            for (const ops::OpParamDef& one : *parameters) {
                const std::string what = type + ": parameter " + one.name();
                if (one.depends_on_value()) return refuse(what + " is a value of the host (ValueDepend), which is not supported (docs/ascendc.md)");
                if (one.initial_value() != 0) return refuse(what + " has an initial value (InitValue) other than 0, which is not supported (docs/ascendc.md)");
                if (one.has_initial_value() && parameters == &definition.inputs()) return refuse(what + " is an input and has an initial value (InitValue); only outputs have one");
                if (one.types().empty() && one.follows().empty()) return refuse(what + " has no DataType");
                for (ge::DataType data : one.types())
                    if (!names_of(data)) return refuse(what + ": kernels have no " + type_name(data));
            }
        for (const ops::OpAttrDef& one : definition.attributes())
            if (one.type() == ops::AttributeType::LIST_LIST_INT)
                return refuse(type + ": attribute " + one.name() + " is a list of lists, which is not supported (docs/ascendc.md)");
        return true;
    }

    bool write(const std::string& name, const std::string& text) const
    {
        const std::string path = folder_ + "/" + name;
        std::ifstream old(path);
        // An unchanged file keeps its time.
        if (old && std::string(std::istreambuf_iterator<char>(old), {}) == text) return true;
        std::ofstream file(path);
        file << text;
        return file.good() || refuse("cannot write " + path);
    }

    static std::string parameters(const ops::OpDef& definition)
    {
        static const char* const attributes[] = {"bool ", "int64_t ", "double ", "char *", "const aclBoolArray *", "const aclIntArray *", "const aclFloatArray *"};
        std::ostringstream text;
        auto tensor = [](const ops::OpParamDef& one) { return one.type() == ops::DYNAMIC ? "const aclTensorList *" : "const aclTensor *"; };
        for (const ops::OpParamDef& one : definition.inputs()) text << tensor(one) << one.name() << (one.type() == ops::OPTIONAL ? "Optional" : "") << ", ";
        for (const ops::OpAttrDef& one : definition.attributes()) text << attributes[static_cast<int>(one.type())] << one.name() << ", ";
        for (const ops::OpParamDef& one : definition.outputs()) text << tensor(one) << output(definition, one) << ", ";
        text << "uint64_t *workspaceSize, aclOpExecutor **executor";
        return text.str();
    }
    // An output that is an input as well needs another name.
    static std::string output(const ops::OpDef& definition, const ops::OpParamDef& one)
    {
        for (const ops::OpParamDef& input : definition.inputs())
            if (input.name() == one.name()) return one.name() + "Ref";
        return one.name();
    }
    static std::string header(const ops::OpDef& definition)
    {
        const std::string& type = definition.type();
        const std::string guard = "ACLNN_" + snake_case(type) + "_H_";
        return "/* Generated from the definition of " + type + ". */\n#ifndef " + guard + "\n#define " + guard +
               "\n\n#include \"aclnn/acl_meta.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n__attribute__((visibility(\"default\"))) aclnnStatus aclnn" + type +
               "GetWorkspaceSize(\n    " + parameters(definition) + ");\n\n__attribute__((visibility(\"default\"))) aclnnStatus aclnn" + type +
               "(\n    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    }
    static std::string source(const ops::OpDef& definition)
    {
        const std::string& type = definition.type();
        std::ostringstream text;
        text << "// Generated from the definition of " << type << ".\n#include \"aclnn_" << snake_case(type)
             << ".h\"\n\n#include \"ascendc/operator/aclnn.h\"\n\nextern \"C\" aclnnStatus aclnn" << type << "GetWorkspaceSize(" << parameters(definition)
             << ")\n{\n    jumar::operators::Request request(\"" << type << "\");\n";
        for (const ops::OpParamDef& one : definition.inputs())
            text << "    request.input(" << one.name() << (one.type() == ops::OPTIONAL ? "Optional" : "") << ");\n";
        for (const ops::OpAttrDef& one : definition.attributes()) {
            const bool is_text = one.type() == ops::AttributeType::STRING;
            text << "    request.attribute(" << (is_text ? "static_cast<const char*>(" : "") << one.name() << (is_text ? ")" : "") << ");\n";
        }
        for (const ops::OpParamDef& one : definition.outputs()) text << "    request.output(" << output(definition, one) << ");\n";
        text << "    return request.plan(workspaceSize, executor);\n}\n\nextern \"C\" aclnnStatus aclnn" << type
             << "(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)\n{\n    return jumar::operators::run(\"" << type
             << "\", workspace, workspaceSize, executor, stream);\n}\n";
        return text.str();
    }

    // The macros of a combination, as a list of CMake.
    static std::string macros(const ops::OpDef& definition, const Combination& combination)
    {
        std::ostringstream text;
        auto add = [&text](const ops::OpParamDef& one, ge::DataType type, ge::Format format) {
            std::string name = one.name();
            for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            text << " -DDTYPE_" << name << '=' << names_of(type)->cpp << " -DORIG_DTYPE_" << name << '=' << names_of(type)->name << " -DFORMAT_" << name << '='
                 << static_cast<int>(format);
        };
        for (size_t at = 0; at < combination.inputs.size(); at++) add(definition.inputs()[at], combination.inputs[at], combination.input_formats[at]);
        for (size_t at = 0; at < combination.outputs.size(); at++) add(definition.outputs()[at], combination.outputs[at], combination.output_formats[at]);
        return text.str();
    }

    // What stands in front of the kernel's source: the numbers of types, and the tiling structure if the host's side declares one.
    static std::string preamble(const ops::OpDef& definition)
    {
        std::ostringstream text;
        text << "// Generated from the definition of " << definition.type() << ".\n#pragma once\n#include \"kernel_operator.h\"\n#include \"kernel_tiling/kernel_tiling.h\"\n";
        for (const TypeNames& one : type_names()) text << "#define " << one.name << ' ' << static_cast<int>(one.type) << '\n';
        text << "#define FORMAT_NCHW " << static_cast<int>(ge::FORMAT_NCHW) << "\n#define FORMAT_NHWC " << static_cast<int>(ge::FORMAT_NHWC) << "\n#define FORMAT_ND "
             << static_cast<int>(ge::FORMAT_ND) << '\n';
        auto found = optiling::tiling_classes().find(definition.type());
        if (found != optiling::tiling_classes().end()) {
            std::set<std::string> written;
            const auto tiling = found->second();
            structure(text, *tiling, written);
            text << "REGISTER_TILING_DEFAULT(" << tiling->GetTilingClassName() << ");\n";
        }
        return text.str();
    }
    static void structure(std::ostringstream& text, const optiling::TilingDef& tiling, std::set<std::string>& written)
    {
        if (!written.insert(tiling.GetTilingClassName()).second) return;
        std::ostringstream fields;
        for (const optiling::TilingField& field : tiling.fields()) {
            std::string type = field.type;
            if (field.is_structure) {
                // The library's own structures are in kernel_tiling.h.
                type = type.rfind("optiling::", 0) == 0 ? type.substr(10) : type;
                for (const auto& [name, make] : optiling::tiling_classes()) {
                    const auto member = make();
                    if (member->GetTilingClassName() == type) structure(text, *member, written);
                }
            }
            fields << "    " << (field.is_structure ? "alignas(8) " : "") << type << ' ' << field.name;
            if (field.count > 1) fields << '[' << field.count << ']';
            fields << ";\n";
        }
        text << "struct " << tiling.GetTilingClassName() << " {\n" << fields.str() << "};\n";
    }

    std::string folder_;
};

} // namespace operators
} // namespace jumar

#endif
