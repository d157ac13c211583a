// Launches: kernel<<<blocks, l2, stream>>>(arguments...), after the rewriter, and aclrtlaunch_<kernel>.
#ifndef JUMAR_ASCENDC_LAUNCH_H
#define JUMAR_ASCENDC_LAUNCH_H

#include <tuple>

#include "acl/acl_rt.h"
#include "fibers.h"
#include "jumar/kernel.h"

namespace jumar {
namespace ascendc {

// Queues a kernel as a task of the stream. Returns the code of the interface, 0 if the task was queued.
inline uint32_t queue_kernel(const jumar_kernel_object& kernel, uint32_t blocks, void* stream, const void* arguments, size_t bytes)
{
    aclrtFuncHandle handle = nullptr;
    int32_t code = aclrtGetFuncBySymbol(&kernel, &handle);
    if (code == 0)
        code = aclrtLaunchKernelWithHostArgs(handle, blocks, stream, nullptr, const_cast<void*>(arguments), bytes, nullptr, 0);
    return static_cast<uint32_t>(code);
}

// The function of a launch: a lambda without captures that the rewriter made around the callee.
template <typename Function> inline const Function*& function_of_launch()
{
    static const Function* function = nullptr;
    return function;
}

template <typename Function, typename... P> inline void call_kernel(P... values)
{
    (*function_of_launch<Function>())(values...);
}

// Runs the blocks of one call of the runtime.
template <typename Values, typename Call> inline void run_launch(jumar_launch* launch, bool together, Call* call)
{
    jumar_launch* outer = jumar_current;
    jumar_current = launch;
    const unsigned char* arguments = launch->arguments;
    const BlockBody body = [arguments, call] { Values::call(call, arguments); };
    const BlockFailed failed = [launch](uint32_t block, const char* text) {
        launch->block = block;
        jumar_kernel_fail(1, text);
    };
    const uint32_t blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    run_blocks(launch->begin, launch->end, blocks, together, body, failed);
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

template <bool together, typename Function, typename... P> struct Launch {
    using Values = jumar::kernel::Unpack<P...>;

    static void run(jumar_launch* launch) { run_launch<Values>(launch, together, &call_kernel<Function, P...>); }
    static const jumar_kernel_object& object(const char* name)
    {
        static const jumar_kernel_object object = {JUMAR_KERNEL_MAGIC, name, describe<Values, together, sizeof...(P)>(&run)};
        return object;
    }
};

// Puts a value into the argument block, where each begins at a multiple of 8 bytes.
template <typename T> inline void append_argument(unsigned char*& at, const T& value)
{
    std::memcpy(at, static_cast<const void*>(&value), sizeof value);
    at += jumar::kernel::slot(sizeof(T));
}

template <bool together, typename Function> class Pending {
public:
    Pending(const char* name, const Function& function, uint32_t blocks, void* stream) : name_(name), blocks_(blocks), stream_(stream)
    {
        static const Function kept = function;
        function_of_launch<Function>() = &kept;
    }
    template <typename... A> uint32_t operator()(A&&... arguments) const { return queue<std::decay_t<A>...>(arguments...); }

private:
    template <typename... P> uint32_t queue(const P&... values) const
    {
        constexpr size_t bytes = (size_t(8) + ... + jumar::kernel::slot(sizeof(P)));
        alignas(8) unsigned char block[bytes] = {};
        [[maybe_unused]] unsigned char* at = block;
        (append_argument(at, values), ...);
        return queue_kernel(Launch<together, Function, P...>::object(name_), blocks_, stream_, block, bytes);
    }
    const char* name_;
    uint32_t blocks_;
    void* stream_;
};

// What kernel<<<blocks, l2, stream>>> becomes. The second value, bytes of dynamic local memory, has no effect.
template <bool together, typename Function, typename Blocks>
inline Pending<together, Function> launch(const char* name, const Function& function, Blocks blocks)
{
    return {name, function, static_cast<uint32_t>(blocks), nullptr};
}
template <bool together, typename Function, typename Blocks, typename Local>
inline Pending<together, Function> launch(const char* name, const Function& function, Blocks blocks, Local&&, void* stream = nullptr)
{
    return {name, function, static_cast<uint32_t>(blocks), stream};
}

// With HAVE_WORKSPACE the last parameter, or with HAVE_TILING the one before it, is the workspace.
template <typename... P> inline void take_workspace([[maybe_unused]] P... values)
{
#ifdef HAVE_WORKSPACE
#ifdef HAVE_TILING
    constexpr size_t behind = 2;
#else
    constexpr size_t behind = 1;
#endif
    if constexpr (sizeof...(P) >= behind) {
        auto all = std::make_tuple(values...);
        AscendC::SetSysWorkspace((GM_ADDR)std::get<sizeof...(P) - behind>(all));
    }
#endif
}

// What aclrtlaunch_<kernel> and kernel binaries call: the kernel's own parameter types decide.
template <bool together, auto function> struct Entry;
template <bool together, typename... P, void (*function)(P...)> struct Entry<together, function> {
    using Values = jumar::kernel::Unpack<P...>;

    static void call(P... values)
    {
        take_workspace(values...);
        function(values...);
    }
    static void run(jumar_launch* launch) { run_launch<Values>(launch, together, &call); }
    static jumar_kernel_info info() { return describe<Values, together, sizeof...(P)>(&run); }
    template <typename... A> static uint32_t queue(const char* name, uint32_t blocks, void* stream, A... arguments)
    {
        static const jumar_kernel_object object = {JUMAR_KERNEL_MAGIC, name, info()};
        constexpr size_t bytes = (size_t(8) + ... + jumar::kernel::slot(sizeof(P)));
        alignas(8) unsigned char block[bytes] = {};
        [[maybe_unused]] unsigned char* at = block;
        (append_argument<P>(at, (P)arguments), ...);
        return queue_kernel(object, blocks, stream, block, bytes);
    }
};

} // namespace ascendc
} // namespace jumar

#endif
