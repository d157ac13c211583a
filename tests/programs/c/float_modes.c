/* The bytes of a result do not depend on the floating-point modes of the thread that asks for it, or of the one that runs it: a caller
 * that flushes denormals to zero, takes them for zero or rounds another way gets what everybody gets, from its own thread and from a
 * worker that it started in that mode. The caller's modes are its own again afterwards.
 *
 * float_modes [<model with one float32 input and output of N values that multiplies by 0.5 and by a matrix>] */
#include "program.h"

#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { N = 4096, WAYS = 2 };

#if defined(__x86_64__)
/* The usual state; flush to zero and denormals are zero; those two and rounding toward zero. */
static const unsigned modes[] = {0x1f80, 0x1f80 | 0x8040, 0x1f80 | 0x8040 | 0x6000};
static unsigned mode_now(void) { return _mm_getcsr() & ~0x3fu; }
static void set_mode(unsigned mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
static const unsigned modes[] = {0, 1u << 24, 1u << 24 | 3u << 22};
static unsigned mode_now(void) { uint64_t v; __asm__ volatile("mrs %0, fpcr" : "=r"(v)); return (unsigned)v; }
static void set_mode(unsigned mode) { uint64_t v = mode; __asm__ volatile("msr fpcr, %0" ::"r"(v)); }
#else
static const unsigned modes[] = {0};
static unsigned mode_now(void) { return 0; }
static void set_mode(unsigned mode) { (void)mode; }
#endif

typedef struct {
    unsigned mode;
    float sums[WAYS][N], scaled[WAYS][N];
    uint32_t singles[1 << 16];
} Results;

static float source[N], other[N];
static aclrtContext context;
static const char *path;

/* Waited for by the caller, which then runs the work itself, or left to a worker. */
static void finish(aclrtStream stream, int way)
{
    if (way == 0) {
        CHECK(aclrtSynchronizeStream(stream));
        return;
    }
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    for (double start = now_s(); status != ACL_STREAM_STATUS_COMPLETE;) {
        CHECK(aclrtStreamQuery(stream, &status));
        REQUIRE(now_s() - start < PATIENCE_S);
        sleep_ms(1);
    }
    CHECK(aclrtSynchronizeStream(stream));
}

static void reduce(Results *results, int way, void *a, void *b, aclrtStream stream)
{
    CHECK(aclrtMemcpy(a, sizeof source, source, sizeof source, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(b, sizeof other, other, sizeof other, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtReduceAsync(a, b, sizeof source, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream, NULL));
    finish(stream, way);
    CHECK(aclrtMemcpy(results->sums[way], sizeof source, a, sizeof source, ACL_MEMCPY_DEVICE_TO_HOST));
}

static void execute(Results *results, int way, void *a, void *b, aclrtStream stream)
{
    uint32_t id;
    aclmdlDataset *in = aclmdlCreateDataset(), *out = aclmdlCreateDataset();
    aclDataBuffer *from = aclCreateDataBuffer(a, sizeof source), *to = aclCreateDataBuffer(b, sizeof source);

    CHECK(aclmdlLoadFromFile(path, &id));
    CHECK(aclmdlAddDatasetBuffer(in, from));
    CHECK(aclmdlAddDatasetBuffer(out, to));
    CHECK(aclrtMemcpy(a, sizeof source, source, sizeof source, ACL_MEMCPY_HOST_TO_DEVICE));
    if (way == 0) {
        CHECK(aclmdlExecute(id, in, out));
    } else {
        CHECK(aclmdlExecuteAsync(id, in, out, stream));
        finish(stream, way);
    }
    CHECK(aclrtMemcpy(results->scaled[way], sizeof source, b, sizeof source, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(aclmdlUnload(id));
    CHECK(aclmdlDestroyDataset(in));
    CHECK(aclmdlDestroyDataset(out));
    CHECK(aclDestroyDataBuffer(from));
    CHECK(aclDestroyDataBuffer(to));
}

static void *compute(void *argument)
{
    Results *results = argument;
    aclrtStream stream;
    void *a, *b;

    CHECK(aclrtSetCurrentContext(context));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&a, sizeof source, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMalloc(&b, sizeof source, ACL_MEM_MALLOC_NORMAL_ONLY));
    set_mode(results->mode);
    for (int way = 0; way < WAYS; way++) {
        reduce(results, way, a, b, stream);
        if (path != NULL) {
            execute(results, way, a, b, stream);
        }
    }
    for (uint32_t half = 0; half < 1 << 16; half++) {
        float single = aclFloat16ToFloat((aclFloat16)half);
        memcpy(&results->singles[half], &single, sizeof single);
        if ((half & 0x7c00) != 0x7c00) {
            REQUIRE(aclFloatToFloat16(single) == (aclFloat16)half);
        }
    }
    REQUIRE(mode_now() == results->mode);
    set_mode(modes[0]);
    CHECK(aclrtFree(a));
    CHECK(aclrtFree(b));
    CHECK(aclrtDestroyStream(stream));
    return NULL;
}

/* Each mode in a process life of its own, so that its workers are started by a thread in that mode. */
static void life(Results *results)
{
    pthread_t thread;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    REQUIRE(pthread_create(&thread, NULL, compute, results) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
}

int main(int argc, char **argv)
{
    static Results all[sizeof modes / sizeof *modes];
    int denormal = 0;

    path = argc > 1 ? argv[1] : NULL;
    for (uint32_t i = 0; i < N; i++) {
        /* Denormals of all lengths, and numbers near them whose halves and differences are denormal. */
        uint32_t a = (i * 2654435761u) % 0x01000000u, b = (i * 40503u + 77u) % 0x00800000u;
        a |= (i & 1) << 31;
        memcpy(&source[i], &a, sizeof a);
        memcpy(&other[i], &b, sizeof b);
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        all[i].mode = modes[i];
        life(&all[i]);
    }
    for (int i = 0; i < N; i++) {
        volatile float sum = source[i] + other[i];
        float wanted = sum;
        REQUIRE(memcmp(&wanted, &all[0].sums[0][i], sizeof wanted) == 0);
        denormal += sum != 0 && sum < 1.1754943e-38f && sum > -1.1754943e-38f;
    }
    REQUIRE(denormal > N / 4);
    if (path != NULL) {
        denormal = 0;
        for (int i = 0; i < N; i++) {
            float value = all[0].scaled[0][i];
            denormal += value != 0 && value < 1.1754943e-38f && value > -1.1754943e-38f;
        }
        REQUIRE(denormal > N / 4);
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        REQUIRE(memcmp(all[i].singles, all[0].singles, sizeof all[0].singles) == 0);
        for (int way = 0; way < WAYS; way++) {
            REQUIRE(memcmp(all[i].sums[way], all[0].sums[0], sizeof source) == 0);
            REQUIRE(memcmp(all[i].scaled[way], all[0].scaled[0], sizeof source) == 0);
        }
    }
    return 0;
}
