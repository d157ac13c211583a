/* Reads handwritten digits on a device with two streams: one carries images up and scores down, the other computes.
 *
 *     streams <model.om> <images> <labels>
 *
 * The images go in batches through two slots in turn. While the compute stream works on the batch in one slot, the
 * copy stream fills the other:
 *
 *     copy     up 0 | up 1 |  wait for 0, down 0 | up 2 |  wait for 1, down 1 | up 3 | ...
 *     compute         wait for up 0, run 0 | wait for up 1, run 1 | wait for up 2, run 2 | ...
 *
 * The streams meet in events, and the host waits only for scores that it is about to read.
 */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"
#include "images.h"

#define DEVICE_ID 0
#define SLOTS 2
#define BATCH 16
/* Each image's scores begin at an aligned address. */
#define ALIGNED(size) (((size) + 63) / 64 * 64)

/* Leaves the calling function with -1 when a call fails, and says which call it was. */
#define CHECK(call)                                                                          \
    do {                                                                                     \
        aclError ret_ = (call);                                                              \
        if (ret_ != ACL_SUCCESS) {                                                           \
            failed(#call, ret_);                                                             \
            return -1;                                                                       \
        }                                                                                    \
    } while (0)

static void failed(const char *call, aclError ret)
{
    const char *message = aclGetRecentErrMsg();
    fprintf(stderr, "%s failed with %d\n%s\n", call, (int)ret, message != NULL ? message : "");
}

/* One image of a batch: views into the slot's device memory. */
typedef struct {
    aclDataBuffer *input_buffer;
    aclDataBuffer *output_buffer;
    aclmdlDataset *input;
    aclmdlDataset *output;
} Task;

typedef struct {
    void *host_input;
    void *host_output;
    void *device_input;
    void *device_output;
    aclrtEvent uploaded;   /* the images are on the device */
    aclrtEvent computed;   /* the scores are on the device */
    aclrtEvent downloaded; /* the scores are on the host */
    Task tasks[BATCH];
} Slot;

typedef struct {
    int initialised;
    int device_set;
    aclrtMemcpyKind up;
    aclrtMemcpyKind down;
    int model_loaded;
    uint32_t model_id;
    aclmdlDesc *desc;
    size_t input_stride;
    size_t output_stride;
    aclrtStream copy;
    aclrtStream compute;
    Slot slots[SLOTS];
} Session;

static int task_open(Session *s, Task *task, char *input, char *output)
{
    task->input_buffer = aclCreateDataBuffer(input, PIXELS * sizeof(float));
    task->output_buffer = aclCreateDataBuffer(output, DIGITS * sizeof(float));
    task->input = aclmdlCreateDataset();
    task->output = aclmdlCreateDataset();
    if (task->input_buffer == NULL || task->output_buffer == NULL || task->input == NULL || task->output == NULL) {
        fprintf(stderr, "the datasets for model %u could not be created\n", s->model_id);
        return -1;
    }
    CHECK(aclmdlAddDatasetBuffer(task->input, task->input_buffer));
    CHECK(aclmdlAddDatasetBuffer(task->output, task->output_buffer));
    return 0;
}

static int slot_open(Session *s, Slot *slot)
{
    CHECK(aclrtMallocHost(&slot->host_input, BATCH * s->input_stride));
    CHECK(aclrtMallocHost(&slot->host_output, BATCH * s->output_stride));
    CHECK(aclrtMalloc(&slot->device_input, BATCH * s->input_stride, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&slot->device_output, BATCH * s->output_stride, ACL_MEM_MALLOC_HUGE_FIRST));
    /* The scores of a batch come down in one copy, and the gaps between them with it: they hold zeros, not what was there before. */
    CHECK(aclrtMemset(slot->device_output, BATCH * s->output_stride, 0, BATCH * s->output_stride));
    CHECK(aclrtCreateEvent(&slot->uploaded));
    CHECK(aclrtCreateEvent(&slot->computed));
    CHECK(aclrtCreateEvent(&slot->downloaded));
    for (size_t i = 0; i < BATCH; i++) {
        char *input = (char *)slot->device_input + i * s->input_stride;
        char *output = (char *)slot->device_output + i * s->output_stride;
        if (task_open(s, &slot->tasks[i], input, output) != 0) {
            return -1;
        }
    }
    return 0;
}

static int session_open(Session *s, const char *model_path)
{
    aclrtRunMode run_mode;

    CHECK(aclInit(NULL));
    s->initialised = 1;
    CHECK(aclrtSetDevice(DEVICE_ID));
    s->device_set = 1;
    CHECK(aclrtGetRunMode(&run_mode));
    s->up = run_mode == ACL_DEVICE ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
    s->down = run_mode == ACL_DEVICE ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;

    CHECK(aclmdlLoadFromFile(model_path, &s->model_id));
    s->model_loaded = 1;
    s->desc = aclmdlCreateDesc();
    if (s->desc == NULL) {
        fprintf(stderr, "aclmdlCreateDesc failed\n");
        return -1;
    }
    CHECK(aclmdlGetDesc(s->desc, s->model_id));
    if (aclmdlGetNumInputs(s->desc) != 1 || aclmdlGetInputSizeByIndex(s->desc, 0) != PIXELS * sizeof(float) ||
        aclmdlGetNumOutputs(s->desc) != 1 || aclmdlGetOutputSizeByIndex(s->desc, 0) != DIGITS * sizeof(float)) {
        fprintf(stderr, "the model should take one image and return %d scores\n", DIGITS);
        return -1;
    }
    s->input_stride = ALIGNED(PIXELS * sizeof(float));
    s->output_stride = ALIGNED(DIGITS * sizeof(float));

    CHECK(aclrtCreateStream(&s->copy));
    CHECK(aclrtCreateStream(&s->compute));
    for (size_t i = 0; i < SLOTS; i++) {
        if (slot_open(s, &s->slots[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static size_t batch_count(const Images *images)
{
    return (images->count + BATCH - 1) / BATCH;
}

static size_t batch_size(const Images *images, size_t batch)
{
    size_t left = images->count - batch * BATCH;
    return left < BATCH ? left : BATCH;
}

/* Fills the slot's pinned memory and sends it up. The slot must be free: its last scores have been collected. */
static int upload(Session *s, const Images *images, size_t batch)
{
    Slot *slot = &s->slots[batch % SLOTS];
    size_t count = batch_size(images, batch);

    for (size_t i = 0; i < count; i++) {
        image_to_floats(images, batch * BATCH + i, (float *)((char *)slot->host_input + i * s->input_stride));
    }
    CHECK(aclrtMemcpyAsync(slot->device_input, BATCH * s->input_stride, slot->host_input, count * s->input_stride,
                           s->up, s->copy));
    CHECK(aclrtRecordEvent(slot->uploaded, s->copy));
    return 0;
}

static int compute(Session *s, const Images *images, size_t batch)
{
    Slot *slot = &s->slots[batch % SLOTS];
    size_t count = batch_size(images, batch);

    CHECK(aclrtStreamWaitEvent(s->compute, slot->uploaded));
    for (size_t i = 0; i < count; i++) {
        CHECK(aclmdlExecuteAsync(s->model_id, slot->tasks[i].input, slot->tasks[i].output, s->compute));
    }
    CHECK(aclrtRecordEvent(slot->computed, s->compute));
    return 0;
}

static int download(Session *s, const Images *images, size_t batch)
{
    Slot *slot = &s->slots[batch % SLOTS];
    size_t count = batch_size(images, batch);

    CHECK(aclrtStreamWaitEvent(s->copy, slot->computed));
    CHECK(aclrtMemcpyAsync(slot->host_output, BATCH * s->output_stride, slot->device_output, count * s->output_stride,
                           s->down, s->copy));
    CHECK(aclrtRecordEvent(slot->downloaded, s->copy));
    return 0;
}

static int collect(Session *s, Images *images, size_t batch)
{
    Slot *slot = &s->slots[batch % SLOTS];
    size_t count = batch_size(images, batch);

    CHECK(aclrtSynchronizeEvent(slot->downloaded));
    for (size_t i = 0; i < count; i++) {
        const char *scores = (const char *)slot->host_output + i * s->output_stride;
        image_set_scores(images, batch * BATCH + i, (const float *)scores);
    }
    return 0;
}

static int session_read(Session *s, Images *images)
{
    size_t batches = batch_count(images);

    if (upload(s, images, 0) != 0) {
        return -1;
    }
    for (size_t batch = 0; batch < batches; batch++) {
        if (compute(s, images, batch) != 0) {
            return -1;
        }
        /* The next batch takes the slot of the previous one: fetch what is in there, then refill it. */
        if (batch > 0 && collect(s, images, batch - 1) != 0) {
            return -1;
        }
        if (batch + 1 < batches && upload(s, images, batch + 1) != 0) {
            return -1;
        }
        if (download(s, images, batch) != 0) {
            return -1;
        }
    }
    CHECK(aclrtSynchronizeStream(s->compute));
    CHECK(aclrtSynchronizeStream(s->copy));
    return collect(s, images, batches - 1);
}

/* Calls a release function for what is there; one failure does not stop the rest. */
#define RELEASE(present, call)               \
    do {                                     \
        if (present) {                       \
            aclError ret_ = (call);          \
            if (ret_ != ACL_SUCCESS) {       \
                failed(#call, ret_);         \
                result = -1;                 \
            }                                \
        }                                    \
    } while (0)

static int slot_close(Slot *slot)
{
    int result = 0;

    for (size_t i = BATCH; i-- > 0;) {
        Task *task = &slot->tasks[i];
        RELEASE(task->output != NULL, aclmdlDestroyDataset(task->output));
        RELEASE(task->input != NULL, aclmdlDestroyDataset(task->input));
        RELEASE(task->output_buffer != NULL, aclDestroyDataBuffer(task->output_buffer));
        RELEASE(task->input_buffer != NULL, aclDestroyDataBuffer(task->input_buffer));
    }
    RELEASE(slot->downloaded != NULL, aclrtDestroyEvent(slot->downloaded));
    RELEASE(slot->computed != NULL, aclrtDestroyEvent(slot->computed));
    RELEASE(slot->uploaded != NULL, aclrtDestroyEvent(slot->uploaded));
    RELEASE(slot->device_output != NULL, aclrtFree(slot->device_output));
    RELEASE(slot->device_input != NULL, aclrtFree(slot->device_input));
    RELEASE(slot->host_output != NULL, aclrtFreeHost(slot->host_output));
    RELEASE(slot->host_input != NULL, aclrtFreeHost(slot->host_input));
    return result;
}

/* Releases in the opposite order of session_open. */
static int session_close(Session *s)
{
    int result = 0;

    /* After an early failure there may still be work under way that uses the memory below. */
    RELEASE(s->compute != NULL, aclrtSynchronizeStream(s->compute));
    RELEASE(s->copy != NULL, aclrtSynchronizeStream(s->copy));
    for (size_t i = SLOTS; i-- > 0;) {
        if (slot_close(&s->slots[i]) != 0) {
            result = -1;
        }
    }
    RELEASE(s->compute != NULL, aclrtDestroyStream(s->compute));
    RELEASE(s->copy != NULL, aclrtDestroyStream(s->copy));
    RELEASE(s->desc != NULL, aclmdlDestroyDesc(s->desc));
    RELEASE(s->model_loaded, aclmdlUnload(s->model_id));
    RELEASE(s->device_set, aclrtResetDevice(DEVICE_ID));
    RELEASE(s->initialised, aclFinalize());
    return result;
}

int main(int argc, char **argv)
{
    static Session session; /* all zero: nothing is there yet */
    Images images;
    int result;

    if (argc != 4) {
        fprintf(stderr, "usage: %s <model.om> <images> <labels>\n", argv[0]);
        return 2;
    }
    result = images_load(&images, argv[2], argv[3]);
    if (result == 0) {
        result = session_open(&session, argv[1]);
        if (result == 0) {
            result = session_read(&session, &images);
        }
        if (session_close(&session) != 0) {
            result = -1;
        }
    }
    if (result == 0) {
        images_report(&images);
    }
    images_free(&images);
    return result == 0 ? 0 : 1;
}
