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
    // The addresses of inputs and outputs, in the order of the kernel's parameters.
    std::vector<void*> addresses;
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

    void input(const aclTensor* tensor) { add(call_.inputs, inputs_, tensor, true); }
    void output(const aclTensor* tensor) { add(call_.outputs, outputs_, tensor, false); }
    void attribute(bool value) { next().boolean = value; }
    void attribute(int64_t value) { next().integer = value; }
    void attribute(double value) { next().real = static_cast<float>(value); }
    void attribute(const char* value) { next().text = value ? value : ""; }
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
        for (Addresses* one : {&inputs_, &outputs_})
            for (void* address : *one) planned->addresses.push_back(address);
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
    using Addresses = std::vector<void*>;
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

    void add(std::vector<gert::TensorOfCall>& into, Addresses& addresses, const aclTensor* tensor, bool is_input)
    {
        if (!definition_ || status_ != 0) return;
        const auto& parameters = is_input ? definition_->inputs() : definition_->outputs();
        const ops::OpParamDef& parameter = parameters[into.size()];
        const char* name = parameter.name().c_str();
        into.emplace_back();
        addresses.push_back(nullptr);
        if (!tensor) {
            if (parameter.type() != ops::OPTIONAL) fail(refuse(NULL_PARAMETER, "%s: %s is null", type_, name));
            return;
        }
        aclDataType type = ACL_DT_UNDEFINED;
        int64_t *dims = nullptr, *strides = nullptr, offset = 0;
        uint64_t rank = 0, stride_count = 0;
        void* address = nullptr;
        aclFormat format = ACL_FORMAT_ND;
        if (aclGetDataType(tensor, &type) || aclGetViewShape(tensor, &dims, &rank) || aclGetViewStrides(tensor, &strides, &stride_count) ||
            aclGetViewOffset(tensor, &offset) || aclGetRawTensorAddr(tensor, &address) || aclGetFormat(tensor, &format)) {
            delete[] dims;
            delete[] strides;
            return fail(refuse(INVALID_PARAMETER, "%s: %s is not a tensor, or it was destroyed", type_, name));
        }
        gert::TensorOfCall& made = into.back();
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
        if (!is_contiguous && elements > 1 && !parameter.ignores_strides())
            return fail(refuse(INVALID_PARAMETER, "%s: %s is not contiguous; custom operators take contiguous tensors (aclnnInplaceCopy makes one)", type_, name));
        if (!address && elements > 0) return fail(refuse(INVALID_PARAMETER, "%s: the data address of %s is null", type_, name));
        addresses.back() = static_cast<uint8_t*>(address) + offset * static_cast<int64_t>(aclDataTypeSize(type));
        is_empty_ = is_empty_ || (!is_input && elements == 0);
        if (!is_input && parameter.has_initial_value() && elements > 0)
            zeros_.emplace_back(addresses.back(), static_cast<size_t>(elements) * aclDataTypeSize(type));
    }

    // Finds the combination of types that the arguments have.
    aclnnStatus select(size_t& combination)
    {
        const auto all = combinations(*definition_);
        std::string given;
        for (; combination < all.size(); combination++)
            if (fits(call_.inputs, all[combination].inputs) && fits(call_.outputs, all[combination].outputs)) return 0;
        for (const auto* tensors : {&call_.inputs, &call_.outputs})
            for (const gert::TensorOfCall& one : *tensors) given += std::string(given.empty() ? "" : ", ") + (one.is_present ? type_name(one.desc.GetDataType()) : "none");
        return refuse(INVALID_PARAMETER, "%s: the operator has no combination of types (%s); its definition lists %zu", type_, given.c_str(), all.size());
    }
    static bool fits(const std::vector<gert::TensorOfCall>& tensors, const std::vector<ge::DataType>& types)
    {
        for (size_t at = 0; at < tensors.size(); at++)
            if (tensors[at].is_present && tensors[at].desc.GetDataType() != types[at]) return false;
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
    Addresses inputs_, outputs_;
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
    // The argument block: addresses, workspace, the address of the tiling data, key, size, and the tiling data.
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
    aclrtPlaceHolderInfo holder = {static_cast<uint32_t>(tiling * 8), static_cast<uint32_t>(data * 8)};
    aclrtFuncHandle function = nullptr;
    if (aclrtGetFuncBySymbol(planned->object, &function) != 0) return RUNTIME_ERROR;
    return aclrtLaunchKernelWithHostArgs(function, planned->blocks, stream, nullptr, block.data(), block.size() * 8, &holder, 1) == 0 ? 0 : RUNTIME_ERROR;
}

} // namespace operators
} // namespace jumar

#endif
