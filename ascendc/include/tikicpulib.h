// Kernel tests on the CPU: kernels are called directly, in this process, without a stream.
#ifndef JUMAR_TIKICPULIB_H
#define JUMAR_TIKICPULIB_H

#ifndef __global__
#define __global__
#endif
#include "kernel_operator.h"

namespace jumar {
namespace ascendc {

// Runs the blocks of a kernel. A block that fails ends the process with what it reported, as a failed test.
template <typename Body> inline void run_on_cpu(const char* kernel, uint32_t blocks, Body run)
{
    const BlockBody body = run;
    const BlockFailed failed = [kernel, blocks](uint32_t block, const char* text) {
        std::fprintf(stderr, "kernel \"%s\" failed in block %u of %u: %s\n", kernel, block, blocks, text);
        std::abort();
    };
    run_blocks(0, blocks, blocks, true, body, failed);
}

} // namespace ascendc
} // namespace jumar

namespace AscendC {

inline void* GmAlloc(size_t bytes)
{
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) std::abort();
    std::memset(memory, 0xa5, bytes);
    return memory;
}
inline void GmFree(void* memory)
{
    std::free(memory);
}
// Kernels run for vector cores in every mode.
inline void SetKernelMode(KernelMode) {}

} // namespace AscendC

#define ICPU_RUN_KF(kernel, blocks, ...) jumar::ascendc::run_on_cpu(#kernel, static_cast<uint32_t>(blocks), [&] { kernel(__VA_ARGS__); })
#define ICPU_SET_TILING_KEY(key) (jumar::ascendc::tiling_key = static_cast<uint64_t>(key))

#endif
