/*
 * Kernels for Jumar: host code in an ordinary shared object, with ordinary parameters.
 *
 *     #include "jumar/kernel.h"
 *
 *     extern "C" void add(const float *x, const float *y, float *z, uint32_t n)
 *     {
 *         for (uint32_t i = get_block_idx(); i < n; i += get_block_num()) z[i] = x[i] + y[i];
 *     }
 *     JUMAR_KERNEL(add)
 *
 * In C the parameter types are named once more, because C has no way to look them up:
 *
 *     JUMAR_KERNEL(add, const float *, const float *, float *, uint32_t)
 *
 * The macro makes two things: a function that takes the values out of the argument block and calls the kernel for each of
 * its blocks, and a description by which the runtime finds that function and knows the parameters. Nothing is guessed, and
 * a debugger sees the kernel as the function that it is. docs/kernels.md says the rest.
 */
#ifndef JUMAR_KERNEL_H
#define JUMAR_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel is called with. The runtime fills it in; later versions append. */
typedef struct jumar_launch {
    uint32_t size;       /* of this structure, in bytes */
    int32_t status;      /* 0, or what jumar_kernel_fail was given first */
    const unsigned char *arguments;
    uint64_t argument_bytes;
    uint32_t grid[3];    /* blocks along x, y and z */
    uint32_t group[3];   /* threads of a block along x, y and z; 1, 1, 1 unless it is a kernel of threads */
    uint32_t begin;      /* the first block of this call */
    uint32_t end;        /* one past its last block */
    uint32_t block;      /* the block that runs */
    uint32_t thread;     /* the thread of the block that runs */
    void *local;         /* memory of the block's own */
    uint64_t local_bytes;
    uint32_t failed_block;
    uint32_t device;     /* whose stream runs the kernel */
    char message[240];
    /* Called when a fault of the kernel raises a signal (SIGSEGV, SIGFPE, SIGILL): in the handler of the signal, on the thread that
     * runs the block, with the address of the fault. A kernel that can end the block otherwise sets it; the function then does not
     * return. If it is null or returns, the fault ends the process. */
    void (*on_fault)(struct jumar_launch *launch, int32_t signal, uint64_t address);
} jumar_launch;

enum {
    JUMAR_KERNEL_VERSION = 1,
    JUMAR_KERNEL_BLOCKS = 0,      /* called once for each block */
    JUMAR_KERNEL_THREADS = 1,     /* called once for each thread of each block */
    JUMAR_KERNEL_CORES = 2,       /* blocks are logical cores: 65,535 at most */
    JUMAR_KERNEL_TOGETHER = 3,    /* the same, and blocks wait for each other: called once for all */
    JUMAR_PARAMETER_VALUE = 0,
    JUMAR_PARAMETER_READ = 1,     /* a pointer to const */
    JUMAR_PARAMETER_WRITE = 2,    /* any other pointer */
    JUMAR_PARAMETER_UNKNOWN = 3
};

/* One parameter: where its value lies in the argument block. */
typedef struct jumar_parameter {
    uint32_t offset;
    uint32_t size;
    uint32_t access;
} jumar_parameter;

/* The description of a kernel. */
typedef struct jumar_kernel_info {
    uint32_t version;
    uint32_t kind;
    uint32_t parameter_count;
    uint32_t launch_size;
    const jumar_parameter *parameters;
    void (*run)(jumar_launch *launch);
} jumar_kernel_info;

/* A kernel without an exported symbol: aclrtGetFuncBySymbol takes the address of such a structure, which lies in a loaded object and
 * does not change. */
typedef struct jumar_kernel_object {
    char magic[8]; /* JUMAR_KERNEL_MAGIC */
    const char *name;
    jumar_kernel_info info;
} jumar_kernel_object;

/* The live memory of the runtime that holds an address: where it begins and ends, and where what the program asked for ends. */
typedef struct jumar_memory_extent {
    uint64_t begin, end, wanted_end;
} jumar_memory_extent;

#define JUMAR_KERNEL_MAGIC {'J', 'U', 'M', 'A', 'R', 'K', 'O', '1'}

/* The description of a variable that the host may name. */
typedef struct jumar_variable_info {
    uint32_t version;
    uint32_t reserved;
    const volatile void *address;
    uint64_t size;
} jumar_variable_info;

/* The launch that the calling thread works on: one variable for each shared object. Tests of kernels on the CPU have one for all. */
#ifdef ASCENDC_CPU_DEBUG
#define JUMAR_OF_OBJECT __attribute__((weak, visibility("default")))
#else
#define JUMAR_OF_OBJECT __attribute__((weak, visibility("hidden")))
#endif
JUMAR_OF_OBJECT __thread jumar_launch *jumar_current;

/* The number of the block that runs, and how many there are. */
static inline uint32_t get_block_idx(void)
{
    return jumar_current->block;
}

static inline uint32_t get_block_num(void)
{
    return jumar_current->grid[0] * jumar_current->grid[1] * jumar_current->grid[2];
}

typedef struct jumar_index {
    uint32_t x, y, z;
} jumar_index;

static inline jumar_index jumar_split(uint32_t at, const uint32_t extent[3])
{
    jumar_index index;
    index.x = at % extent[0];
    index.y = at / extent[0] % extent[1];
    index.z = at / extent[0] / extent[1];
    return index;
}

/* The same for kernels of threads, along x, y and z. */
static inline jumar_index jumar_block_index(void)
{
    return jumar_split(jumar_current->block, jumar_current->grid);
}

static inline jumar_index jumar_thread_index(void)
{
    return jumar_split(jumar_current->thread, jumar_current->group);
}

static inline jumar_index jumar_grid_size(void)
{
    jumar_index size = {jumar_current->grid[0], jumar_current->grid[1], jumar_current->grid[2]};
    return size;
}

static inline jumar_index jumar_group_size(void)
{
    jumar_index size = {jumar_current->group[0], jumar_current->group[1], jumar_current->group[2]};
    return size;
}

/* Memory of the block's own: as much as the launch asked for. Its content is undefined when a block begins. */
static inline void *jumar_local_memory(void)
{
    return jumar_current->local;
}

static inline uint64_t jumar_local_bytes(void)
{
    return jumar_current->local_bytes;
}

/* Reports that the kernel failed: the launch is reported as failed, with this code and text, when the host synchronises. The
 * block continues to its end, and so do the others. The first call of the lowest block counts; a status of 0 counts as 1. */
static inline void jumar_kernel_fail(int32_t status, const char *message)
{
    jumar_launch *launch = jumar_current;
    size_t length;
    if (launch->status != 0) return;
    launch->status = status != 0 ? status : 1;
    launch->failed_block = launch->block;
    length = message ? strlen(message) : 0;
    if (length >= sizeof launch->message) length = sizeof launch->message - 1;
    if (length) memcpy(launch->message, message, length);
    launch->message[length] = 0;
}

#ifdef __cplusplus
}
#endif

#define JUMAR_EXPORTED __attribute__((visibility("default")))

#ifdef __cplusplus

/* Hidden, so that two shared objects with a kernel of the same name never run each other's. */
namespace jumar __attribute__((visibility("hidden"))) {
namespace kernel {

constexpr uint32_t slot(size_t size)
{
    return static_cast<uint32_t>((size + 7) / 8 * 8);
}

template <typename TypeT> struct Access {
    static constexpr uint32_t value = JUMAR_PARAMETER_VALUE;
};
template <typename TypeT> struct Access<TypeT *> {
    static constexpr uint32_t value = JUMAR_PARAMETER_WRITE;
};
template <typename TypeT> struct Access<const TypeT *> {
    static constexpr uint32_t value = JUMAR_PARAMETER_READ;
};

template <typename TypeT> struct IsReference {
    static constexpr bool value = false;
};
template <typename TypeT> struct IsReference<TypeT &> {
    static constexpr bool value = true;
};
template <typename TypeT> struct IsReference<TypeT &&> {
    static constexpr bool value = true;
};

/* Takes the values out of the block one after another, then calls. */
template <typename... Left> struct Unpack;
template <> struct Unpack<> {
    template <typename TypeF, typename... Had> static void call(TypeF *function, const unsigned char *, Had... had)
    {
        function(had...);
    }
    static void describe(jumar_parameter *, uint32_t) {}
};
template <typename Next, typename... Left> struct Unpack<Next, Left...> {
    static_assert(!IsReference<Next>::value, "a kernel takes values and pointers, no references");
    static_assert(__is_trivially_copyable(Next), "a parameter of a kernel is copied byte by byte");
    template <typename TypeF, typename... Had> static void call(TypeF *function, const unsigned char *at, Had... had)
    {
        Next value;
        memcpy(static_cast<void *>(&value), at, sizeof value);
        Unpack<Left...>::call(function, at + slot(sizeof(Next)), had..., value);
    }
    static void describe(jumar_parameter *into, uint32_t offset)
    {
        into->offset = offset;
        into->size = sizeof(Next);
        into->access = Access<Next>::value;
        Unpack<Left...>::describe(into + 1, offset + slot(sizeof(Next)));
    }
};

template <typename TypeF> struct Signature;
template <typename... TypeP> struct Signature<void(TypeP...)> {
    static constexpr uint32_t count = sizeof...(TypeP);
    typedef Unpack<TypeP...> Values;
};
#ifdef __cpp_noexcept_function_type
template <typename... TypeP> struct Signature<void(TypeP...) noexcept> : Signature<void(TypeP...)> {};
#endif

template <typename TypeF, TypeF *function> void run_one(const unsigned char *arguments)
{
#ifdef __cpp_exceptions
    try {
        Signature<TypeF>::Values::call(function, arguments);
    } catch (const char *text) {
        jumar_kernel_fail(1, text);
    } catch (...) {
        jumar_kernel_fail(1, "it threw an exception");
    }
#else
    Signature<TypeF>::Values::call(function, arguments);
#endif
}

/* The parameters of a kernel, described before anybody asks. */
template <typename TypeF> struct Parameters {
    jumar_parameter all[Signature<TypeF>::count + 1];
    Parameters()
    {
        memset(all, 0, sizeof all);
        Signature<TypeF>::Values::describe(all, 0);
    }
};

} // namespace kernel
} // namespace jumar

#define JUMAR_KERNEL_OF(kind, name)                                                                                            \
    static void jumar_run_one_##name(const unsigned char *arguments)                                                           \
    {                                                                                                                          \
        jumar::kernel::run_one<decltype(name), &name>(arguments);                                                              \
    }                                                                                                                          \
    JUMAR_RUN_##kind(name)                                                                                                     \
    static const jumar::kernel::Parameters<decltype(name)> jumar_parameters_##name;                                            \
    extern "C" {                                                                                                               \
    extern JUMAR_EXPORTED const jumar_kernel_info jumar_kernel_info_##name;                                                    \
    const jumar_kernel_info jumar_kernel_info_##name = {                                                                       \
        JUMAR_KERNEL_VERSION, JUMAR_KERNEL_##kind, jumar::kernel::Signature<decltype(name)>::count,                            \
        static_cast<uint32_t>(sizeof(jumar_launch)), jumar_parameters_##name.all, jumar_run_##name};                           \
    }

/* The types may stand behind the name, as C wants them; C++ looks them up itself. */
#define JUMAR_FIRST(first, ...) first
#define JUMAR_KERNEL(...) JUMAR_KERNEL_EXPAND(BLOCKS, JUMAR_FIRST(__VA_ARGS__, ))
#define JUMAR_SIMT_KERNEL(...) JUMAR_KERNEL_EXPAND(THREADS, JUMAR_FIRST(__VA_ARGS__, ))
#define JUMAR_KERNEL_EXPAND(kind, name) JUMAR_KERNEL_OF(kind, name)

#define JUMAR_DEVICE_VARIABLE(name)                                                                                            \
    extern "C" {                                                                                                               \
    extern JUMAR_EXPORTED const jumar_variable_info jumar_variable_info_##name;                                                \
    const jumar_variable_info jumar_variable_info_##name = {JUMAR_KERNEL_VERSION, 0, &name, sizeof(name)};                     \
    }

#else /* C */

#define JUMAR_KERNEL(...) JUMAR_PICK(__VA_ARGS__, JUMAR_KINDS)(BLOCKS, __VA_ARGS__)
#define JUMAR_SIMT_KERNEL(...) JUMAR_PICK(__VA_ARGS__, JUMAR_KINDS)(THREADS, __VA_ARGS__)
#define JUMAR_KINDS                                                                                                            \
    JUMAR_KERNEL_12, JUMAR_KERNEL_11, JUMAR_KERNEL_10, JUMAR_KERNEL_9, JUMAR_KERNEL_8, JUMAR_KERNEL_7, JUMAR_KERNEL_6,         \
        JUMAR_KERNEL_5, JUMAR_KERNEL_4, JUMAR_KERNEL_3, JUMAR_KERNEL_2, JUMAR_KERNEL_1, JUMAR_KERNEL_0, 0
#define JUMAR_PICK(...) JUMAR_PICK_(__VA_ARGS__)
#define JUMAR_PICK_(n, a, b, c, d, e, f, g, h, i, j, k, l, which, ...) which

/* The values as they lie in the argument block: each begins at a multiple of 8 bytes. */
#define JUMAR_SLOT(type, name) _Alignas(8) type name
#define JUMAR_ENTRY(kernel, name)                                                                                              \
    {(uint32_t)offsetof(struct jumar_values_##kernel, name), (uint32_t)sizeof(((struct jumar_values_##kernel *)0)->name),      \
     JUMAR_PARAMETER_UNKNOWN}

#define JUMAR_KERNEL_ENDS(kind, kernel, count)                                                                                 \
    JUMAR_RUN_##kind(kernel)                                                                                                   \
    extern JUMAR_EXPORTED const jumar_kernel_info jumar_kernel_info_##kernel;                                                  \
    const jumar_kernel_info jumar_kernel_info_##kernel = {JUMAR_KERNEL_VERSION,   JUMAR_KERNEL_##kind, count,                  \
                                                          (uint32_t)sizeof(jumar_launch), jumar_parameters_##kernel,           \
                                                          jumar_run_##kernel};

#define JUMAR_KERNEL_BODY(kind, kernel, count, call, slots, entries)                                                           \
    struct jumar_values_##kernel slots;                                                                                        \
    _Static_assert(_Alignof(struct jumar_values_##kernel) == 8, "a parameter of a kernel is aligned to 8 bytes at most");     \
    static const jumar_parameter jumar_parameters_##kernel[] = entries;                                                        \
    static void jumar_run_one_##kernel(const unsigned char *arguments)                                                         \
    {                                                                                                                          \
        struct jumar_values_##kernel value;                                                                                    \
        uint64_t bytes = jumar_current->argument_bytes;                                                                        \
        memcpy(&value, arguments, bytes < sizeof value ? bytes : sizeof value);                                                \
        kernel call;                                                                                                           \
    }                                                                                                                          \
    JUMAR_KERNEL_ENDS(kind, kernel, count)

#define JUMAR_LIST(...) {__VA_ARGS__}

#define JUMAR_KERNEL_0(kind, k)                                                                                                \
    static const jumar_parameter jumar_parameters_##k[1] = {{0, 0, 0}};                                                        \
    static void jumar_run_one_##k(const unsigned char *arguments)                                                              \
    {                                                                                                                          \
        (void)arguments;                                                                                                       \
        k();                                                                                                                   \
    }                                                                                                                          \
    JUMAR_KERNEL_ENDS(kind, k, 0)
#define JUMAR_KERNEL_1(kind, k, TypeA) \
    JUMAR_KERNEL_BODY(kind, k, 1, (value.a), \
        {JUMAR_SLOT(TypeA, a);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a)))
#define JUMAR_KERNEL_2(kind, k, TypeA, TypeB) \
    JUMAR_KERNEL_BODY(kind, k, 2, (value.a, value.b), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b)))
#define JUMAR_KERNEL_3(kind, k, TypeA, TypeB, TypeC) \
    JUMAR_KERNEL_BODY(kind, k, 3, (value.a, value.b, value.c), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c)))
#define JUMAR_KERNEL_4(kind, k, TypeA, TypeB, TypeC, TypeD) \
    JUMAR_KERNEL_BODY(kind, k, 4, (value.a, value.b, value.c, value.d), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d)))
#define JUMAR_KERNEL_5(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE) \
    JUMAR_KERNEL_BODY(kind, k, 5, (value.a, value.b, value.c, value.d, value.e), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e)))
#define JUMAR_KERNEL_6(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF) \
    JUMAR_KERNEL_BODY(kind, k, 6, (value.a, value.b, value.c, value.d, value.e, value.f), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f)))
#define JUMAR_KERNEL_7(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF, TypeG) \
    JUMAR_KERNEL_BODY(kind, k, 7, (value.a, value.b, value.c, value.d, value.e, value.f, value.g), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f); JUMAR_SLOT(TypeG, g);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f), JUMAR_ENTRY(k, g)))
#define JUMAR_KERNEL_8(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF, TypeG, TypeH) \
    JUMAR_KERNEL_BODY(kind, k, 8, (value.a, value.b, value.c, value.d, value.e, value.f, value.g, value.h), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f); JUMAR_SLOT(TypeG, g); JUMAR_SLOT(TypeH, h);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f), JUMAR_ENTRY(k, g), JUMAR_ENTRY(k, h)))
#define JUMAR_KERNEL_9(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF, TypeG, TypeH, TypeI) \
    JUMAR_KERNEL_BODY(kind, k, 9, (value.a, value.b, value.c, value.d, value.e, value.f, value.g, value.h, value.i), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f); JUMAR_SLOT(TypeG, g); JUMAR_SLOT(TypeH, h); JUMAR_SLOT(TypeI, i);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f), JUMAR_ENTRY(k, g), JUMAR_ENTRY(k, h), JUMAR_ENTRY(k, i)))
#define JUMAR_KERNEL_10(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF, TypeG, TypeH, TypeI, TypeJ) \
    JUMAR_KERNEL_BODY(kind, k, 10, (value.a, value.b, value.c, value.d, value.e, value.f, value.g, value.h, value.i, value.j), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f); JUMAR_SLOT(TypeG, g); JUMAR_SLOT(TypeH, h); JUMAR_SLOT(TypeI, i); JUMAR_SLOT(TypeJ, j);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f), JUMAR_ENTRY(k, g), JUMAR_ENTRY(k, h), JUMAR_ENTRY(k, i), JUMAR_ENTRY(k, j)))
#define JUMAR_KERNEL_11(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF, TypeG, TypeH, TypeI, TypeJ, TypeK) \
    JUMAR_KERNEL_BODY(kind, k, 11, (value.a, value.b, value.c, value.d, value.e, value.f, value.g, value.h, value.i, value.j, value.k), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f); JUMAR_SLOT(TypeG, g); JUMAR_SLOT(TypeH, h); JUMAR_SLOT(TypeI, i); JUMAR_SLOT(TypeJ, j); JUMAR_SLOT(TypeK, k);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f), JUMAR_ENTRY(k, g), JUMAR_ENTRY(k, h), JUMAR_ENTRY(k, i), JUMAR_ENTRY(k, j), JUMAR_ENTRY(k, k)))
#define JUMAR_KERNEL_12(kind, k, TypeA, TypeB, TypeC, TypeD, TypeE, TypeF, TypeG, TypeH, TypeI, TypeJ, TypeK, TypeL) \
    JUMAR_KERNEL_BODY(kind, k, 12, (value.a, value.b, value.c, value.d, value.e, value.f, value.g, value.h, value.i, value.j, value.k, value.l), \
        {JUMAR_SLOT(TypeA, a); JUMAR_SLOT(TypeB, b); JUMAR_SLOT(TypeC, c); JUMAR_SLOT(TypeD, d); JUMAR_SLOT(TypeE, e); JUMAR_SLOT(TypeF, f); JUMAR_SLOT(TypeG, g); JUMAR_SLOT(TypeH, h); JUMAR_SLOT(TypeI, i); JUMAR_SLOT(TypeJ, j); JUMAR_SLOT(TypeK, k); JUMAR_SLOT(TypeL, l);}, \
        JUMAR_LIST(JUMAR_ENTRY(k, a), JUMAR_ENTRY(k, b), JUMAR_ENTRY(k, c), JUMAR_ENTRY(k, d), JUMAR_ENTRY(k, e), JUMAR_ENTRY(k, f), JUMAR_ENTRY(k, g), JUMAR_ENTRY(k, h), JUMAR_ENTRY(k, i), JUMAR_ENTRY(k, j), JUMAR_ENTRY(k, k), JUMAR_ENTRY(k, l)))

#define JUMAR_DEVICE_VARIABLE(name)                                                                                            \
    extern JUMAR_EXPORTED const jumar_variable_info jumar_variable_info_##name;                                                \
    const jumar_variable_info jumar_variable_info_##name = {JUMAR_KERNEL_VERSION, 0, &name, sizeof(name)};

#endif /* C */

/* Runs the blocks of one call in order. A call may come from within another one: a kernel that waits for its stream. */
#define JUMAR_RUN_BLOCKS(name)                                                                                                 \
    static void jumar_run_##name(jumar_launch *launch)                                                                         \
    {                                                                                                                          \
        jumar_launch *outer = jumar_current;                                                                                   \
        jumar_current = launch;                                                                                                \
        launch->thread = 0;                                                                                                    \
        for (launch->block = launch->begin; launch->block < launch->end; launch->block++)                                      \
            jumar_run_one_##name(launch->arguments);                                                                           \
        jumar_current = outer;                                                                                                 \
    }

/* Runs the threads of each block one after another. */
#define JUMAR_RUN_THREADS(name)                                                                                                \
    static void jumar_run_##name(jumar_launch *launch)                                                                         \
    {                                                                                                                          \
        jumar_launch *outer = jumar_current;                                                                                   \
        uint32_t threads = launch->group[0] * launch->group[1] * launch->group[2];                                             \
        jumar_current = launch;                                                                                                \
        for (launch->block = launch->begin; launch->block < launch->end; launch->block++)                                      \
            for (launch->thread = 0; launch->thread < threads; launch->thread++) jumar_run_one_##name(launch->arguments);      \
        jumar_current = outer;                                                                                                 \
    }

#ifdef JUMAR_DEVICE_WORDS
/* The words of device code, so that a simple kernel compiles as it stands. */
#ifndef __global__
#define __global__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef GM_ADDR
#define GM_ADDR uint8_t *
#endif
#endif

#endif
