/* models_together model.om d.json: executions of models at the same time.
 *
 * One model executed by two threads, waiting and queued: they take turns, and each result is the one that belongs to its input.
 * Two models on two streams: they overlap. Each operator is shown to a function (a dump), and the first of one model waits there
 * until the other model has come there, too: were they run one after the other, it would wait for ever. */
#include "program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "acl/acl_dump.h"

enum { INPUT = 64 * 4, OUTPUT = 10 * 4, ROUNDS = 100 };

typedef struct {
    aclmdlDataset *in, *out;
    void *input, *output;
    uint32_t model;
    int queued;
    float seed;
    float wanted[10];
} Run;

static void fill(Run *run, float seed)
{
    float host[INPUT / 4];
    int i;

    for (i = 0; i < INPUT / 4; i++) {
        host[i] = (float)((i * 7 + (int)seed * 13) % 17);
    }
    CHECK(aclrtMemcpy(run->input, INPUT, host, INPUT, ACL_MEMCPY_HOST_TO_DEVICE));
}

static Run prepare(uint32_t model, float seed)
{
    Run run;

    memset(&run, 0, sizeof run);
    run.model = model;
    run.seed = seed;
    CHECK(aclrtMalloc(&run.input, INPUT, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&run.output, OUTPUT, ACL_MEM_MALLOC_HUGE_FIRST));
    run.in = aclmdlCreateDataset();
    run.out = aclmdlCreateDataset();
    CHECK(aclmdlAddDatasetBuffer(run.in, aclCreateDataBuffer(run.input, INPUT)));
    CHECK(aclmdlAddDatasetBuffer(run.out, aclCreateDataBuffer(run.output, OUTPUT)));
    fill(&run, seed);
    return run;
}

static void *again_and_again(void *argument)
{
    Run *run = argument;
    aclrtStream stream = NULL;
    float found[10];
    int round;

    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    for (round = 0; round < ROUNDS; round++) {
        CHECK(aclrtMemset(run->output, OUTPUT, 0, OUTPUT));
        if (run->queued) {
            CHECK(aclmdlExecuteAsync(run->model, run->in, run->out, stream));
            CHECK(aclrtSynchronizeStream(stream));
        } else {
            CHECK(aclmdlExecute(run->model, run->in, run->out));
        }
        CHECK(aclrtMemcpy(found, OUTPUT, run->output, OUTPUT, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(memcmp(found, run->wanted, OUTPUT) == 0);
    }
    CHECK(aclrtDestroyStream(stream));
    return NULL;
}

/* Two threads execute one model with inputs of their own. */
static void one_model_two_threads(const char *file, int queued)
{
    uint32_t model, alone;
    pthread_t threads[2];
    Run runs[2], known;
    int i;

    CHECK(aclmdlLoadFromFile(file, &alone));
    CHECK(aclmdlLoadFromFile(file, &model));
    for (i = 0; i < 2; i++) {
        known = prepare(alone, (float)i);
        CHECK(aclmdlExecute(alone, known.in, known.out));
        runs[i] = prepare(model, (float)i);
        runs[i].queued = queued;
        CHECK(aclrtMemcpy(runs[i].wanted, OUTPUT, known.output, OUTPUT, ACL_MEMCPY_DEVICE_TO_HOST));
    }
    REQUIRE(memcmp(runs[0].wanted, runs[1].wanted, OUTPUT) != 0);
    for (i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, again_and_again, &runs[i]) == 0);
    }
    for (i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(aclmdlUnload(model));
    CHECK(aclmdlUnload(alone));
}

static atomic_long first_thread, second_thread;
static atomic_int operators;

static int32_t meet(const acldumpChunk *chunk, int32_t length)
{
    long own = syscall(SYS_gettid), none = 0;
    double limit = now_s() + PATIENCE_S;

    (void)chunk;
    (void)length;
    atomic_fetch_add(&operators, 1);
    if (atomic_compare_exchange_strong(&first_thread, &none, own)) {
        while (atomic_load(&second_thread) == 0 && now_s() < limit) {
            sleep_ms(1);
        }
    } else if (atomic_load(&first_thread) != own) {
        atomic_store(&second_thread, own);
    }
    return 0;
}

static void two_models_two_streams(const char *file, const char *settings)
{
    uint32_t models[2];
    aclrtStream streams[2];
    Run runs[2];
    int i;

    CHECK(aclmdlInitDump());
    CHECK(aclmdlSetDump(settings));
    CHECK(acldumpRegCallback(meet, 0));
    for (i = 0; i < 2; i++) {
        CHECK(aclmdlLoadFromFile(file, &models[i]));
        CHECK(aclrtCreateStream(&streams[i]));
        runs[i] = prepare(models[i], (float)i);
    }
    for (i = 0; i < 2; i++) {
        CHECK(aclmdlExecuteAsync(models[i], runs[i].in, runs[i].out, streams[i]));
    }
    for (i = 0; i < 2; i++) {
        CHECK(aclrtSynchronizeStream(streams[i]));
    }
    REQUIRE(atomic_load(&operators) > 2);
    REQUIRE(atomic_load(&second_thread) != 0);
    acldumpUnregCallback();
    CHECK(aclmdlFinalizeDump());
    for (i = 0; i < 2; i++) {
        CHECK(aclmdlUnload(models[i]));
        CHECK(aclrtDestroyStream(streams[i]));
    }
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    one_model_two_threads(argv[1], 0);
    one_model_two_threads(argv[1], 1);
    two_models_two_streams(argv[1], argv[2]);
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
