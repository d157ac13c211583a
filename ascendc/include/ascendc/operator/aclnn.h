// What the generated functions aclnn<Op>GetWorkspaceSize and aclnn<Op> of custom operators do.
#ifndef JUMAR_ASCENDC_OPERATOR_ACLNN_H
#define JUMAR_ASCENDC_OPERATOR_ACLNN_H

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "combinations.h"
#include "jumar/kernel.h"

// Copies the members of an array of integers, floats or booleans, or of a list of tensors (0 to 3), as words of 64 bits.
extern "C" int32_t jumar_aclnn_members(const void* object, uint32_t kind, uint64_t* members, uint64_t count);

namespace jumar {
namespace operators {

// The kernel of an operator for one combination of types.
struct Kernel {
    const char* type;
    size_t combination;
    const jumar_kernel_object* (*object)();
};
// The generated file of kernels defines these. The last one has no type.
extern const Kernel kernels[];

constexpr aclnnStatus NULL_PARAMETER = 161001, INVALID_PARAMETER = 161002, INNER_ERROR = 561000, TILING_ERROR = 561002, RUNTIME_ERROR = 361001;

// Reports why a call is refused, in the log of the program and on the standard error output.
__attribute__((format(printf, 2, 3))) inline aclnnStatus refuse(aclnnStatus code, const char* format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ACL_APP_LOG(ACL_ERROR, "%s", text);
    std::fprintf(stderr, "jumar: %s\n", text);
    return code;
}

// A planned call.
struct Executor {
    const jumar_kernel_object* object = nullptr;
    uint32_t blocks = 0;
    uint64_t workspace_bytes = 0;
    // The addresses of inputs and outputs, in the order of the kernel's parameters. That of a list of tensors is null: the launch sets it.
    std::vector<void*> addresses;
    // Lists as the kernel reads them (ListTensorDesc), and the parameters that they are.
    std::vector<std::pair<size_t, std::vector<uint64_t>>> lists;
    // Outputs that are zero when the kernel starts, with their numbers of bytes.
    std::vector<std::pair<void*, size_t>> zeros;
    std::vector<uint8_t> tiling;
    uint64_t key = 0;
    std::string type;
};

// Calls that are planned and not run.
class Executors {
public:
    static Executors& all()
    {
        static Executors executors;
        return executors;
    }
    aclOpExecutor* add(std::unique_ptr<Executor> executor)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        Executor* const address = executor.release();
        executors_.insert(address);
        return reinterpret_cast<aclOpExecutor*>(address);
    }
    // Takes an executor out; null for an address that is none.
    std::unique_ptr<Executor> take(aclOpExecutor* executor)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        auto found = executors_.find(reinterpret_cast<Executor*>(executor));
        if (found == executors_.end()) return nullptr;
        std::unique_ptr<Executor> taken(*found);
        executors_.erase(found);
        return taken;
    }

private:
    std::mutex mutex_;
    std::set<Executor*> executors_;
};

// The first phase of a call: takes the arguments in the order of the definition, then plans.
class Request {
public:
    explicit Request(const char* type) : type_(type)
    {
        auto found = ops::definitions().find(type);
        if (found == ops::definitions().end()) fail(refuse(INNER_ERROR, "%s: the library has no definition of the operator", type));
        else definition_ = found->second.get();
        call_.name = call_.type = type;
    }

    void input(const aclTensor* tensor) { add(call_.inputs, call_.inputs_of, tensor, true); }
    void output(const aclTensor* tensor) { add(call_.outputs, call_.outputs_of, tensor, false); }
    void input(const aclTensorList* tensors) { add_list(call_.inputs, call_.inputs_of, tensors, true); }
    void output(const aclTensorList* tensors) { add_list(call_.outputs, call_.outputs_of, tensors, false); }
    void attribute(bool value) { next().boolean = value; }
    void attribute(int64_t value) { next().integer = value; }
    void attribute(double value) { next().real = static_cast<float>(value); }
    void attribute(const char* value) { next().text = value ? value : ""; }
    void attribute(const aclIntArray* array)
    {
        list_attribute(array, aclGetIntArraySize, 0, [](gert::AttributeValue& into, uint64_t word) { into.integers.push_back(static_cast<int64_t>(word)); });
    }
    void attribute(const aclFloatArray* array)
    {
        list_attribute(array, aclGetFloatArraySize, 1, [](gert::AttributeValue& into, uint64_t word) {
            const uint32_t bits = static_cast<uint32_t>(word);
            into.reals.emplace_back();
            std::memcpy(&into.reals.back(), &bits, sizeof bits);
        });
    }
    void attribute(const aclBoolArray* array)
    {
        list_attribute(array, aclGetBoolArraySize, 2, [](gert::AttributeValue& into, uint64_t word) { into.booleans.push_back(static_cast<uint8_t>(word)); });
    }
    aclnnStatus plan(uint64_t* workspace_bytes, aclOpExecutor** executor)
    {
        if (!workspace_bytes || !executor) return refuse(NULL_PARAMETER, "%s: workspaceSize or executor is null", type_);
        if (status_ != 0) return status_;
        size_t combination = 0;
        if (const aclnnStatus code = select(combination)) return code;
        auto planned = std::make_unique<Executor>();
        planned->type = type_;
        for (const Kernel* kernel = kernels; kernel->type; kernel++)
            if (planned->type == kernel->type && kernel->combination == combination && kernel->object) planned->object = kernel->object();
        if (!planned->object)
            return refuse(INNER_ERROR, "%s: the library has no kernel for these types; its source was not part of the build (npu_op_kernel_library)", type_);
        planned->addresses = std::move(addresses_);
        planned->lists = std::move(lists_);
        const uint32_t wanted = planned->object->info.parameter_count - 2;
        if (planned->addresses.size() + 2 != wanted)
            return refuse(INNER_ERROR, "%s: the kernel has %u parameters, and the operator has %zu inputs and outputs, a workspace and tiling data", type_, wanted,
                          planned->addresses.size());
        if (const aclnnStatus code = tile(*planned)) return code;
        planned->zeros = std::move(zeros_);
        *workspace_bytes = planned->workspace_bytes;
        *executor = Executors::all().add(std::move(planned));
        return 0;
    }

private:
    static constexpr size_t MOST_TILING_BYTES = 64 * 1024;

    void fail(aclnnStatus code)
    {
        if (status_ == 0) status_ = code;
    }
    gert::AttributeValue& next()
    {
        call_.attributes.values().emplace_back();
        return call_.attributes.values().back();
    }

    // Copies the members of an array or a list. Returns whether it is one.
    template <typename Object>
    bool read_members(const Object* object, aclnnStatus (*size_of)(const Object*, uint64_t*), uint32_t kind, std::vector<uint64_t>& words)
    {
        uint64_t count = 0;
        if (size_of(object, &count) != 0) return false;
        words.resize(count);
        return jumar_aclnn_members(object, kind, words.data(), count) == 0;
    }
    template <typename Object, typename Append>
    void list_attribute(const Object* array, aclnnStatus (*size_of)(const Object*, uint64_t*), uint32_t kind, Append append)
    {
        const size_t number = call_.attributes.values().size();
        gert::AttributeValue& value = next();
        if (!definition_ || status_ != 0) return;
        const ops::OpAttrDef& attribute = definition_->attributes()[number];
        if (!array) {
            if (!attribute.is_optional()) return fail(refuse(NULL_PARAMETER, "%s: the attribute %s is null", type_, attribute.name().c_str()));
            value = attribute.default_list();
            return;
        }
        std::vector<uint64_t> words;
        if (!read_members(array, size_of, kind, words))
            return fail(refuse(INVALID_PARAMETER, "%s: the attribute %s is not an array of its type, or it was destroyed", type_, attribute.name().c_str()));
        for (uint64_t word : words) append(value, word);
    }

    const ops::OpParamDef& parameter_of(const std::vector<gert::AnchorInstanceInfo>& of, bool is_input) const
    {
        return (is_input ? definition_->inputs() : definition_->outputs())[of.size()];
    }

    void add(std::vector<gert::TensorOfCall>& into, std::vector<gert::AnchorInstanceInfo>& of, const aclTensor* tensor, bool is_input)
    {
        if (!definition_ || status_ != 0) return;
        const ops::OpParamDef& parameter = parameter_of(of, is_input);
        of.emplace_back(into.size(), 1);
        into.emplace_back();
        addresses_.push_back(nullptr);
        if (!tensor) {
            if (parameter.type() != ops::OPTIONAL) fail(refuse(NULL_PARAMETER, "%s: %s is null", type_, parameter.name().c_str()));
            return;
        }
        addresses_.back() = read(into.back(), parameter, parameter.name(), tensor, is_input);
        is_empty_ = is_empty_ || (!is_input && into.back().tensor.GetShapeSize() == 0);
    }

    // A list of tensors is described as the kernel reads it: the byte offset of the addresses; for each tensor the number of dimensions, its
    // number in the upper half, and the dimensions; the addresses. Behind them stands the parameter's name, for messages of the launch.
    void add_list(std::vector<gert::TensorOfCall>& into, std::vector<gert::AnchorInstanceInfo>& of, const aclTensorList* tensors, bool is_input)
    {
        if (!definition_ || status_ != 0) return;
        const ops::OpParamDef& parameter = parameter_of(of, is_input);
        of.emplace_back(into.size(), 0);
        std::vector<uint64_t> members, words(1), data;
        if (!tensors) return fail(refuse(NULL_PARAMETER, "%s: %s is null", type_, parameter.name().c_str()));
        if (!read_members(tensors, aclGetTensorListSize, 3, members))
            return fail(refuse(INVALID_PARAMETER, "%s: %s is not a list of tensors, or it was destroyed", type_, parameter.name().c_str()));
        bool is_empty = !is_input;
        for (uint64_t at = 0; at < members.size() && status_ == 0; at++) {
            const std::string name = parameter.name() + "[" + std::to_string(at) + "]";
            const aclTensor* tensor = reinterpret_cast<const aclTensor*>(members[at]);
            if (!tensor) return fail(refuse(NULL_PARAMETER, "%s: %s is null", type_, name.c_str()));
            of.back().add();
            into.emplace_back();
            data.push_back(reinterpret_cast<uint64_t>(read(into.back(), parameter, name, tensor, is_input)));
            const gert::Shape& shape = into.back().tensor.GetStorageShape();
            words.push_back(shape.GetDimNum() | at << 32);
            for (size_t dim = 0; dim < shape.GetDimNum(); dim++) words.push_back(static_cast<uint64_t>(shape.GetDim(dim)));
            is_empty = is_empty && into.back().tensor.GetShapeSize() == 0;
        }
        is_empty_ = is_empty_ || is_empty;
        words[0] = words.size() * 8;
        words.insert(words.end(), data.begin(), data.end());
        const size_t length = parameter.name().size() + 1, behind = words.size();
        words.resize(behind + (length + 7) / 8);
        std::memcpy(words.data() + behind, parameter.name().c_str(), length);
        lists_.emplace_back(addresses_.size(), std::move(words));
        addresses_.push_back(nullptr);
    }

    // Reads a tensor. Returns the address of its first element.
    void* read(gert::TensorOfCall& made, const ops::OpParamDef& parameter, const std::string& of, const aclTensor* tensor, bool is_input)
    {
        const char* name = of.c_str();
        aclDataType type = ACL_DT_UNDEFINED;
        int64_t *dims = nullptr, *strides = nullptr, offset = 0;
        uint64_t rank = 0, stride_count = 0;
        void* address = nullptr;
        aclFormat format = ACL_FORMAT_ND;
        if (aclGetDataType(tensor, &type) || aclGetViewShape(tensor, &dims, &rank) || aclGetViewStrides(tensor, &strides, &stride_count) ||
            aclGetViewOffset(tensor, &offset) || aclGetRawTensorAddr(tensor, &address) || aclGetFormat(tensor, &format)) {
            delete[] dims;
            delete[] strides;
            fail(refuse(INVALID_PARAMETER, "%s: %s is not a tensor, or it was destroyed", type_, name));
            return nullptr;
        }
        const gert::StorageFormat formats(static_cast<ge::Format>(format), static_cast<ge::Format>(format), {});
        made.tensor = gert::Tensor({}, formats, gert::kOnDeviceHbm, static_cast<ge::DataType>(type), address);
        made.desc = {static_cast<ge::DataType>(type), formats};
        made.is_present = true;
        int64_t elements = 1;
        bool is_contiguous = true;
        for (uint64_t at = rank; at-- > 0;) {
            if (dims[at] != 1 && at < stride_count && strides[at] != elements) is_contiguous = false;
            elements *= dims[at];
        }
        for (uint64_t at = 0; at < rank; at++) {
            made.tensor.MutableStorageShape().AppendDim(dims[at]);
            made.tensor.MutableOriginShape().AppendDim(dims[at]);
        }
        delete[] dims;
        delete[] strides;
        if (!is_contiguous && elements > 1 && !parameter.ignores_strides()) {
            fail(refuse(INVALID_PARAMETER, "%s: %s is not contiguous; custom operators take contiguous tensors (aclnnInplaceCopy makes one)", type_, name));
            return nullptr;
        }
        if (!address && elements > 0) {
            fail(refuse(INVALID_PARAMETER, "%s: the data address of %s is null", type_, name));
            return nullptr;
        }
        uint8_t* const first = static_cast<uint8_t*>(address) + offset * static_cast<int64_t>(aclDataTypeSize(type));
        if (!is_input && parameter.has_initial_value() && elements > 0) zeros_.emplace_back(first, static_cast<size_t>(elements) * aclDataTypeSize(type));
        return first;
    }

    // Finds the combination of types that the arguments have.
    aclnnStatus select(size_t& combination)
    {
        const auto all = combinations(*definition_);
        std::string given;
        for (; combination < all.size(); combination++)
            if (fits(call_.inputs, call_.inputs_of, all[combination].inputs) && fits(call_.outputs, call_.outputs_of, all[combination].outputs)) return 0;
        for (const auto* tensors : {&call_.inputs, &call_.outputs})
            for (const gert::TensorOfCall& one : *tensors) given += std::string(given.empty() ? "" : ", ") + (one.is_present ? type_name(one.desc.GetDataType()) : "none");
        return refuse(INVALID_PARAMETER, "%s: the operator has no combination of types (%s); its definition lists %zu", type_, given.c_str(), all.size());
    }
    // All tensors of a list have the type of their parameter.
    static bool fits(const std::vector<gert::TensorOfCall>& tensors, const std::vector<gert::AnchorInstanceInfo>& of, const std::vector<ge::DataType>& types)
    {
        for (size_t parameter = 0; parameter < of.size(); parameter++)
            for (size_t at = 0; at < of[parameter].GetInstanceNum(); at++) {
                const gert::TensorOfCall& one = tensors[of[parameter].GetInstanceStart() + at];
                if (one.is_present && one.desc.GetDataType() != types[parameter]) return false;
            }
        return true;
    }

    aclnnStatus tile(Executor& planned)
    {
        // A tensor without elements needs no kernel, unless the definition asks for it.
        if (is_empty_ && !definition_->core().launches_empty()) return 0;
        auto function = definition_->core().tiling();
        auto registered = ops::OpTilingRegistration::all().find(type_);
        if (!function && registered != ops::OpTilingRegistration::all().end()) function = registered->second;
        if (!function) return refuse(TILING_ERROR, "%s: the operator has no tiling function (SetTiling or IMPL_OP_OPTILING)", type_);
        for (gert::AttributeValue& value : call_.attributes.values()) value.make_lists();
        const char* soc = aclrtGetSocName();
        const bool is_310p = soc && std::strncmp(soc, "Ascend310P", 10) == 0;
        gert::TilingContext context(
            call_, fe::PlatFormInfos(is_310p ? platform_ascendc::SocVersion::ASCEND310P : platform_ascendc::SocVersion::ASCEND910B), MOST_TILING_BYTES);
        if (function(&context) != ge::GRAPH_SUCCESS) return refuse(TILING_ERROR, "%s: the tiling function failed", type_);
        if (context.GetBlockDim() == 0 || context.GetBlockDim() > 65535)
            return refuse(TILING_ERROR, "%s: the tiling function set %u blocks; 1 to 65,535 are possible", type_, context.GetBlockDim());
        planned.blocks = context.GetBlockDim();
        planned.key = context.GetTilingKey();
        const gert::TilingData& data = *context.GetRawTilingData();
        const uint8_t* bytes = static_cast<const uint8_t*>(data.GetData());
        planned.tiling.assign(bytes, bytes + data.GetDataSize());
        for (size_t size : context.workspaces()) planned.workspace_bytes += (size + 511) / 512 * 512;
        return 0;
    }

    const char* type_;
    const ops::OpDef* definition_ = nullptr;
    gert::CallParameters call_;
    std::vector<void*> addresses_;
    std::vector<std::pair<size_t, std::vector<uint64_t>>> lists_;
    std::vector<std::pair<void*, size_t>> zeros_;
    aclnnStatus status_ = 0;
    bool is_empty_ = false;
};

// The second phase of a call.
inline aclnnStatus run(const char* type, void* workspace, uint64_t workspace_bytes, aclOpExecutor* executor, aclrtStream stream)
{
    if (!executor) return refuse(NULL_PARAMETER, "aclnn%s: executor is null", type);
    const std::unique_ptr<Executor> planned = Executors::all().take(executor);
    if (!planned) return refuse(INVALID_PARAMETER, "aclnn%s: the executor is not one of a call that was planned and not run", type);
    if (planned->type != type) return refuse(INVALID_PARAMETER, "aclnn%s: the executor is one of aclnn%s", type, planned->type.c_str());
    if (workspace_bytes < planned->workspace_bytes || (!workspace && planned->workspace_bytes > 0))
        return refuse(INVALID_PARAMETER, "aclnn%s: the workspace has %llu bytes, and the operator needs %llu", type,
                      static_cast<unsigned long long>(workspace ? workspace_bytes : 0), static_cast<unsigned long long>(planned->workspace_bytes));
    for (const auto& [address, bytes] : planned->zeros)
        if (aclrtMemsetAsync(address, bytes, 0, bytes, stream) != 0) return RUNTIME_ERROR;
    if (planned->blocks == 0) return 0;
    // The argument block: addresses, workspace, the address of the tiling data, key, size, the tiling data, and lists of tensors. The launch
    // replaces the addresses of what is in the block.
    std::vector<uint64_t> block;
    for (void* address : planned->addresses) block.push_back(reinterpret_cast<uint64_t>(address));
    block.push_back(reinterpret_cast<uint64_t>(workspace));
    const size_t tiling = block.size();
    block.push_back(0);
    block.push_back(planned->key);
    block.push_back(planned->tiling.size());
    const size_t data = block.size();
    block.resize(data + (planned->tiling.size() + 7) / 8 + 1);
    if (!planned->tiling.empty()) std::memcpy(block.data() + data, planned->tiling.data(), planned->tiling.size());
    std::vector<aclrtPlaceHolderInfo> holders = {{static_cast<uint32_t>(tiling * 8), static_cast<uint32_t>(data * 8)}};
    for (const auto& [parameter, words] : planned->lists) {
        holders.push_back({static_cast<uint32_t>(parameter * 8), static_cast<uint32_t>(block.size() * 8)});
        block.insert(block.end(), words.begin(), words.end());
    }
    aclrtFuncHandle function = nullptr;
    if (aclrtGetFuncBySymbol(planned->object, &function) != 0) return RUNTIME_ERROR;
    return aclrtLaunchKernelWithHostArgs(function, planned->blocks, stream, nullptr, block.data(), block.size() * 8, holders.data(), holders.size()) == 0 ? 0 : RUNTIME_ERROR;
}

} // namespace operators
} // namespace jumar

#endif
