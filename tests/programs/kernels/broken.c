/* Kernels that do not come to a good end. */
#include "jumar/kernel.h"

/* Copies, and says that it failed. */
void spoils(const float *x, float *y, uint32_t n)
{
    uint32_t i;
    for (i = 0; i < n; i++) y[i] = x[i] + 1;
    jumar_kernel_fail(5, "spoilt");
}
JUMAR_KERNEL(spoils, const float *, float *, uint32_t)

/* One of its blocks writes to the address that it receives, which is unmapped. */
void strays(uint64_t where)
{
    if (get_block_idx() == 3) *(volatile char *)(uintptr_t)where = 1;
}
JUMAR_KERNEL(strays, uint64_t)

void divides(int32_t x, int32_t y)
{
    volatile int32_t zero = y;
    volatile int32_t result = x / zero;
    (void)result;
}
JUMAR_KERNEL(divides, int32_t, int32_t)
