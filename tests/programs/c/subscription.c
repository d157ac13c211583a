/* Reads the records of a subscribed model until the pipe ends: subscription [<model>]
 *
 * Unsubscribing closes the pipe's writing end, so that a thread that reads until the end of the data ends, although the
 * program does not close the writing end itself. A model of another runtime, which it reports to the profiler, can be
 * subscribed to as well; it has no records. With a model of one input and one output, its operators have.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "acl/acl_prof.h"

int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t model, const uint32_t device);
int32_t MsprofUnsetDeviceIdByGeModelIdx(const uint32_t model, const uint32_t device);

struct reader {
    int descriptor;
    uint32_t model;
    size_t records;
};

/* Reads until the writing end is closed. */
static void *read_all(void *argument)
{
    struct reader *reader = argument;
    size_t size = 0;
    ssize_t got;
    CHECK(aclprofGetOpDescSize(&size));
    char *record = malloc(size);
    REQUIRE(record != NULL);
    while ((got = read(reader->descriptor, record, size)) > 0) {
        uint32_t count = 0;
        REQUIRE((size_t)got == size);
        CHECK(aclprofGetOpNum(record, size, &count));
        REQUIRE(count == 1 && aclprofGetModelId(record, size, 0) == reader->model);
        reader->records++;
    }
    REQUIRE(got == 0);
    free(record);
    return NULL;
}

static int is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) != -1 || errno != EBADF;
}

static aclmdlDataset *dataset(size_t size)
{
    void *memory = NULL;
    aclmdlDataset *made = aclmdlCreateDataset();
    CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(memory, size, 0, size));
    CHECK(aclmdlAddDatasetBuffer(made, aclCreateDataBuffer(memory, size)));
    return made;
}

static void execute(uint32_t model)
{
    aclmdlDesc *desc = aclmdlCreateDesc();
    CHECK(aclmdlGetDesc(desc, model));
    REQUIRE(aclmdlGetNumInputs(desc) == 1 && aclmdlGetNumOutputs(desc) == 1);
    aclmdlDataset *input = dataset(aclmdlGetInputSizeByIndex(desc, 0));
    aclmdlDataset *output = dataset(aclmdlGetOutputSizeByIndex(desc, 0));
    CHECK(aclmdlExecute(model, input, output));
    for (int end = 0; end < 2; end++) {
        aclmdlDataset *one = end ? output : input;
        aclDataBuffer *buffer = aclmdlGetDatasetBuffer(one, 0);
        CHECK(aclrtFree(aclGetDataBufferAddr(buffer)));
        CHECK(aclDestroyDataBuffer(buffer));
        CHECK(aclmdlDestroyDataset(one));
    }
    CHECK(aclmdlDestroyDesc(desc));
}

/* Subscribes, executes a model that is loaded, and unsubscribes before or after the model is unloaded. */
static size_t subscribe(uint32_t model, int is_loaded, int unloads_first)
{
    int ends[2];
    pthread_t thread;
    struct reader reader = {.model = model};
    REQUIRE(pipe(ends) == 0);
    aclprofSubscribeConfig *config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &ends[1]);
    REQUIRE(config != NULL);
    CHECK(aclprofModelSubscribe(model, config));
    reader.descriptor = ends[0];
    REQUIRE(pthread_create(&thread, NULL, read_all, &reader) == 0);
    if (is_loaded) {
        execute(model);
        if (unloads_first) {
            CHECK(aclmdlUnload(model));
        }
    }
    REQUIRE(is_open(ends[1]));
    CHECK(aclprofModelUnSubscribe(model));
    REQUIRE(!is_open(ends[1]));
    REQUIRE(pthread_join(thread, NULL) == 0);
    REQUIRE(close(ends[0]) == 0);
    CHECK(aclprofDestroySubscribeConfig(config));
    return reader.records;
}

/* A descriptor that the program has closed itself, and that stands for another file since, stays open. */
static void closed_before(uint32_t model)
{
    int ends[2], others[2];
    REQUIRE(pipe(ends) == 0);
    aclprofSubscribeConfig *config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &ends[1]);
    CHECK(aclprofModelSubscribe(model, config));
    REQUIRE(pipe(others) == 0 && dup2(others[1], ends[1]) == ends[1]);
    CHECK(aclprofModelUnSubscribe(model));
    REQUIRE(is_open(ends[1]));
    CHECK(aclprofDestroySubscribeConfig(config));
    close(ends[0]);
    close(ends[1]);
    close(others[0]);
    close(others[1]);
}

int main(int argc, char **argv)
{
    const uint32_t reported = 4242;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));

    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    aclprofSubscribeConfig *config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &pipe_ends[1]);
    EXPECT(ACL_ERROR_INVALID_MODEL_ID, aclprofModelSubscribe(reported, config));
    REQUIRE(MsprofSetDeviceIdByGeModelIdx(reported, 0) == 0);
    REQUIRE(subscribe(reported, 0, 0) == 0);
    REQUIRE(subscribe(reported, 0, 0) == 0);
    closed_before(reported);
    EXPECT(ACL_ERROR_INVALID_PARAM, aclprofModelUnSubscribe(reported));
    REQUIRE(MsprofUnsetDeviceIdByGeModelIdx(reported, 0) == 0);
    EXPECT(ACL_ERROR_INVALID_MODEL_ID, aclprofModelSubscribe(reported, config));
    EXPECT(ACL_ERROR_INVALID_MODEL_ID, aclprofModelUnSubscribe(reported));
    CHECK(aclprofDestroySubscribeConfig(config));

    if (argc > 1) {
        uint32_t model = 0;
        CHECK(aclmdlLoadFromFile(argv[1], &model));
        REQUIRE(subscribe(model, 1, 0) > 0);
        REQUIRE(subscribe(model, 1, 1) > 0);
        EXPECT(ACL_ERROR_INVALID_MODEL_ID, aclprofModelUnSubscribe(model));
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
