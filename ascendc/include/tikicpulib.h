// Kernel tests on the CPU: kernels are called directly, in this process, without a stream.
#ifndef JUMAR_TIKICPULIB_H
#define JUMAR_TIKICPULIB_H

// The headers distinguish the chip and the mode of the CPU by macros, as kernels do.
#ifndef ASCENDC_CPU_DEBUG
#define ASCENDC_CPU_DEBUG 1
#endif

#include <map>
#include <mutex>

#include "kernel_operator.h"

namespace jumar {
namespace ascendc {

// The cores that SetKernelMode selects.
inline LayoutFound& cores_of_tests()
{
    static LayoutFound cores{{false, 1}, LayoutSource::UNKNOWN};
    return cores;
}

// Memory that GmAlloc has allocated: addresses and sizes.
struct TestMemory {
    std::mutex lock;
    std::map<uintptr_t, size_t> sizes;

    static TestMemory& all()
    {
        static TestMemory memory;
        return memory;
    }
    static bool find(const void* address, jumar_memory_extent* found)
    {
        const uintptr_t at = reinterpret_cast<uintptr_t>(address);
        TestMemory& memory = all();
        const std::lock_guard<std::mutex> guard(memory.lock);
        auto next = memory.sizes.upper_bound(at);
        if (next == memory.sizes.begin()) return false;
        const auto& [begin, bytes] = *--next;
        if (at >= begin + bytes) return false;
        // As on a card, what the size is rounded to may be used.
        *found = {begin, begin + (bytes + 63) / 64 * 64, begin + bytes};
        return true;
    }
};

// Runs the blocks of a kernel. A block that fails ends the process with what it reported, as a failed test.
template <typename Body> inline void run_on_cpu(const char* kernel, uint32_t blocks, Body run)
{
    const BlockBody body = run;
    const BlockFailed failed = [kernel, blocks](uint32_t block, const char* text) {
        std::fprintf(stderr, "kernel \"%s\" failed in block %u of %u: %s\n", kernel, block, blocks, text);
        std::abort();
    };
    run_blocks(0, blocks, blocks, true, body, failed, cores_of_tests(), {&TestMemory::find, nullptr});
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

inline void* GmAlloc(size_t bytes)
{
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) std::abort();
    std::memset(memory, 0xa5, bytes);
    auto& all = jumar::ascendc::TestMemory::all();
    const std::lock_guard<std::mutex> guard(all.lock);
    all.sizes[reinterpret_cast<uintptr_t>(memory)] = bytes;
    return memory;
}
inline void GmFree(void* memory)
{
    if (!memory) return;
    auto& all = jumar::ascendc::TestMemory::all();
    const std::lock_guard<std::mutex> guard(all.lock);
    if (all.sizes.erase(reinterpret_cast<uintptr_t>(memory)) == 0) {
        std::fprintf(stderr, "GmFree: GmAlloc has not returned %p, or it was freed\n", memory);
        std::abort();
    }
    std::free(memory);
}
// MIX_MODE leaves the choice to the kernel's type.
inline void SetKernelMode(KernelMode mode)
{
    using namespace jumar::ascendc;
    const CoreLayout cores = layout_of(mode == KernelMode::AIC_MODE ? KERNEL_TYPE_AIC_ONLY : KERNEL_TYPE_AIV_ONLY);
    cores_of_tests() = {cores, mode == KernelMode::MIX_MODE ? LayoutSource::UNKNOWN : LayoutSource::KERNEL_TYPE_OF_KEY};
}

} // namespace AscendC

// Tests write KernelMode::AIV_MODE without the namespace.
using AscendC::KernelMode;

#define ICPU_RUN_KF(kernel, blocks, ...) jumar::ascendc::run_on_cpu(#kernel, static_cast<uint32_t>(blocks), [&] { kernel(__VA_ARGS__); })
#define ICPU_SET_TILING_KEY(key) (jumar::ascendc::tiling_key = static_cast<uint64_t>(key))

#endif
