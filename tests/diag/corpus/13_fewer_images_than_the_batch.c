/* A model for batches of 2 and of 4 images, with buffers for 4, of which two images are filled: too few for the batch of 4. */
/* NEEDS gears */
#include "corpus.h"

#define IMAGE 16

#ifdef CLEAN
#define BATCH 2
#else
#define BATCH 4
#endif

int main(void)
{
    uint32_t model;
    aclrtStream stream;
    aclmdlDesc *description;
    aclmdlDataset *inputs, *outputs;
    aclDataBuffer *buffers[3];
    void *image, *gear, *scores;
    size_t index;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclmdlLoadFromFile(getenv("CORPUS_GEARS"), &model));
    description = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(description, model));
    MUST(aclmdlGetInputIndexByName(description, ACL_DYNAMIC_TENSOR_NAME, &index));
    MUST(aclrtMalloc(&image, aclmdlGetInputSizeByIndex(description, 0), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&gear, aclmdlGetInputSizeByIndex(description, index), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&scores, aclmdlGetOutputSizeByIndex(description, 0), ACL_MEM_MALLOC_HUGE_FIRST));
    buffers[0] = aclCreateDataBuffer(image, aclmdlGetInputSizeByIndex(description, 0));
    buffers[1] = aclCreateDataBuffer(gear, aclmdlGetInputSizeByIndex(description, index));
    buffers[2] = aclCreateDataBuffer(scores, aclmdlGetOutputSizeByIndex(description, 0));
    inputs = aclmdlCreateDataset();
    outputs = aclmdlCreateDataset();
    MUST(aclmdlAddDatasetBuffer(inputs, buffers[0]));
    MUST(aclmdlAddDatasetBuffer(inputs, buffers[1]));
    MUST(aclmdlAddDatasetBuffer(outputs, buffers[2]));
    MUST(aclmdlSetDynamicBatchSize(model, inputs, index, BATCH));
    MUST(aclrtMemset(image, 2 * IMAGE, 0, 2 * IMAGE));
    MUST(aclmdlExecuteAsync(model, inputs, outputs, stream)); /* FINDS JMR-MEM-009 */
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclmdlDestroyDataset(inputs));
    MUST(aclmdlDestroyDataset(outputs));
    for (int i = 0; i < 3; i++) {
        MUST(aclDestroyDataBuffer(buffers[i]));
    }
    MUST(aclrtFree(image));
    MUST(aclrtFree(gear));
    MUST(aclrtFree(scores));
    MUST(aclmdlDestroyDesc(description));
    MUST(aclmdlUnload(model));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
