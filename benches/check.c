/* What the checks cost: a program that queues tiny tasks, and one that lets a model infer. `cargo xtask bench check` runs it.
 *
 *     check tasks            prints nanoseconds (of processor time) a task of 30,000 fills of 64 bytes, with the wait for them
 *     check model <file.om>  prints nanoseconds an inference: a copy to the device, the model, a copy back
 *
 * Both are medians of batches, in processor time of the whole process: a machine that does other things besides disturbs neither.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"

#define TASKS 30000
#define BYTES 64
#define INFERENCES 10
#define WARM 5
#define ROUNDS 51

#define MUST(call)                                                    \
    do {                                                              \
        aclError code_ = (call);                                      \
        if (code_ != ACL_SUCCESS) {                                   \
            fprintf(stderr, "%s: %d\n", #call, (int)code_);           \
            exit(2);                                                  \
        }                                                             \
    } while (0)

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double tasks(aclrtStream stream, void *memory)
{
    double start = now();
    for (int i = 0; i < TASKS; i++) {
        MUST(aclrtMemsetAsync(memory, BYTES, i & 255, BYTES, stream));
    }
    MUST(aclrtSynchronizeStream(stream));
    return (now() - start) / TASKS;
}

typedef struct {
    uint32_t id;
    size_t in_bytes, out_bytes;
    void *in, *out;
    char *host_in, *host_out;
    aclmdlDataset *inputs, *outputs;
    aclDataBuffer *in_buffer, *out_buffer;
    aclmdlDesc *desc;
} Model;

static void load(Model *model, const char *path)
{
    MUST(aclmdlLoadFromFile(path, &model->id));
    model->desc = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(model->desc, model->id));
    model->in_bytes = aclmdlGetInputSizeByIndex(model->desc, 0);
    model->out_bytes = aclmdlGetOutputSizeByIndex(model->desc, 0);
    MUST(aclrtMalloc(&model->in, model->in_bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&model->out, model->out_bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMallocHost((void **)&model->host_in, model->in_bytes));
    MUST(aclrtMallocHost((void **)&model->host_out, model->out_bytes));
    memset(model->host_in, 0, model->in_bytes);
    model->in_buffer = aclCreateDataBuffer(model->in, model->in_bytes);
    model->out_buffer = aclCreateDataBuffer(model->out, model->out_bytes);
    model->inputs = aclmdlCreateDataset();
    model->outputs = aclmdlCreateDataset();
    MUST(aclmdlAddDatasetBuffer(model->inputs, model->in_buffer));
    MUST(aclmdlAddDatasetBuffer(model->outputs, model->out_buffer));
}

static double infer(Model *model, aclrtStream stream)
{
    double start = now();
    for (int i = 0; i < INFERENCES; i++) {
        MUST(aclrtMemcpyAsync(model->in, model->in_bytes, model->host_in, model->in_bytes, ACL_MEMCPY_HOST_TO_DEVICE,
                              stream));
        MUST(aclmdlExecuteAsync(model->id, model->inputs, model->outputs, stream));
        MUST(aclrtMemcpyAsync(model->host_out, model->out_bytes, model->out, model->out_bytes,
                              ACL_MEMCPY_DEVICE_TO_HOST, stream));
        MUST(aclrtSynchronizeStream(stream));
    }
    return (now() - start) / INFERENCES;
}

static void unload(Model *model)
{
    MUST(aclmdlDestroyDataset(model->inputs));
    MUST(aclmdlDestroyDataset(model->outputs));
    MUST(aclDestroyDataBuffer(model->in_buffer));
    MUST(aclDestroyDataBuffer(model->out_buffer));
    MUST(aclmdlDestroyDesc(model->desc));
    MUST(aclmdlUnload(model->id));
    MUST(aclrtFree(model->in));
    MUST(aclrtFree(model->out));
    MUST(aclrtFreeHost(model->host_in));
    MUST(aclrtFreeHost(model->host_out));
}

int main(int count, char **words)
{
    const int is_model = count > 2 && strcmp(words[1], "model") == 0;
    double rounds[ROUNDS];
    aclrtStream stream;
    void *memory;
    Model model;

    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&stream));
    MUST(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    if (is_model) {
        load(&model, words[2]);
    }
    for (int i = -WARM; i < ROUNDS; i++) {
        double round = is_model ? infer(&model, stream) : tasks(stream, memory);
        /* The first ones pay for what is done once. */
        if (i >= 0) {
            rounds[i] = round;
        }
    }
    if (is_model) {
        unload(&model);
    }
    MUST(aclrtFree(memory));
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
    printf("%.2f\n", rounds[ROUNDS / 2]);
    return 0;
}
