/* run_model model.om inputs... : loads the model twice, runs both copies at the same time on two streams, each with the inputs of the
 * files, and writes what they give to output_<copy>_<index> in the working folder. */
#include <stdio.h>
#include <stdlib.h>
#include "acl/acl.h"

#define COPIES 2
#define MOST 64
/* An output whose size is known only after the run gets this much. */
#define DYNAMIC_BYTES (1 << 20)
#define GOOD(call)                                                                                  \
    do {                                                                                            \
        aclError code = (call);                                                                     \
        if (code != ACL_SUCCESS) {                                                                  \
            fprintf(stderr, "%s: %d: %s\n", #call, code, aclGetRecentErrMsg());                     \
            exit(1);                                                                                \
        }                                                                                           \
    } while (0)

static size_t capacity(size_t size)
{
    return size == 0 ? DYNAMIC_BYTES : size;
}

struct run {
    uint32_t model;
    aclmdlDesc *desc;
    aclrtStream stream;
    aclmdlDataset *inputs, *outputs;
    void *device_in[MOST], *device_out[MOST], *host_in[MOST], *host_out[MOST];
};

static void read_file(const char *path, void *to, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(to, 1, size, file) != size || fgetc(file) != EOF) {
        fprintf(stderr, "%s does not hold %zu bytes\n", path, size);
        exit(2);
    }
    fclose(file);
}

static void add(aclmdlDataset *dataset, void *memory, size_t size)
{
    aclDataBuffer *buffer = aclCreateDataBuffer(memory, size);
    GOOD(aclmdlAddDatasetBuffer(dataset, buffer));
}

static void prepare(struct run *run, const char *model, char **files, size_t count)
{
    GOOD(aclmdlLoadFromFile(model, &run->model));
    run->desc = aclmdlCreateDesc();
    GOOD(aclmdlGetDesc(run->desc, run->model));
    GOOD(aclrtCreateStream(&run->stream));
    run->inputs = aclmdlCreateDataset();
    run->outputs = aclmdlCreateDataset();
    if (aclmdlGetNumInputs(run->desc) != count) {
        fprintf(stderr, "the model takes %zu inputs\n", aclmdlGetNumInputs(run->desc));
        exit(2);
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = aclmdlGetInputSizeByIndex(run->desc, i);
        GOOD(aclrtMallocHost(&run->host_in[i], size));
        GOOD(aclrtMalloc(&run->device_in[i], size, ACL_MEM_MALLOC_HUGE_FIRST));
        read_file(files[i], run->host_in[i], size);
        add(run->inputs, run->device_in[i], size);
    }
    for (size_t i = 0; i < aclmdlGetNumOutputs(run->desc); i++) {
        size_t size = capacity(aclmdlGetOutputSizeByIndex(run->desc, i));
        GOOD(aclrtMallocHost(&run->host_out[i], size));
        GOOD(aclrtMalloc(&run->device_out[i], size, ACL_MEM_MALLOC_HUGE_FIRST));
        add(run->outputs, run->device_out[i], size);
    }
}

static void submit(struct run *run)
{
    for (size_t i = 0; i < aclmdlGetNumInputs(run->desc); i++) {
        size_t size = aclmdlGetInputSizeByIndex(run->desc, i);
        GOOD(aclrtMemcpyAsync(run->device_in[i], size, run->host_in[i], size, ACL_MEMCPY_HOST_TO_DEVICE, run->stream));
    }
    GOOD(aclmdlExecuteAsync(run->model, run->inputs, run->outputs, run->stream));
    for (size_t i = 0; i < aclmdlGetNumOutputs(run->desc); i++) {
        size_t size = capacity(aclmdlGetOutputSizeByIndex(run->desc, i));
        GOOD(aclrtMemcpyAsync(run->host_out[i], size, run->device_out[i], size, ACL_MEMCPY_DEVICE_TO_HOST, run->stream));
    }
}

static void finish(struct run *run, int copy)
{
    GOOD(aclrtSynchronizeStream(run->stream));
    for (size_t i = 0; i < aclmdlGetNumOutputs(run->desc); i++) {
        char name[64];
        size_t size = aclmdlGetOutputSizeByIndex(run->desc, i);
        FILE *file;
        if (size == 0) {
            size = aclGetTensorDescSize(aclmdlGetDatasetTensorDesc(run->outputs, i));
        }
        snprintf(name, sizeof name, "output_%d_%zu", copy, i);
        file = fopen(name, "wb");
        if (file == NULL || fwrite(run->host_out[i], 1, size, file) != size) {
            exit(2);
        }
        fclose(file);
        GOOD(aclrtFree(run->device_out[i]));
        GOOD(aclrtFreeHost(run->host_out[i]));
    }
    for (size_t i = 0; i < aclmdlGetNumInputs(run->desc); i++) {
        GOOD(aclrtFree(run->device_in[i]));
        GOOD(aclrtFreeHost(run->host_in[i]));
    }
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(run->inputs); i++) {
        GOOD(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(run->inputs, i)));
    }
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(run->outputs); i++) {
        GOOD(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(run->outputs, i)));
    }
    GOOD(aclmdlDestroyDataset(run->inputs));
    GOOD(aclmdlDestroyDataset(run->outputs));
    GOOD(aclmdlDestroyDesc(run->desc));
    GOOD(aclrtDestroyStream(run->stream));
    GOOD(aclmdlUnload(run->model));
}

int main(int argc, char **argv)
{
    struct run runs[COPIES];
    if (argc < 2 || argc - 2 > MOST) {
        return 2;
    }
    GOOD(aclInit(NULL));
    GOOD(aclrtSetDevice(0));
    for (int copy = 0; copy < COPIES; copy++) {
        prepare(&runs[copy], argv[1], argv + 2, (size_t)(argc - 2));
    }
    for (int copy = 0; copy < COPIES; copy++) {
        submit(&runs[copy]);
    }
    for (int copy = 0; copy < COPIES; copy++) {
        finish(&runs[copy], copy);
    }
    GOOD(aclrtResetDevice(0));
    GOOD(aclFinalize());
    return 0;
}
