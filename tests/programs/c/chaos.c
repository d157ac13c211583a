/* Many threads do anything to own and shared streams, as a seed says: create, destroy, record, wait, copy, call back, synchronise, abort,
 * reset. Every task that was accepted is executed, unless a call dropped it that is documented to, and then all after it are dropped too;
 * every byte is the right one; at the end nothing is left over.
 *
 * chaos [seconds [threads [seed]]] */
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SLOTS = 64, SHARED = 8, MOST = 256, CELLS = 256, HANG_S = 90 };

static double until;
static int threads = 64;
static uint64_t seed = 20261121;
static aclrtContext context;
static aclrtStream shared[SHARED];
static char *shared_memory[SHARED];
static atomic_ullong steps;
static atomic_int finished;

/* Events that some thread recorded and any thread may wait for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static aclrtEvent events[MOST];

#define FAIL(...)                                          \
    do {                                                   \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);    \
        fprintf(stderr, __VA_ARGS__);                      \
        fprintf(stderr, " (seed %llu)\n", (unsigned long long)seed); \
        abort();                                           \
    } while (0)

#undef CHECK
#define CHECK(call)                                                                       \
    do {                                                                                  \
        int ret_ = (int)(call);                                                           \
        if (ret_ != 0) {                                                                  \
            const char *text_ = aclGetRecentErrMsg();                                     \
            FAIL("%s gave %d: %s", #call, ret_, text_ != NULL ? text_ : "");              \
        }                                                                                 \
    } while (0)

/* A stream that one thread alone uses, and what it was asked to do since it was last looked at. */
typedef struct {
    aclrtStream stream;
    uint64_t *memory;   /* on the device: slot i takes the i-th number */
    uint64_t *numbers;  /* pinned */
    uint64_t *found;    /* ordinary */
    int asked;
    uint64_t next;
    int calls_asked;
    /* A callback that had begun when its stream was dropped counts in the cell of its own time. */
    atomic_int calls[CELLS];
    unsigned cell;
} Work;

typedef struct {
    int index;
    uint64_t dice;
    Work work;
    uint64_t *shared_numbers; /* pinned, one for each shared stream */
    uint64_t shared_last[SHARED];
} Thread;

static uint32_t roll(Thread *me, uint32_t sides)
{
    me->dice = me->dice * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(me->dice >> 33) % sides;
}

static void called(void *argument)
{
    atomic_fetch_add((atomic_int *)argument, 1);
}

static void ask(Work *work)
{
    int slot = work->asked;
    if (slot == SLOTS) {
        return;
    }
    work->numbers[slot] = ++work->next;
    CHECK(aclrtMemcpyAsync(&work->memory[slot], 8, &work->numbers[slot], 8, ACL_MEMCPY_HOST_TO_DEVICE, work->stream));
    work->asked++;
}

/* Everything that was asked has been done; or, where it was dropped, a part from the beginning on. */
static void look(Thread *me, int dropped)
{
    Work *work = &me->work;
    int done = 0, calls = atomic_load(&work->calls[work->cell]);

    CHECK(aclrtMemcpy(work->found, SLOTS * 8, work->memory, SLOTS * 8, ACL_MEMCPY_DEVICE_TO_HOST));
    while (done < work->asked && work->found[done] == work->numbers[done]) {
        done++;
    }
    if (!dropped && (done != work->asked || calls != work->calls_asked)) {
        FAIL("thread %d: %d of %d copies and %d of %d calls were done", me->index, done, work->asked, calls, work->calls_asked);
    }
    if (calls > work->calls_asked) {
        FAIL("thread %d: %d calls instead of %d", me->index, calls, work->calls_asked);
    }
    for (int i = done; i < SLOTS; i++) {
        if (work->found[i] != 0) {
            FAIL("thread %d: slot %d has %llu after %d of %d copies", me->index, i, (unsigned long long)work->found[i], done, work->asked);
        }
    }
    CHECK(aclrtMemset(work->memory, SLOTS * 8, 0, SLOTS * 8));
    work->asked = 0;
    work->calls_asked = 0;
    work->cell = (work->cell + 1) % CELLS;
    atomic_store(&work->calls[work->cell], 0);
}

static void again(Thread *me, int dropped)
{
    look(me, dropped);
    CHECK(aclrtCreateStreamWithConfig(&me->work.stream, roll(me, 8), 0));
}

static void on_shared(Thread *me)
{
    int which = (int)roll(me, SHARED);
    uint64_t found, number = ++me->shared_last[which];

    /* The number is read when the copy runs, so it only grows. */
    me->shared_numbers[which] = number;
    CHECK(aclrtMemcpyAsync(shared_memory[which] + 8 * me->index, 8, &me->shared_numbers[which], 8, ACL_MEMCPY_HOST_TO_DEVICE, shared[which]));
    if (roll(me, 8) == 0) {
        CHECK(aclrtSynchronizeStream(shared[which]));
        CHECK(aclrtMemcpy(&found, 8, shared_memory[which] + 8 * me->index, 8, ACL_MEMCPY_DEVICE_TO_HOST));
        if (found != number) {
            FAIL("thread %d: shared stream %d has %llu instead of %llu", me->index, which, (unsigned long long)found, (unsigned long long)number);
        }
    }
}

/* The record stands before any wait for it, so that waits never form a circle. */
static void orders(Thread *me)
{
    int which = (int)roll(me, (uint32_t)threads);
    aclrtEvent gone = NULL;

    pthread_mutex_lock(&lock);
    switch (roll(me, 4)) {
    case 0:
        gone = events[which];
        events[which] = NULL;
        break;
    case 1:
        if (events[which] == NULL) {
            CHECK(aclrtCreateEvent(&events[which]));
        }
        CHECK(aclrtRecordEvent(events[which], roll(me, 2) ? me->work.stream : shared[which % SHARED]));
        break;
    default:
        if (events[which] != NULL) {
            int answer = aclrtStreamWaitEvent(roll(me, 2) ? me->work.stream : shared[(which + 1) % SHARED], events[which]);
            if (answer != 0) {
                FAIL("a wait for a recorded event gave %d", answer);
            }
        }
    }
    pthread_mutex_unlock(&lock);
    if (gone != NULL) {
        CHECK(aclrtDestroyEvent(gone));
    }
}

/* A context of its own, with work in it when it goes. */
static void use_context(Thread *me)
{
    aclrtContext own;
    aclrtStream stream;
    uint64_t *memory, found = 0;

    CHECK(aclrtMalloc((void **)&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtCreateContext(&own, 0));
    CHECK(aclrtCreateStream(&stream));
    me->work.numbers[SLOTS] = ++me->work.next;
    CHECK(aclrtMemcpyAsync(memory, 8, &me->work.numbers[SLOTS], 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtDestroyContext(own));
    CHECK(aclrtSetCurrentContext(context));
    CHECK(aclrtMemcpy(&found, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    if (found != me->work.next) {
        FAIL("thread %d: a context took work with it: %llu instead of %llu", me->index, (unsigned long long)found, (unsigned long long)me->work.next);
    }
    CHECK(aclrtFree(memory));
}

/* The other device comes and goes under the threads that use it; they hold a count, so that it stays for them. */
static void other_device(Thread *me)
{
    aclrtStream stream;
    void *memory;
    uint64_t found = 0;

    CHECK(aclrtSetDevice(1));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&memory, 1 << 16, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMemsetAsync(memory, 1 << 16, 0x5a, 1 << 16, stream));
    if (roll(me, 2)) {
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtMemcpy(&found, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST));
        if (found != 0x5a5a5a5a5a5a5a5aull) {
            FAIL("thread %d: the other device has %llx", me->index, (unsigned long long)found);
        }
    }
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtFree(memory));
    CHECK(aclrtResetDevice(1));
    CHECK(aclrtSetCurrentContext(context));
}

static void *live(void *argument)
{
    Thread *me = argument;
    Work *work = &me->work;

    CHECK(aclrtSetCurrentContext(context));
    CHECK(aclrtMallocHost((void **)&work->numbers, (SLOTS + 1) * 8));
    CHECK(aclrtMallocHost((void **)&me->shared_numbers, SHARED * 8));
    CHECK(aclrtMalloc((void **)&work->memory, SLOTS * 8 + 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMemset(work->memory, SLOTS * 8 + 8, 0, SLOTS * 8 + 8));
    work->found = malloc(SLOTS * 8);
    CHECK(aclrtCreateStream(&work->stream));
    while (now_s() < until) {
        atomic_fetch_add(&steps, 1);
        switch (roll(me, 32)) {
        case 0:
            CHECK(aclrtSynchronizeStream(work->stream));
            look(me, 0);
            break;
        case 1:
            CHECK(aclrtDestroyStream(work->stream));
            again(me, 0);
            break;
        case 2:
            CHECK(aclrtDestroyStreamForce(work->stream));
            again(me, 1);
            break;
        case 3:
            CHECK(aclrtStreamAbort(work->stream));
            CHECK(aclrtSynchronizeStream(work->stream));
            look(me, 1);
            break;
        case 4: {
            int answer = aclrtSynchronizeStreamWithTimeout(work->stream, 1 + (int)roll(me, 3));
            if (answer == 0) {
                look(me, 0);
            } else if (answer != 507046) {
                FAIL("a wait with a time limit gave %d", answer);
            }
            break;
        }
        case 5: {
            aclrtStreamStatus status;
            CHECK(aclrtStreamQuery(work->stream, &status));
            if (status == ACL_STREAM_STATUS_COMPLETE) {
                look(me, 0);
            }
            break;
        }
        case 6:
            if (work->calls_asked < 20) {
                work->calls_asked++;
                CHECK(aclrtLaunchHostFunc(work->stream, called, &work->calls[work->cell]));
            }
            break;
        case 7:
            use_context(me);
            break;
        case 8:
            if (roll(me, 4) == 0) {
                other_device(me);
            }
            break;
        case 9:
            /* The last value of the memory: the stream waits for a value that it has just written itself. */
            CHECK(aclrtValueWrite(&work->memory[SLOTS], ++work->next, 0, work->stream));
            CHECK(aclrtValueWait(&work->memory[SLOTS], work->next, 1, work->stream));
            break;
        case 10: {
            void *memory, *pinned;
            size_t bytes = 64u << roll(me, 12);
            CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
            CHECK(aclrtMallocHost(&pinned, bytes));
            CHECK(aclrtFreeHost(pinned));
            CHECK(aclrtFree(memory));
            break;
        }
        case 11:
            if (roll(me, 16) == 0) {
                /* Another thread may abort its stream meanwhile; ours is waited for all the same. */
                int answer = aclrtSynchronizeDevice();
                if (answer != 0 && answer != 107023) {
                    FAIL("a wait for the device gave %d", answer);
                }
                look(me, 0);
            }
            break;
        case 12: case 13: case 14: case 15:
            orders(me);
            break;
        case 16: case 17: case 18: case 19: case 20:
            on_shared(me);
            break;
        default:
            ask(work);
        }
    }
    CHECK(aclrtSynchronizeStream(work->stream));
    look(me, 0);
    CHECK(aclrtDestroyStream(work->stream));
    for (int i = 0; i < SHARED; i++) {
        CHECK(aclrtSynchronizeStream(shared[i]));
    }
    CHECK(aclrtFree(work->memory));
    CHECK(aclrtFreeHost(work->numbers));
    CHECK(aclrtFreeHost(me->shared_numbers));
    free(work->found);
    atomic_fetch_add(&finished, 1);
    return NULL;
}

static long resident_kib(void)
{
    long pages = 0, ignored;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &ignored, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2.0;
    static Thread all[MOST];
    static pthread_t handles[MOST];
    uint32_t streams_before, streams_after;
    size_t free_before, free_after, total;
    long early = 0;

    if (argc > 2 && atoi(argv[2]) > 0 && atoi(argv[2]) < MOST) {
        threads = atoi(argv[2]);
    }
    if (argc > 3) {
        seed = strtoull(argv[3], NULL, 0);
    }
    printf("seed %llu, %d threads, %g s\n", (unsigned long long)seed, threads, seconds);
    fflush(stdout);
    setenv("JUMAR_DEVICES", "2", 1);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context));
    CHECK(aclrtGetStreamAvailableNum(&streams_before));
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    for (int i = 0; i < SHARED; i++) {
        CHECK(aclrtCreateStream(&shared[i]));
        CHECK(aclrtMalloc((void **)&shared_memory[i], MOST * 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    }
    double start = now_s(), moved = start;
    unsigned long long before = 0;
    until = start + seconds;
    for (int i = 0; i < threads; i++) {
        all[i].index = i;
        all[i].dice = seed * 0x9e3779b97f4a7c15ull + (uint64_t)i * 0xd1b54a32d192ed03ull;
        if (pthread_create(&handles[i], NULL, live, &all[i]) != 0) {
            FAIL("no thread %d", i);
        }
    }
    while (atomic_load(&finished) < threads) {
        unsigned long long now = atomic_load(&steps) + (unsigned long long)atomic_load(&finished);
        if (now != before) {
            before = now;
            moved = now_s();
        } else if (now_s() - moved > HANG_S) {
            FAIL("nothing has moved for %d s: %d of %d threads have finished", HANG_S, atomic_load(&finished), threads);
        }
        if (early == 0 && now_s() - start > seconds / 2) {
            early = resident_kib();
        }
        sleep_ms(5);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
    }
    long late = resident_kib();
    for (int i = 0; i < MOST; i++) {
        if (events[i] != NULL) {
            CHECK(aclrtDestroyEvent(events[i]));
        }
    }
    for (int i = 0; i < SHARED; i++) {
        CHECK(aclrtDestroyStream(shared[i]));
        CHECK(aclrtFree(shared_memory[i]));
    }
    CHECK(aclrtGetStreamAvailableNum(&streams_after));
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    if (streams_before != streams_after || free_before != free_after) {
        FAIL("left over: streams %u of %u, bytes %zu of %zu", streams_after, streams_before, free_after, free_before);
    }
    if (seconds >= 60 && late > early + 32 * 1024) {
        FAIL("resident size grew from %ld to %ld KiB in the second half", early, late);
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("%llu steps, resident %ld KiB, then %ld KiB\n", (unsigned long long)atomic_load(&steps), early, late);
    return 0;
}
