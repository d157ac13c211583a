/*
 * The runtime of Triton's kernels. It is linked into each kernel's binary: local memory, copies between views, and the functions that
 * triton-ascend leaves to the card's compiler (scans, sorting, gathering, products of matrices, printing, assertions).
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A view of memory, as MLIR passes it. */
typedef struct View {
    char *base;
    char *data;
    int64_t offset;
    int64_t extents[]; /* as many as there are axes, and then as many strides */
} View;

enum { MOST_AXES = 16, CLASSES = 48 };

/* Local memory: a list of what is in use, and what was released by its class, a power of two. */
typedef struct Buffer {
    struct Buffer *next, *previous;
    uint64_t class;
    char unused[40];
} Buffer;

typedef struct Program {
    struct Program *outer;
    jumar_launch *launch;
    const char *name;
    Buffer used;
    Buffer *released[CLASSES];
    int32_t position[3];
    sigjmp_buf left;
    int32_t signal;
    uint64_t address;
} Program;

static __thread Program *current;

static void leave_with(const char *message)
{
    jumar_kernel_fail(1, message);
    current->signal = 0;
    siglongjmp(current->left, 1);
}

void *_mlir_memref_to_llvm_alloc(uint64_t bytes)
{
    unsigned class = 6;
    Buffer *buffer;
    while (class < CLASSES - 1 && ((uint64_t)1 << class) < bytes) class ++;
    buffer = current->released[class];
    if (buffer) {
        current->released[class] = buffer->next;
    } else {
        buffer = class < CLASSES - 1 ? aligned_alloc(64, sizeof *buffer + ((uint64_t)1 << class)) : NULL;
        if (!buffer) {
            char text[120];
            snprintf(text, sizeof text, "there is no memory for %llu bytes of local memory", (unsigned long long)bytes);
            leave_with(text);
        }
        buffer->class = class;
    }
    buffer->next = current->used.next;
    buffer->previous = &current->used;
    current->used.next->previous = buffer;
    current->used.next = buffer;
    return buffer + 1;
}

void _mlir_memref_to_llvm_free(void *memory)
{
    Buffer *buffer = (Buffer *)memory - 1;
    if (!memory) return;
    buffer->previous->next = buffer->next;
    buffer->next->previous = buffer->previous;
    buffer->next = current->released[buffer->class];
    current->released[buffer->class] = buffer;
}

static void release_all(Program *program)
{
    while (program->used.next != &program->used) _mlir_memref_to_llvm_free(program->used.next + 1);
}

static void free_all(Program *program)
{
    int class;
    release_all(program);
    for (class = 0; class < CLASSES; class ++) {
        while (program->released[class]) {
            Buffer *next = program->released[class]->next;
            free(program->released[class]);
            program->released[class] = next;
        }
    }
}

/* Leaves a program of the grid that has a fault. */
static void on_fault(jumar_launch *launch, int32_t signal, uint64_t address)
{
    (void)launch;
    if (!current) return;
    current->signal = signal;
    current->address = address;
    siglongjmp(current->left, 1);
}

static void report_fault(const Program *program)
{
    char text[200];
    switch (program->signal) {
    case 0: return;
    case SIGSEGV:
    case SIGBUS:
        snprintf(text, sizeof text, "program (%d, %d, %d) accessed the address 0x%llx, where no memory is; check its masks and offsets",
                 program->position[0], program->position[1], program->position[2], (unsigned long long)program->address);
        break;
    case SIGILL:
        snprintf(text, sizeof text, "its code is for another processor; remove Triton's cache (~/.triton/cache)");
        break;
    default: snprintf(text, sizeof text, "program (%d, %d, %d) raised signal %d", program->position[0], program->position[1], program->position[2], program->signal);
    }
    jumar_kernel_fail(1, text);
}

/* Runs one program of the grid up to its end or a fault. */
static __attribute__((noinline)) void run_one(Program *program, jumar_triton_program function)
{
    if (sigsetjmp(program->left, 0) == 0) {
        function(program->launch->arguments, program->position[0], program->position[1], program->position[2]);
    } else {
        report_fault(program);
    }
    release_all(program);
}

/* Runs the programs of the grid that fall to some blocks. The grid's extents are arguments. A launch may have fewer blocks than there
 * are programs. The last axis is the fastest. */
void jumar_triton_run(jumar_launch *launch, const char *name, jumar_triton_program function, uint32_t grid_at)
{
    Program program;
    jumar_launch *outer = jumar_current;
    int32_t grid[3];
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], programs, at;
    jumar_current = launch;
    launch->block = launch->begin;
    launch->thread = 0;
    if (launch->argument_bytes < grid_at + sizeof grid) {
        jumar_kernel_fail(1, "the block of arguments is shorter than the kernel's arguments");
        jumar_current = outer;
        return;
    }
    memcpy(grid, launch->arguments + grid_at, sizeof grid);
    programs = grid[0] > 0 && grid[1] > 0 && grid[2] > 0 ? (uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2] : 0;
    memset(&program, 0, sizeof program);
    program.outer = current;
    program.launch = launch;
    program.name = name;
    program.used.next = program.used.previous = &program.used;
    current = &program;
    launch->on_fault = on_fault;
    for (launch->block = launch->begin; launch->block < launch->end; launch->block++) {
        for (at = launch->block; at < programs; at += blocks) {
            program.position[2] = (int32_t)(at % (uint64_t)grid[2]);
            program.position[1] = (int32_t)(at / (uint64_t)grid[2] % (uint64_t)grid[1]);
            program.position[0] = (int32_t)(at / (uint64_t)grid[2] / (uint64_t)grid[1]);
            run_one(&program, function);
        }
    }
    launch->on_fault = NULL;
    free_all(&program);
    current = program.outer;
    jumar_current = outer;
}

/* Views. */

static int64_t bytes_of(int type)
{
    static const int8_t bytes[] = {1, 1, 2, 4, 8, 2, 2, 4, 8};
    return bytes[type];
}

static char *begin_of(const View *view, int64_t bytes)
{
    return view->data + view->offset * bytes;
}

static void copy_axes(int axes, const int64_t *extents, const int64_t *from_strides, const int64_t *to_strides, const char *from, char *to, int64_t bytes)
{
    int64_t i;
    if (axes == 0) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    if (axes == 1) {
        const int64_t a = from_strides[0] * bytes, b = to_strides[0] * bytes, n = extents[0];
        if (n <= 0) return;
        if (a == bytes && b == bytes) {
            memmove(to, from, (size_t)(n * bytes));
            return;
        }
        switch (bytes) {
        case 1:
            for (i = 0; i < n; i++) to[i * b] = from[i * a];
            return;
        case 2:
            for (i = 0; i < n; i++) memcpy(to + i * b, from + i * a, 2);
            return;
        case 4:
            for (i = 0; i < n; i++) memcpy(to + i * b, from + i * a, 4);
            return;
        case 8:
            for (i = 0; i < n; i++) memcpy(to + i * b, from + i * a, 8);
            return;
        default:
            for (i = 0; i < n; i++) memcpy(to + i * b, from + i * a, (size_t)bytes);
            return;
        }
    }
    for (i = 0; i < extents[0]; i++)
        copy_axes(axes - 1, extents + 1, from_strides + 1, to_strides + 1, from + i * from_strides[0] * bytes, to + i * to_strides[0] * bytes, bytes);
}

typedef struct Unranked {
    int64_t rank;
    View *view;
} Unranked;

void memrefCopy(int64_t bytes, const Unranked *from, const Unranked *to)
{
    const int axes = (int)from->rank;
    copy_axes(axes, from->view->extents, from->view->extents + axes, to->view->extents + axes, begin_of(from->view, bytes), begin_of(to->view, bytes),
              bytes);
}

/* Makes the memory of a result, with the extents of a source. */
static View *make(void *result, const View *like, int rank, int64_t bytes)
{
    View *view = result;
    int64_t elements = 1;
    int axis;
    for (axis = rank - 1; axis >= 0; axis--) {
        view->extents[axis] = like->extents[axis];
        view->extents[rank + axis] = elements;
        elements *= like->extents[axis];
    }
    view->base = view->data = _mlir_memref_to_llvm_alloc((uint64_t)(elements * bytes));
    view->offset = 0;
    return view;
}

/* Copies a view into new memory without gaps, and returns it with its strides. */
static View *compact(void *into, const View *view, int rank, int64_t bytes)
{
    View *made = make(into, view, rank, bytes);
    copy_axes(rank, view->extents, view->extents + rank, made->extents + rank, begin_of(view, bytes), made->data, bytes);
    return made;
}

typedef struct Space {
    View view;
    int64_t extents[2 * MOST_AXES];
} Space;

/* How the elements of an axis lie in compact memory: `outer` times `extent` times `inner`. */
typedef struct Axis {
    int64_t outer, extent, inner;
} Axis;

static Axis axis_of(const View *view, int rank, int64_t axis)
{
    Axis found = {1, 1, 1};
    int at;
    if (axis < 0) axis += rank;
    for (at = 0; at < rank; at++) {
        if (at < axis)
            found.outer *= view->extents[at];
        else if (at == axis)
            found.extent = view->extents[at];
        else
            found.inner *= view->extents[at];
    }
    return found;
}

/* Numbers. */

static float from_half(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, digits = bits & 1023, whole;
    float value;
    if (exponent == 0) {
        value = (float)digits * 0x1p-24f;
        return sign ? -value : value;
    }
    whole = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | digits << 13;
    memcpy(&value, &whole, 4);
    return value;
}

static uint16_t to_half(float value)
{
    uint32_t bits, sign, magnitude, rest;
    memcpy(&bits, &value, 4);
    sign = bits >> 16 & 0x8000;
    magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) {
        float scaled = fabsf(value) * 0x1p24f;
        return (uint16_t)(sign | (uint16_t)rintf(scaled));
    }
    rest = magnitude & 0x1fff;
    magnitude = (magnitude - 0x38000000) >> 13;
    if (rest > 0x1000 || (rest == 0x1000 && (magnitude & 1))) magnitude++;
    return (uint16_t)(sign | magnitude);
}

static float from_brain(uint16_t bits)
{
    uint32_t whole = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &whole, 4);
    return value;
}

static uint16_t to_brain(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (isnan(value)) return (uint16_t)(bits >> 16 | 64);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#if defined(__x86_64__)
/* The code generator calls these; the result is in the low half of the register for floats, where not every libgcc has it. */
typedef float Short __attribute__((vector_size(16)));
Short __truncsfbf2(float value)
{
    union {
        uint16_t bits[8];
        Short whole;
    } made = {{to_brain(value)}};
    return made.whole;
}

Short __truncdfbf2(double value)
{
    /* Rounding to odd in between makes the second rounding right. */
    float near = (float)value;
    uint32_t bits;
    if ((double)near != value && near == near) {
        memcpy(&bits, &near, 4);
        if (fabs((double)near) > fabs(value)) bits--;
        bits |= 1;
        memcpy(&near, &bits, 4);
    }
    return __truncsfbf2(near);
}
#endif

static double number(int type, const void *at)
{
    int64_t whole = 0;
    switch (type) {
    case JT_I1: return *(const uint8_t *)at & 1;
    case JT_I8: return *(const int8_t *)at;
    case JT_I16: return *(const int16_t *)at;
    case JT_I32: return *(const int32_t *)at;
    case JT_I64: memcpy(&whole, at, 8); return (double)whole;
    case JT_F16: return from_half(*(const uint16_t *)at);
    case JT_BF16: return from_brain(*(const uint16_t *)at);
    case JT_F32: return *(const float *)at;
    default: return *(const double *)at;
    }
}

static int64_t integer(int type, const void *at)
{
    switch (type) {
    case JT_I1: return *(const uint8_t *)at & 1;
    case JT_I8: return *(const int8_t *)at;
    case JT_I16: return *(const int16_t *)at;
    case JT_I32: return *(const int32_t *)at;
    default: return *(const int64_t *)at;
    }
}

static int is_float(int type)
{
    return type >= JT_F16;
}

static void put(int type, void *at, double value)
{
    switch (type) {
    case JT_F16: *(uint16_t *)at = to_half((float)value); break;
    case JT_BF16: *(uint16_t *)at = to_brain((float)value); break;
    case JT_F32: *(float *)at = (float)value; break;
    default: *(double *)at = value;
    }
}

static void put_integer(int type, void *at, int64_t value)
{
    switch (type) {
    case JT_I1: *(uint8_t *)at = (uint8_t)(value & 1); break;
    case JT_I8: *(int8_t *)at = (int8_t)value; break;
    case JT_I16: *(int16_t *)at = (int16_t)value; break;
    case JT_I32: *(int32_t *)at = (int32_t)value; break;
    default: *(int64_t *)at = value;
    }
}

/* Scans along an axis. Sums of short floats are rounded after each step, as a card's vector unit does. */
void jumar_triton_scan(void *result, const void *source, int rank, int type, int axis, int reverse, int product)
{
    const int64_t bytes = bytes_of(type);
    View *view = compact(result, source, rank, bytes);
    const Axis along = axis_of(view, rank, axis);
    int64_t i, j, k;
    for (i = 0; i < along.outer; i++)
        for (j = 0; j < along.inner; j++) {
            char *row = view->data + (i * along.extent * along.inner + j) * bytes;
            const int64_t step = along.inner * bytes;
            for (k = 1; k < along.extent; k++) {
                char *now = row + (reverse ? along.extent - 1 - k : k) * step;
                const char *before = now + (reverse ? step : -step);
                if (type == JT_F32) {
                    const float a = *(const float *)before, b = *(const float *)now;
                    *(float *)now = product ? a * b : a + b;
                } else if (is_float(type)) {
                    const double a = number(type, before), b = number(type, now);
                    put(type, now, product ? a * b : a + b);
                } else {
                    const uint64_t a = (uint64_t)integer(type, before), b = (uint64_t)integer(type, now);
                    put_integer(type, now, (int64_t)(product ? a * b : a + b));
                }
            }
        }
}

typedef struct Order {
    int type, descending;
    int64_t bytes;
} Order;

/* What is not a number counts as larger than every number. */
static int compare(const void *a, const void *b, void *context)
{
    const Order *order = context;
    int found;
    if (is_float(order->type)) {
        const double x = number(order->type, a), y = number(order->type, b);
        found = isnan(x) || isnan(y) ? !!isnan(x) - !!isnan(y) : (x > y) - (x < y);
    } else {
        const int64_t x = integer(order->type, a), y = integer(order->type, b);
        found = (x > y) - (x < y);
    }
    return order->descending ? -found : found;
}

/* Sorts without changing the order of equal elements (merge sort, from the shortest runs up). */
static void sort_row(char *row, char *other, int64_t count, Order *order)
{
    const int64_t bytes = order->bytes;
    char *from = row, *to = other;
    int64_t run;
    for (run = 1; run < count; run *= 2) {
        int64_t begin;
        for (begin = 0; begin < count; begin += 2 * run) {
            const int64_t middle = begin + run < count ? begin + run : count, end = begin + 2 * run < count ? begin + 2 * run : count;
            int64_t a = begin, b = middle, at;
            for (at = begin; at < end; at++) {
                const int take_first = a < middle && (b >= end || compare(from + a * bytes, from + b * bytes, order) <= 0);
                memcpy(to + at * bytes, from + (take_first ? a++ : b++) * bytes, (size_t)bytes);
            }
        }
        {
            char *swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != row) memcpy(row, from, (size_t)(count * bytes));
}

void jumar_triton_sort(void *result, const void *source, int rank, int type, int64_t axis, int descending)
{
    Order order = {type, descending, bytes_of(type)};
    const int64_t bytes = order.bytes;
    View *view = compact(result, source, rank, bytes);
    const Axis along = axis_of(view, rank, axis);
    char *row = _mlir_memref_to_llvm_alloc((uint64_t)(2 * along.extent * bytes));
    int64_t i, j, k;
    for (i = 0; i < along.outer; i++)
        for (j = 0; j < along.inner; j++) {
            char *at = view->data + (i * along.extent * along.inner + j) * bytes;
            for (k = 0; k < along.extent; k++) memcpy(row + k * bytes, at + k * along.inner * bytes, (size_t)bytes);
            sort_row(row, row + along.extent * bytes, along.extent, &order);
            for (k = 0; k < along.extent; k++) memcpy(at + k * along.inner * bytes, row + k * bytes, (size_t)bytes);
        }
    _mlir_memref_to_llvm_free(row);
}

void jumar_triton_flip(void *result, const void *source, int rank, int type, int64_t axis)
{
    const int64_t bytes = bytes_of(type);
    View *view = compact(result, source, rank, bytes);
    const Axis along = axis_of(view, rank, axis);
    const int64_t row = along.inner * bytes;
    int64_t i, k, b;
    for (i = 0; i < along.outer; i++)
        for (k = 0; k < along.extent / 2; k++) {
            char *a = view->data + (i * along.extent + k) * row, *z = view->data + (i * along.extent + along.extent - 1 - k) * row;
            for (b = 0; b < row; b++) {
                const char held = a[b];
                a[b] = z[b];
                z[b] = held;
            }
        }
}

void jumar_triton_gather(void *result, const void *source, const void *index, int rank, int type, int index_type, int axis)
{
    const int64_t bytes = bytes_of(type), index_bytes = bytes_of(index_type);
    Space from_space, index_space;
    View *from = compact(&from_space, source, rank, bytes), *at = compact(&index_space, index, rank, index_bytes);
    View *to = make(result, index, rank, bytes);
    const Axis a = axis_of(from, rank, axis), b = axis_of(at, rank, axis);
    int64_t i, j, k;
    for (i = 0; i < b.outer; i++)
        for (k = 0; k < b.extent; k++)
            for (j = 0; j < b.inner; j++) {
                const int64_t position = (i * b.extent + k) * b.inner + j;
                const int64_t wanted = integer(index_type, at->data + position * index_bytes);
                if (wanted < 0 || wanted >= a.extent) {
                    char text[120];
                    snprintf(text, sizeof text, "tl.gather reads element %lld of an axis of %lld", (long long)wanted, (long long)a.extent);
                    leave_with(text);
                }
                memcpy(to->data + position * bytes, from->data + ((i * a.extent + wanted) * a.inner + j) * bytes, (size_t)bytes);
            }
    _mlir_memref_to_llvm_free(from->base);
    _mlir_memref_to_llvm_free(at->base);
}

/* Products of matrices: operands become `float` without gaps, and sums are of `float`. */

typedef void Multiply(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k);

static void multiply_plain(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
    int64_t i, j, p;
    for (i = 0; i < m; i++)
        for (p = 0; p < k; p++)
            for (j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
}

#if defined(__x86_64__)
/* Four rows and sixteen columns stay in registers. */
__attribute__((target("avx2,fma"))) static void multiply_vectors(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k)
{
    int64_t i, j, p, r;
    for (j = 0; j + 16 <= n; j += 16) {
        for (i = 0; i + 4 <= m; i += 4) {
            __m256 sum[4][2];
            for (r = 0; r < 4; r++) {
                sum[r][0] = _mm256_loadu_ps(c + (i + r) * n + j);
                sum[r][1] = _mm256_loadu_ps(c + (i + r) * n + j + 8);
            }
            for (p = 0; p < k; p++) {
                const __m256 x = _mm256_loadu_ps(b + p * n + j), y = _mm256_loadu_ps(b + p * n + j + 8);
                for (r = 0; r < 4; r++) {
                    const __m256 v = _mm256_broadcast_ss(a + (i + r) * k + p);
                    sum[r][0] = _mm256_fmadd_ps(v, x, sum[r][0]);
                    sum[r][1] = _mm256_fmadd_ps(v, y, sum[r][1]);
                }
            }
            for (r = 0; r < 4; r++) {
                _mm256_storeu_ps(c + (i + r) * n + j, sum[r][0]);
                _mm256_storeu_ps(c + (i + r) * n + j + 8, sum[r][1]);
            }
        }
        for (; i < m; i++)
            for (p = 0; p < k; p++)
                for (r = 0; r < 16; r++) c[i * n + j + r] += a[i * k + p] * b[p * n + j + r];
    }
    for (i = 0; j < n && i < m; i++)
        for (p = 0; p < k; p++)
            for (r = j; r < n; r++) c[i * n + r] += a[i * k + p] * b[p * n + r];
}

__attribute__((target("avx,f16c"))) static int64_t widen_halves(const uint16_t *from, float *to, int64_t count)
{
    int64_t i;
    for (i = 0; i + 8 <= count; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    return i;
}
#endif

static int has_vectors(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

/* Converts compact elements to `float`. */
static void widen(int type, const char *from, float *to, int64_t count)
{
    int64_t i = 0;
    switch (type) {
    case JT_F32: memcpy(to, from, (size_t)count * 4); break;
    case JT_F16:
#if defined(__x86_64__)
        /* Every processor with AVX2 converts halves. */
        if (has_vectors()) i = widen_halves((const uint16_t *)from, to, count);
#endif
        for (; i < count; i++) to[i] = from_half(((const uint16_t *)from)[i]);
        break;
    case JT_BF16:
        for (i = 0; i < count; i++) to[i] = from_brain(((const uint16_t *)from)[i]);
        break;
    default:
        for (i = 0; i < count; i++) to[i] = (float)number(type, from + i * bytes_of(type));
    }
}

static void multiply_integers(int type, const char *a, const char *b, char *c, int result_type, int64_t m, int64_t n, int64_t k)
{
    const int64_t bytes = bytes_of(type), result_bytes = bytes_of(result_type);
    int64_t i, j, p;
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            char *at = c + (i * n + j) * result_bytes;
            uint64_t sum = (uint64_t)integer(result_type, at);
            for (p = 0; p < k; p++) sum += (uint64_t)(integer(type, a + (i * k + p) * bytes) * integer(type, b + (p * n + j) * bytes));
            put_integer(result_type, at, (int64_t)sum);
        }
}

/* Adds a product to `c`. */
void jumar_triton_matmul(const void *a, const void *b, const void *c, int rank, int type, int result_type)
{
    const int64_t bytes = bytes_of(type), result_bytes = bytes_of(result_type);
    Space a_space, b_space, c_space;
    const View *sum = c;
    View *x = compact(&a_space, a, rank, bytes), *y = compact(&b_space, b, rank, bytes), *z = compact(&c_space, c, rank, result_bytes);
    const int64_t m = x->extents[rank - 2], k = x->extents[rank - 1], n = y->extents[rank - 1];
    const int64_t batches = rank == 3 ? x->extents[0] : 1;
    int64_t batch, i;
    Multiply *multiply = multiply_plain;
#if defined(__x86_64__)
    if (has_vectors()) multiply = multiply_vectors;
#endif
    if (!is_float(type) || result_type == JT_F64) {
        for (batch = 0; batch < batches; batch++) {
            if (!is_float(type)) {
                multiply_integers(type, x->data + batch * m * k * bytes, y->data + batch * k * n * bytes, z->data + batch * m * n * result_bytes, result_type, m, n, k);
                continue;
            }
            for (i = 0; i < m * n; i++) {
                double sum = ((double *)z->data)[batch * m * n + i];
                int64_t p;
                for (p = 0; p < k; p++)
                    sum += number(type, x->data + ((batch * m + i / n) * k + p) * bytes) * number(type, y->data + ((batch * k + p) * n + i % n) * bytes);
                ((double *)z->data)[batch * m * n + i] = sum;
            }
        }
    } else {
        float *left = _mlir_memref_to_llvm_alloc((uint64_t)(m * k * 4)), *right = _mlir_memref_to_llvm_alloc((uint64_t)(k * n * 4));
        float *sums = result_type == JT_F32 ? NULL : _mlir_memref_to_llvm_alloc((uint64_t)(m * n * 4));
        for (batch = 0; batch < batches; batch++) {
            char *out = z->data + batch * m * n * result_bytes;
            float *into = sums ? sums : (float *)out;
            widen(type, x->data + batch * m * k * bytes, left, m * k);
            widen(type, y->data + batch * k * n * bytes, right, k * n);
            if (sums) widen(result_type, out, sums, m * n);
            multiply(left, right, into, m, n, k);
            for (i = 0; sums && i < m * n; i++) put(result_type, out + i * result_bytes, sums[i]);
        }
        _mlir_memref_to_llvm_free(left);
        _mlir_memref_to_llvm_free(right);
        _mlir_memref_to_llvm_free(sums);
    }
    copy_axes(rank, z->extents, z->extents + rank, sum->extents + rank, z->data, begin_of(sum, result_bytes), result_bytes);
    _mlir_memref_to_llvm_free(x->base);
    _mlir_memref_to_llvm_free(y->base);
    _mlir_memref_to_llvm_free(z->base);
}

/* Printing and assertions. */

static void print_one(FILE *to, int type, int hex, const void *at)
{
    if (hex) {
        uint64_t bits = 0;
        memcpy(&bits, at, (size_t)bytes_of(type));
        fprintf(to, "0x%0*llx\n", (int)bytes_of(type) * 2, (unsigned long long)bits);
    } else if (is_float(type)) {
        fprintf(to, "%f\n", number(type, at));
    } else {
        fprintf(to, "%lld\n", (long long)integer(type, at));
    }
}

/* Prints values, an element a line, in the form of Triton. The lines of a call stay together. */
void jumar_triton_print(const char *prefix, int hex, const jumar_triton_value *values, int count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    int which;
    if (!to) return;
    for (which = 0; which < count || which == 0; which++) {
        const jumar_triton_value *value = &values[which];
        const View *view = value->at;
        int64_t position[MOST_AXES] = {0};
        int axis;
        char head[80];
        snprintf(head, sizeof head, "pid (%d, %d, %d)", current->position[0], current->position[1], current->position[2]);
        if (count == 0) {
            fprintf(to, "%s%s\n", head, prefix);
            break;
        }
        if (value->rank < 0) {
            fprintf(to, "%s idx ()%s", head, prefix);
            print_one(to, value->type, hex, value->at);
            continue;
        }
        for (axis = 0; axis < value->rank && view->extents[axis] > 0;) axis++;
        if (axis < value->rank) continue;
        for (;;) {
            int64_t offset = 0;
            fprintf(to, "%s idx (", head);
            for (axis = 0; axis < value->rank; axis++) {
                fprintf(to, "%s%lld", axis ? ", " : "", (long long)position[axis]);
                offset += position[axis] * view->extents[value->rank + axis];
            }
            fprintf(to, ")%s", prefix);
            print_one(to, value->type, hex, begin_of(view, bytes_of(value->type)) + offset * bytes_of(value->type));
            for (axis = value->rank - 1; axis >= 0 && ++position[axis] == view->extents[axis]; axis--) position[axis] = 0;
            if (axis < 0) break;
        }
    }
    fclose(to);
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    free(text);
}

void jumar_triton_assert_one(const char *message, int holds)
{
    char text[220];
    if (holds) return;
    snprintf(text, sizeof text, "tl.device_assert failed in program (%d, %d, %d): %s", current->position[0], current->position[1], current->position[2], message);
    leave_with(text);
}

void jumar_triton_assert(const char *message, const void *tensor, int rank)
{
    Space space;
    View *view = compact(&space, tensor, rank, 1);
    int64_t elements = 1, i;
    int axis;
    for (axis = 0; axis < rank; axis++) elements *= view->extents[axis];
    for (i = 0; i < elements; i++) jumar_triton_assert_one(message, view->data[i] & 1);
    _mlir_memref_to_llvm_free(view->base);
}

/* Functions of libdevice that C has not. */

float jt_relu(float x)
{
    return x > 0 || isnan(x) ? x : 0;
}

float jt_reciprocal(float x)
{
    return 1 / x;
}

float jt_ldexp(float x, float power)
{
    return ldexpf(x, (int)power);
}

float jt_ilogb(float x)
{
    return (float)ilogbf(x);
}

float jt_isnan(float x)
{
    return isnan(x) ? 1 : 0;
}

float jt_isinf(float x)
{
    return isinf(x) ? 1 : 0;
}

float jt_signbit(float x)
{
    return signbit(x) ? 1 : 0;
}

int32_t jt_float_as_int(float x)
{
    int32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

/* Divides and rounds towards zero: a `double` has the quotient of two floats with enough digits to see the rounding. */
float jt_div_rz(float x, float y)
{
    const double exact = (double)x / (double)y;
    float near = (float)exact;
    uint32_t bits;
    if (isfinite(exact) && fabs((double)near) > fabs(exact)) {
        memcpy(&bits, &near, 4);
        bits--;
        memcpy(&near, &bits, 4);
    }
    return near;
}

/* Finds x with erf(x) = y: a first value by a series of the logarithm, and then Newton's steps. */
float jt_erfinv(float y)
{
    double x, w;
    int step;
    if (!(fabsf(y) < 1)) return fabsf(y) == 1 ? copysignf(INFINITY, y) : NAN;
    w = log1p(-(double)y * y);
    x = 2 / (M_PI * 0.147) + w / 2;
    x = copysign(sqrt(sqrt(x * x - w / 0.147) - x), y);
    for (step = 0; step < 4; step++) {
        const double slope = 2 / sqrt(M_PI) * exp(-x * x);
        if (slope == 0) break;
        /* Near 1 the complement has the digits. */
        x -= (fabs(y) < 0.5 ? erf(x) - y : (y < 0 ? -1 : 1) * ((1 - fabs((double)y)) - erfc(fabs(x)))) / slope;
    }
    return (float)x;
}

/* The series of the modified Bessel function of order 0 ends below the position of a `double`. */
float jt_bessel_i0(float x)
{
    const double quarter = (double)x * x / 4;
    double sum = 1, term = 1;
    int n;
    for (n = 1; n < 500 && term > sum * 1e-17; n++) {
        term *= quarter / ((double)n * n);
        sum += term;
    }
    return (float)sum;
}
