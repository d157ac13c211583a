/* own_allocator model.om [early]: an allocator of the program's own serves a model of dynamic shapes.
 *
 * The model takes x of float [1 to 64, 64]. What its executions write lies inside the block, the result is the same to the last bit
 * as without the allocator, and the functions run on the calling thread, in their order, inside the call that queues. Nothing is
 * called after the call: the allocator may be taken away and its object released while an execution is queued, the stream
 * destroyed in either form, the device reset in either form. An allocator that releases memory has to wait for its stream first, and may do so inside
 * its function that frees; with `early` it does not, which the checks report. */
#include "program.h"

#include <pthread.h>

#include "acl/acl_rt_allocator.h"

enum { COLUMNS = 64, MOST = 64, BYTES = MOST * COLUMNS * 4, MARGIN = 512, ROUNDS = 40 };

typedef struct {
    uint32_t model;
    void *input, *output;
    aclDataBuffer *from, *to;
    aclmdlDataset *in, *out;
} Run;

/* A pool of one block with a margin on either side, or none: then each block is memory of its own. */
typedef struct {
    int pool;
    char *memory;
    size_t capacity, asked;
    aclrtStream stream;
    int wait;
    pthread_t thread;
    int allocated, addressed, freed;
    int refuse;
} Allocator;

typedef struct {
    Allocator *of;
    char *address;
} Block;

static void *allocate(void *object, size_t bytes)
{
    Allocator *allocator = object;
    Block *block;

    REQUIRE(pthread_equal(pthread_self(), allocator->thread));
    REQUIRE(bytes > 0);
    /* Each block came back before the next one is asked for. */
    REQUIRE(allocator->allocated == allocator->freed);
    allocator->asked = bytes;
    if (allocator->refuse) {
        return NULL;
    }
    allocator->allocated++;
    block = malloc(sizeof *block);
    REQUIRE(block != NULL);
    block->of = allocator;
    if (allocator->pool) {
        REQUIRE(bytes + 2 * MARGIN <= allocator->capacity);
        block->address = allocator->memory + MARGIN;
    } else {
        CHECK(aclrtMalloc((void **)&block->address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    return block;
}

static void *address_of(void *block)
{
    Block *own = block;

    REQUIRE(own->of->addressed == own->of->allocated - 1);
    own->of->addressed++;
    return own->address;
}

static void release(void *object, void *block)
{
    Allocator *allocator = object;
    Block *own = block;

    REQUIRE(own->of == allocator);
    REQUIRE(pthread_equal(pthread_self(), allocator->thread));
    allocator->freed++;
    REQUIRE(allocator->freed == allocator->addressed);
    if (!allocator->pool) {
        if (allocator->wait) {
            CHECK(aclrtSynchronizeStream(allocator->stream));
        }
        CHECK(aclrtFree(own->address));
    }
    free(own);
}

static Allocator *make(int pool, aclrtStream stream)
{
    Allocator *allocator = calloc(1, sizeof *allocator);

    REQUIRE(allocator != NULL);
    allocator->pool = pool;
    allocator->wait = 1;
    allocator->stream = stream;
    allocator->thread = pthread_self();
    if (pool) {
        allocator->capacity = 1 << 20;
        CHECK(aclrtMalloc((void **)&allocator->memory, allocator->capacity, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemset(allocator->memory, allocator->capacity, 0x5a, allocator->capacity));
    }
    return allocator;
}

static void enlist(Allocator *allocator)
{
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();

    REQUIRE(desc != NULL);
    CHECK(aclrtAllocatorSetObjToDesc(desc, allocator));
    CHECK(aclrtAllocatorSetAllocFuncToDesc(desc, allocate));
    CHECK(aclrtAllocatorSetFreeFuncToDesc(desc, release));
    CHECK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address_of));
    CHECK(aclrtAllocatorRegister(allocator->stream, desc));
    CHECK(aclrtAllocatorDestroyDesc(desc));
}

static void discard(Allocator *allocator)
{
    if (allocator->pool) {
        CHECK(aclrtFree(allocator->memory));
    }
    free(allocator);
}

/* What lies outside the block is as it was, and something inside is not. */
static void inspect(const Allocator *allocator)
{
    unsigned char *host = malloc(allocator->capacity);
    size_t inside = 0, at;

    REQUIRE(host != NULL);
    CHECK(aclrtMemcpy(host, allocator->capacity, allocator->memory, allocator->capacity, ACL_MEMCPY_DEVICE_TO_HOST));
    for (at = 0; at < allocator->capacity; at++) {
        if (at >= MARGIN && at < MARGIN + allocator->asked) {
            inside += host[at] != 0x5a;
        } else {
            REQUIRE(host[at] == 0x5a);
        }
    }
    REQUIRE(inside > 0);
    free(host);
}

static Run prepare(const char *path)
{
    Run run;
    float host[BYTES / 4];
    int i;

    CHECK(aclmdlLoadFromFile(path, &run.model));
    CHECK(aclrtMalloc(&run.input, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&run.output, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (i = 0; i < BYTES / 4; i++) {
        host[i] = (float)((i * 37 + i / 64) % 41) / 16.0f - 1.0f;
    }
    CHECK(aclrtMemcpy(run.input, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    run.in = aclmdlCreateDataset();
    run.out = aclmdlCreateDataset();
    run.from = aclCreateDataBuffer(run.input, BYTES);
    run.to = aclCreateDataBuffer(run.output, BYTES);
    CHECK(aclmdlAddDatasetBuffer(run.in, run.from));
    CHECK(aclmdlAddDatasetBuffer(run.out, run.to));
    return run;
}

static void finish(Run *run)
{
    CHECK(aclmdlUnload(run->model));
    CHECK(aclmdlDestroyDataset(run->in));
    CHECK(aclmdlDestroyDataset(run->out));
    CHECK(aclDestroyDataBuffer(run->from));
    CHECK(aclDestroyDataBuffer(run->to));
    CHECK(aclrtFree(run->input));
    CHECK(aclrtFree(run->output));
}

static void sized(Run *run, int rows)
{
    int64_t dims[2] = {rows, COLUMNS};
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);

    CHECK(aclmdlSetDatasetTensorDesc(run->in, desc, 0));
    aclDestroyTensorDesc(desc);
}

static void found(const Run *run, float *host)
{
    CHECK(aclrtMemcpy(host, BYTES, run->output, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
}

/* A stream that waits until the event is recorded. */
static void hold(aclrtStream stream, aclrtEvent *gate)
{
    CHECK(aclrtCreateEventWithFlag(gate, ACL_EVENT_SYNC));
    CHECK(aclrtStreamWaitEvent(stream, *gate));
}

static void unblock(aclrtEvent gate, aclrtStream other)
{
    CHECK(aclrtRecordEvent(gate, other));
    CHECK(aclrtSynchronizeStream(other));
}

static void *own_stream(void *path)
{
    Run run;
    Allocator *allocator;
    aclrtStream stream;
    int round;

    CHECK(aclrtSetDevice(0));
    run = prepare(path);
    CHECK(aclrtCreateStream(&stream));
    allocator = make(1, stream);
    enlist(allocator);
    for (round = 0; round < ROUNDS; round++) {
        sized(&run, 1 + round % MOST);
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(allocator->allocated == ROUNDS && allocator->freed == ROUNDS);
    CHECK(aclrtAllocatorUnregister(stream));
    discard(allocator);
    CHECK(aclrtDestroyStream(stream));
    finish(&run);
    CHECK(aclrtResetDevice(0));
    return NULL;
}

static float wanted[BYTES / 4], ours[BYTES / 4];

int main(int argc, char **argv)
{
    aclrtStream stream, other;
    aclrtEvent gate;
    Allocator *allocator;
    Run run;
    int rows, form;
    pthread_t threads[4];

    REQUIRE(argc >= 2);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    run = prepare(argv[1]);
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtCreateStream(&other));

    if (argc > 2) {
        allocator = make(0, stream);
        allocator->wait = 0;
        enlist(allocator);
        sized(&run, MOST);
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
        /* What it answers is not said; the process lives. */
        (void)aclrtSynchronizeStream(stream);
        puts("own_allocator: ok");
        return 0;
    }

    /* The same numbers with and without, whatever the size, and nothing outside the block. */
    for (rows = 1; rows <= MOST; rows += 9) {
        sized(&run, rows);
        CHECK(aclrtMemset(run.output, BYTES, 0, BYTES));
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
        CHECK(aclrtSynchronizeStream(stream));
        found(&run, wanted);
        allocator = make(1, stream);
        enlist(allocator);
        CHECK(aclrtMemset(run.output, BYTES, 0, BYTES));
        hold(stream, &gate);
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
        REQUIRE(allocator->allocated == 1 && allocator->addressed == 1 && allocator->freed == 1);
        unblock(gate, other);
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyEvent(gate));
        found(&run, ours);
        REQUIRE(memcmp(wanted, ours, BYTES) == 0);
        inspect(allocator);
        CHECK(aclrtAllocatorUnregister(stream));
        discard(allocator);
    }

    /* An allocator that waits for the stream and releases, inside its function. */
    allocator = make(0, stream);
    enlist(allocator);
    for (rows = 1; rows <= MOST; rows += 21) {
        sized(&run, rows);
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
    }
    REQUIRE(allocator->allocated == 4 && allocator->freed == 4);
    CHECK(aclrtSynchronizeStream(stream));
    /* The allocator has no memory: the call returns an error, nothing is queued, and the next call succeeds. */
    allocator->refuse = 1;
    EXPECT(ACL_ERROR_GE_MEMORY_ALLOCATION, aclmdlExecuteAsync(run.model, run.in, run.out, stream));
    REQUIRE(strstr(aclGetRecentErrMsg(), "allocator") != NULL);
    CHECK(aclrtSynchronizeStream(stream));
    allocator->refuse = 0;
    CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(allocator->allocated == 5 && allocator->freed == 5);
    CHECK(aclrtAllocatorUnregister(stream));
    discard(allocator);

    /* While an execution is queued, the allocator goes with its object, and then the stream, in either form. */
    for (form = 0; form < 2; form++) {
        aclrtStream gone;
        char *memory;
        CHECK(aclrtCreateStream(&gone));
        allocator = make(1, gone);
        memory = allocator->memory;
        enlist(allocator);
        hold(gone, &gate);
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, gone));
        if (form == 0) {
            CHECK(aclrtAllocatorUnregister(gone));
        }
        memset(allocator, 0xff, sizeof *allocator);
        free(allocator);
        if (form == 0) {
            unblock(gate, other);
            CHECK(aclrtDestroyStream(gone));
        } else {
            CHECK(aclrtDestroyStreamForce(gone));
        }
        CHECK(aclrtDestroyEvent(gate));
        CHECK(aclrtFree(memory));
    }

    /* Streams and allocators of several threads, none in another's way. */
    for (form = 0; form < 4; form++) {
        REQUIRE(pthread_create(&threads[form], NULL, own_stream, argv[1]) == 0);
    }
    for (form = 0; form < 4; form++) {
        REQUIRE(pthread_join(threads[form], NULL) == 0);
    }

    /* The device is reset below an allocator; afterwards its stream is none, and a new one has no allocator. */
    for (form = 0; form < 2; form++) {
        allocator = make(1, stream);
        enlist(allocator);
        sized(&run, MOST);
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
        if (form == 0) {
            CHECK(aclrtResetDevice(0));
        } else {
            CHECK(aclrtResetDeviceForce(0));
        }
        memset(allocator, 0xff, sizeof *allocator);
        free(allocator);
        CHECK(aclrtSetDevice(0));
        EXPECT(107017, aclrtAllocatorUnregister(stream));
        CHECK(aclmdlUnload(run.model));
        CHECK(aclmdlDestroyDataset(run.in));
        CHECK(aclmdlDestroyDataset(run.out));
        CHECK(aclDestroyDataBuffer(run.from));
        CHECK(aclDestroyDataBuffer(run.to));
        run = prepare(argv[1]);
        sized(&run, MOST);
        CHECK(aclrtCreateStream(&stream));
        EXPECT(100000, aclrtAllocatorUnregister(stream));
        CHECK(aclmdlExecuteAsync(run.model, run.in, run.out, stream));
        CHECK(aclrtSynchronizeStream(stream));
    }
    finish(&run);
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    puts("own_allocator: ok");
    return 0;
}
