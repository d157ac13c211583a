// Launches: kernel<<<blocks, l2, stream>>>(arguments...), after the rewriter, and aclrtlaunch_<kernel>.
#ifndef JUMAR_ASCENDC_LAUNCH_H
#define JUMAR_ASCENDC_LAUNCH_H

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <typeinfo>

#include "field_names_begin.h"
#include "acl/acl_rt.h"
#include "field_names_end.h"
#include "fibers.h"
#include "jumar/kernel.h"

namespace jumar {
namespace ascendc {

// Waits until the stream has come here, so that what a kernel prints is there when its launch returns: programs destroy the stream by force
// next. The stream keeps its errors for the program, and a stream that is captured has nothing to wait for. Under `jumar check` the launch
// does not wait: the order that the wait makes is not the program's, and would hide its races.
inline void wait_for_output(void* stream)
{
    const char* checks = std::getenv("JUMAR_CHECK");
    if (checks && *checks && std::strcmp(checks, "0") != 0) return;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    if (stream && (aclmdlRICaptureGetInfo(stream, &status, &model) != 0 || status != ACL_MODEL_RI_CAPTURE_STATUS_NONE)) return;
    aclrtEvent event = nullptr;
    if (aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) != 0) return;
    if (aclrtRecordEvent(event, stream) == 0) static_cast<void>(aclrtSynchronizeEvent(event));
    static_cast<void>(aclrtDestroyEvent(event));
}

// Queues a kernel as a task of the stream. Returns the code of the interface, 0 if the task was queued.
inline uint32_t queue_kernel(const jumar_kernel_object& kernel, uint32_t blocks, void* stream, const void* arguments, size_t bytes)
{
    aclrtFuncHandle handle = nullptr;
    int32_t code = aclrtGetFuncBySymbol(&kernel, &handle);
    if (code == 0)
        code = aclrtLaunchKernelWithHostArgs(handle, blocks, stream, nullptr, const_cast<void*>(arguments), bytes, nullptr, 0);
    if (code == 0 && object_prints) wait_for_output(stream);
    return static_cast<uint32_t>(code);
}

// Calls the function of a launch, a lambda without captures that the rewriter made around the callee. It has no state, so any object of its
// type will do.
template <typename Function, typename... TypeP> inline void call_kernel(TypeP... values)
{
    alignas(Function) static const unsigned char storage[sizeof(Function)] = {};
    (*reinterpret_cast<const Function*>(storage))(values...);
}

// Runs a block with the arguments of the launch that the thread works on.
using CoreCode = void (*)();

// The code of a kernel for the kinds of cores.
struct KernelCode {
    CoreCode vector, cube;
};

// A launch in the source. The driver lists the functions `run` of a pass in the pass's table, by the names of the types.
template <typename Function, typename... TypeP> struct LaunchSite {
#if JUMAR_ASCENDC_PASS != JUMAR_ASCENDC_HOST
    __attribute__((used)) static void run() { jumar::kernel::Unpack<TypeP...>::call(&call_kernel<Function, TypeP...>, jumar_current->arguments); }
#endif
};

#if JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_VECTOR_AND_HOST || JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_HOST
// A row of the table of a pass. The last one has no key.
struct PassKernel {
    const char* key;
    CoreCode run;
};
#define JUMAR_ASCENDC_GLUE(a, b) a##b
#define JUMAR_ASCENDC_TABLE(kind, unit) JUMAR_ASCENDC_GLUE(kind, unit)
extern "C" __attribute__((visibility("hidden"))) const PassKernel JUMAR_ASCENDC_TABLE(jumar_cube_, JUMAR_ASCENDC_UNIT)[];
#if JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_HOST
extern "C" __attribute__((visibility("hidden"))) const PassKernel JUMAR_ASCENDC_TABLE(jumar_vector_, JUMAR_ASCENDC_UNIT)[];
#endif

inline CoreCode code_in(const PassKernel* table, const char* key)
{
    for (; table->key; table++)
        if (std::strcmp(table->key, key) == 0) return table->run;
    return [] { fail(Site{"kernel", 0}, "the source has no code of the kernel for this kind of core; the launch has to be visible in each pass (docs/ascendc.md)"); };
}
#endif

// Returns the code of a launch or a kernel.
template <typename Where> inline KernelCode code_of()
{
#if JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_VECTOR_AND_HOST
    static const CoreCode cube = code_in(JUMAR_ASCENDC_TABLE(jumar_cube_, JUMAR_ASCENDC_UNIT), typeid(Where).name());
    return {&Where::run, cube};
#elif JUMAR_ASCENDC_PASS == JUMAR_ASCENDC_HOST
    static const CoreCode cube = code_in(JUMAR_ASCENDC_TABLE(jumar_cube_, JUMAR_ASCENDC_UNIT), typeid(Where).name());
    static const CoreCode vector = code_in(JUMAR_ASCENDC_TABLE(jumar_vector_, JUMAR_ASCENDC_UNIT), typeid(Where).name());
    return {vector, cube};
#else
    return {&Where::run, &Where::run};
#endif
}

// What a kernel's argument points to, as the runtime knows it.
enum class Home { USABLE, NOWHERE, OTHER_DEVICE };

// Finds out what an address is. `device` is that of the launch, and becomes that of the memory.
inline Home home_of(const void* address, uint32_t& device)
{
    aclrtPtrAttributes attributes{};
    // A runtime that has ended, or another error, says nothing about the address.
    if (aclrtPointerGetAttributes(address, &attributes) != 0) return Home::USABLE;
    if (attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED) return Home::NOWHERE;
    if (attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE || attributes.location.id == device) return Home::USABLE;
    int32_t has_access = 0;
    if (aclrtDevicePeerAccessStatus(static_cast<int32_t>(device), static_cast<int32_t>(attributes.location.id), &has_access) != 0 || has_access)
        return Home::USABLE;
    device = attributes.location.id;
    return Home::OTHER_DEVICE;
}

// Fails a launch because the device of its stream cannot use an argument. `device` is that of the memory.
inline void refuse_address(jumar_launch* launch, const char* what, Home home, uint32_t device)
{
    char text[sizeof launch->message];
    if (home == Home::NOWHERE) {
        std::snprintf(text, sizeof text, "%s is an address in no allocated memory of a device; it was freed, or is one of the host", what);
    } else {
        std::snprintf(text, sizeof text, "%s is memory of device %u, and its stream is one of device %u, which has no access to it (aclrtDeviceEnablePeerAccess)",
                      what, device, launch->device);
    }
    jumar_launch* outer = jumar_current;
    jumar_current = launch;
    jumar_kernel_fail(1, text);
    jumar_current = outer;
}

// Returns whether an address is in the argument block: what stands there belongs to the launch.
inline bool is_in_block(const jumar_launch* launch, const void* address)
{
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(launch->arguments) < launch->argument_bytes;
}

// Fails a launch one of whose first arguments is an address that the device of its stream cannot use. Returns whether it may run.
template <typename... TypeP> inline bool has_usable_addresses([[maybe_unused]] jumar_launch* launch, [[maybe_unused]] size_t checked = sizeof...(TypeP))
{
#if JUMAR_ASCENDC_CHECK
    const unsigned char* at = launch->arguments;
    size_t number = 0, wrong = 0;
    Home home = Home::USABLE;
    uint32_t device = launch->device;
    [[maybe_unused]] auto check = [&](bool is_address, size_t size) {
        const void* address = nullptr;
        if (is_address && number < checked) std::memcpy(&address, at, sizeof address);
        at += jumar::kernel::slot(size);
        number++;
        if (home == Home::USABLE && address && !is_in_block(launch, address)) {
            home = home_of(address, device);
            wrong = number - 1;
        }
    };
    (check(std::is_pointer_v<TypeP>, sizeof(TypeP)), ...);
    if (home == Home::USABLE) return true;
    char what[64];
    std::snprintf(what, sizeof what, "argument %zu of the launch", wrong);
    refuse_address(launch, what, home, device);
    return false;
#else
    return true;
#endif
}

// Does the same for the tensors of the lists among the first arguments of a custom operator. Tensors without elements are not used.
inline bool has_usable_lists([[maybe_unused]] jumar_launch* launch, [[maybe_unused]] size_t checked, [[maybe_unused]] const char* type)
{
#if JUMAR_ASCENDC_CHECK
    for (size_t number = 0; number < checked; number++) {
        const uint64_t* words = nullptr;
        std::memcpy(&words, launch->arguments + number * 8, sizeof words);
        if (!is_in_block(launch, words)) continue;
        // The list as ListTensorDesc reads it. The parameter's name stands behind the addresses.
        const uint64_t* const addresses = words + words[0] / 8;
        size_t count = 0;
        for (const uint64_t* at = words + 1; at < addresses; at += 1 + (*at & 0xffffffff)) count++;
        const char* const name = reinterpret_cast<const char*>(addresses + count);
        const uint64_t* shape = words + 1;
        for (size_t index = 0; index < count; index++) {
            const uint64_t rank = *shape++ & 0xffffffff;
            const bool is_empty = std::find(shape, shape + rank, uint64_t(0)) != shape + rank;
            shape += rank;
            uint32_t device = launch->device;
            const Home home = is_empty ? Home::USABLE : home_of(reinterpret_cast<const void*>(addresses[index]), device);
            if (home == Home::USABLE) continue;
            char what[100];
            std::snprintf(what, sizeof what, "%.40s[%zu] of %.40s", name, index, type);
            refuse_address(launch, what, home, device);
            return false;
        }
    }
#endif
    return true;
}

// Part of libascendcl, and not of the C interface.
extern "C" bool jumar_find_memory(const void* address, jumar_memory_extent* extent);

// Returns how many cores of a kind the device of the launch has that the thread works on; 0: the runtime does not say.
inline uint32_t count_cores(AscendC::CoreType type)
{
    int64_t count = 0;
    const aclrtDevAttr attribute = type == AscendC::AIC ? ACL_DEV_ATTR_CUBE_CORE_NUM : ACL_DEV_ATTR_VECTOR_CORE_NUM;
    return aclrtGetDeviceInfo(jumar_current->device, attribute, &count) == 0 && count > 0 ? static_cast<uint32_t>(count) : 0;
}

// Runs the blocks of one call of the runtime.
inline void run_launch(jumar_launch* launch, bool together, KernelCode code)
{
    jumar_launch* outer = jumar_current;
    jumar_current = launch;
    const BlockBody body = [code] { (core_type() == AscendC::AIC ? code.cube : code.vector)(); };
    const BlockFailed failed = [launch](uint32_t block, const char* text) {
        launch->block = block;
        jumar_kernel_fail(1, text);
    };
    const uint32_t blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    launch->on_fault = &leave_block;
    run_blocks(launch->begin, launch->end, blocks, together, body, failed, {{false, 1}, LayoutSource::UNKNOWN}, {&jumar_find_memory, &count_cores});
    launch->on_fault = nullptr;
    jumar_current = outer;
}

// Describes a kernel and its parameters.
template <typename Values, bool together, size_t count> inline jumar_kernel_info describe(void (*run)(jumar_launch*))
{
    static jumar_parameter parameters[count + 1] = {};
    Values::describe(parameters, 0);
    return {JUMAR_KERNEL_VERSION,
            together || JUMAR_ASCENDC_CHECK >= 2 ? static_cast<uint32_t>(JUMAR_KERNEL_TOGETHER) : static_cast<uint32_t>(JUMAR_KERNEL_CORES),
            static_cast<uint32_t>(count),
            static_cast<uint32_t>(sizeof(jumar_launch)),
            parameters,
            run};
}

template <bool together, typename Function, typename... TypeP> struct Launch {
    using Values = jumar::kernel::Unpack<TypeP...>;

    static void run(jumar_launch* launch)
    {
        if (has_usable_addresses<TypeP...>(launch)) run_launch(launch, together, code_of<LaunchSite<Function, TypeP...>>());
    }
    static const jumar_kernel_object& object(const char* name)
    {
        static const jumar_kernel_object object = {JUMAR_KERNEL_MAGIC, name, describe<Values, together, sizeof...(TypeP)>(&run)};
        return object;
    }
};

// Puts a value into the argument block, where each begins at a multiple of 8 bytes.
template <typename TypeT> inline void append_argument(unsigned char*& at, const TypeT& value)
{
    std::memcpy(at, static_cast<const void*>(&value), sizeof value);
    at += jumar::kernel::slot(sizeof(TypeT));
}

template <bool together, typename Function> class Pending {
public:
    Pending(const char* name, uint32_t blocks, void* stream) : name_(name), blocks_(blocks), stream_(stream) {}
    template <typename... TypeA> uint32_t operator()(TypeA&&... arguments) const { return queue<std::decay_t<TypeA>...>(arguments...); }

private:
    template <typename... TypeP> uint32_t queue(const TypeP&... values) const
    {
        constexpr size_t bytes = (size_t(8) + ... + jumar::kernel::slot(sizeof(TypeP)));
        alignas(8) unsigned char block[bytes] = {};
        [[maybe_unused]] unsigned char* at = block;
        (append_argument(at, values), ...);
        return queue_kernel(Launch<together, Function, TypeP...>::object(name_), blocks_, stream_, block, bytes);
    }
    const char* name_;
    uint32_t blocks_;
    void* stream_;
};

// What kernel<<<blocks, l2, stream>>> becomes. The second value, bytes of dynamic local memory, has no effect.
template <bool together, typename Function, typename Blocks>
inline Pending<together, Function> launch(const char* name, const Function&, Blocks blocks)
{
    return {name, static_cast<uint32_t>(blocks), nullptr};
}
template <bool together, typename Function, typename Blocks, typename Local>
inline Pending<together, Function> launch(const char* name, const Function&, Blocks blocks, Local&&, void* stream = nullptr)
{
    return {name, static_cast<uint32_t>(blocks), stream};
}

// With HAVE_WORKSPACE the last parameter, or with HAVE_TILING the one before it, is the workspace.
template <typename... TypeP> inline void take_workspace([[maybe_unused]] TypeP... values)
{
#ifdef HAVE_WORKSPACE
#ifdef HAVE_TILING
    constexpr size_t behind = 2;
#else
    constexpr size_t behind = 1;
#endif
    if constexpr (sizeof...(TypeP) >= behind) {
        auto all = std::make_tuple(values...);
        AscendC::SetSysWorkspace((GM_ADDR)std::get<sizeof...(TypeP) - behind>(all));
    }
#endif
}

// A kernel that is named by its function: the kernel's own parameter types decide.
template <auto function> struct KernelSite;
template <typename... TypeP, void (*function)(TypeP...)> struct KernelSite<function> {
#if JUMAR_ASCENDC_PASS != JUMAR_ASCENDC_HOST
    static void call(TypeP... values)
    {
        take_workspace(values...);
        function(values...);
    }
    __attribute__((used)) static void run() { jumar::kernel::Unpack<TypeP...>::call(&call, jumar_current->arguments); }
#endif
};

// What aclrtlaunch_<kernel> and kernel binaries call.
template <bool together, auto function> struct Entry;
template <bool together, typename... TypeP, void (*function)(TypeP...)> struct Entry<together, function> {
    using Values = jumar::kernel::Unpack<TypeP...>;

    static void run(jumar_launch* launch)
    {
        if (has_usable_addresses<TypeP...>(launch)) run_launch(launch, together, code_of<KernelSite<function>>());
    }
    static jumar_kernel_info info() { return describe<Values, together, sizeof...(TypeP)>(&run); }
    template <typename... TypeA> static uint32_t queue(const char* name, uint32_t blocks, void* stream, TypeA... arguments)
    {
        static const jumar_kernel_object object = {JUMAR_KERNEL_MAGIC, name, info()};
        constexpr size_t bytes = (size_t(8) + ... + jumar::kernel::slot(sizeof(TypeP)));
        alignas(8) unsigned char block[bytes] = {};
        [[maybe_unused]] unsigned char* at = block;
        (append_argument<TypeP>(at, (TypeP)arguments), ...);
        return queue_kernel(object, blocks, stream, block, bytes);
    }
};

// A kernel of a custom operator: behind the kernel's own arguments, the last of which is the address of the tiling data, stand the tiling
// key and the number of bytes of the tiling data.
template <auto function> struct OperatorSite;
template <typename... TypeP, void (*function)(TypeP...)> struct OperatorSite<function> {
    static constexpr size_t TILING = (size_t(0) + ... + jumar::kernel::slot(sizeof(TypeP)));

    static void run(const CoreCode code)
    {
        Core& self = core();
        const unsigned char* behind = jumar_current->arguments + TILING;
        std::memcpy(&self.tiling, behind - 8, 8);
        std::memcpy(&self.tiling_key, behind, 8);
        std::memcpy(&self.tiling_bytes, behind + 8, 8);
        self.has_tiling = true;
        code();
    }
};
template <bool together, auto function> struct OperatorEntry;
template <bool together, typename... TypeP, void (*function)(TypeP...)> struct OperatorEntry<together, function> {
    using Values = jumar::kernel::Unpack<TypeP..., uint64_t, uint64_t>;
    static_assert(sizeof...(TypeP) >= 2 && (... && std::is_pointer_v<TypeP>), "the parameters of a custom operator's kernel are addresses; the last ones are the workspace and the tiling data");

    static void run(jumar_launch* launch)
    {
        static const KernelCode code = code_of<KernelSite<function>>();
        // The tiling data lies in the host's memory.
        if (!has_usable_addresses<TypeP...>(launch, sizeof...(TypeP) - 1) || !has_usable_lists(launch, sizeof...(TypeP) - 2, type)) return;
        run_launch(launch, together, {[] { OperatorSite<function>::run(code.vector); }, [] { OperatorSite<function>::run(code.cube); }});
    }
    static const jumar_kernel_object* object(const char* name)
    {
        static const jumar_kernel_object object = {JUMAR_KERNEL_MAGIC, type = name, describe<Values, together, sizeof...(TypeP) + 2>(&run)};
        return &object;
    }

private:
    // The operator, once a call has asked for its kernel.
    static inline const char* type = "";
};

// What a launch of a kernel becomes that another pass defines.
template <bool together, auto function> class PendingKernel {
public:
    PendingKernel(const char* name, uint32_t blocks, void* stream) : name_(name), blocks_(blocks), stream_(stream) {}
    template <typename... TypeA> uint32_t operator()(TypeA... arguments) const
    {
        return Entry<together, function>::queue(name_, blocks_, stream_, arguments...);
    }

private:
    const char* name_;
    uint32_t blocks_;
    void* stream_;
};
template <bool together, auto function, typename Blocks> inline PendingKernel<together, function> launch_kernel(const char* name, Blocks blocks)
{
    return {name, static_cast<uint32_t>(blocks), nullptr};
}
template <bool together, auto function, typename Blocks, typename Local>
inline PendingKernel<together, function> launch_kernel(const char* name, Blocks blocks, Local&&, void* stream = nullptr)
{
    return {name, static_cast<uint32_t>(blocks), stream};
}

} // namespace ascendc
} // namespace jumar

#endif
