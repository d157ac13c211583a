// A custom operator: y = a * x + y, shared among the blocks of a launch.
#include "jumar/kernel.h"

extern "C" void axpy(float a, const float *x, float *y, uint32_t n)
{
    // Each block takes a stretch of its own.
    uint32_t per_block = (n + get_block_num() - 1) / get_block_num();
    uint32_t begin = get_block_idx() * per_block;
    uint32_t end = begin + per_block < n ? begin + per_block : n;
    for (uint32_t i = begin; i < end; i++) y[i] += a * x[i];
    if (a != a) jumar_kernel_fail(22, "a is not a number");
}
JUMAR_KERNEL(axpy)
