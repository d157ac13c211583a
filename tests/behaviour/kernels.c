/* The kernels of the table's cases, as a program's author writes them. */
#include "jumar/kernel.h"

/* z = x + y, shared among the blocks. */
void add(const float *x, const float *y, float *z, uint32_t n)
{
    uint32_t i;
    for (i = get_block_idx(); i < n; i += get_block_num()) z[i] = x[i] + y[i];
}
JUMAR_KERNEL(add, const float *, const float *, float *, uint32_t)

/* Each block writes its number, and how many there are. */
void blocks(int64_t *out)
{
    out[2 * get_block_idx()] = get_block_idx();
    out[2 * get_block_idx() + 1] = get_block_num();
}
JUMAR_KERNEL(blocks, int64_t *)

/* Fails with the status in every block from the given one on. */
void fails(uint32_t from, int32_t status)
{
    if (get_block_idx() >= from) jumar_kernel_fail(status, "as the test asked");
}
JUMAR_KERNEL(fails, uint32_t, int32_t)

/* Divides, so that a test can let a result be infinite. */
void divide(float x, float y, float *z)
{
    *z = x / y;
}
JUMAR_KERNEL(divide, float, float, float *)

/* Copies what a placeholder points to. */
void copies(const int64_t *from, int64_t *to, uint32_t n)
{
    uint32_t i;
    for (i = 0; i < n; i++) to[i] = from[i];
}
JUMAR_KERNEL(copies, const int64_t *, int64_t *, uint32_t)

/* One value a thread: its number among all threads. */
void threads(int64_t *out)
{
    jumar_index block = jumar_block_index(), thread = jumar_thread_index(), group = jumar_group_size();
    uint32_t at = (block.x * group.x + thread.x) + 100 * (block.y * group.y + thread.y);
    out[block.x * group.x + thread.x] = at;
    ((char *)jumar_local_memory())[jumar_local_bytes() - 1] = 1;
}
JUMAR_SIMT_KERNEL(threads, int64_t *)

void nothing(void)
{
}
JUMAR_KERNEL(nothing)

/* Without a description: it gets the argument block as it is. */
void plain(const void *arguments, uint64_t bytes, uint32_t block, uint32_t blocks)
{
    int64_t *out;
    memcpy(&out, arguments, sizeof out);
    out[block] = (int64_t)(bytes * 100 + blocks);
}

/* For the device's own CPU. */
uint32_t on_cpu(void *arguments)
{
    int64_t *out;
    memcpy(&out, arguments, sizeof out);
    out[0] += 7;
    return 0;
}

uint32_t fails_on_cpu(void *arguments)
{
    (void)arguments;
    return 3;
}

/* Variables of the binary. */
int64_t scale[4] = {5, 6, 7, 8};

JUMAR_DEVICE_VARIABLE(scale)

void scaled(int64_t *out)
{
    *out = scale[1];
}
JUMAR_KERNEL(scaled, int64_t *)
