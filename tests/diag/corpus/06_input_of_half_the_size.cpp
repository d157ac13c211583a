// The model takes float32, the program hands it a buffer for float16.
// NEEDS model
#include "corpus.h"

int main()
{
    uint32_t model;
    aclmdlDesc *description;
    void *input, *output;

    set_up();
    MUST(aclmdlLoadFromFile(getenv("CORPUS_MODEL"), &model));
    description = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(description, model));
    const size_t wanted = aclmdlGetInputSizeByIndex(description, 0), given = aclmdlGetOutputSizeByIndex(description, 0);
#ifdef CLEAN
    const size_t bytes = wanted;
#else
    const size_t bytes = wanted / 2;
#endif
    MUST(aclrtMalloc(&input, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(input, bytes, 0, bytes));
    MUST(aclrtMalloc(&output, given, ACL_MEM_MALLOC_HUGE_FIRST));
    aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
    aclDataBuffer *in = aclCreateDataBuffer(input, bytes), *out = aclCreateDataBuffer(output, given);
    MUST(aclmdlAddDatasetBuffer(inputs, in));
    MUST(aclmdlAddDatasetBuffer(outputs, out));
    TRY(aclmdlExecute(model, inputs, outputs)); // FINDS JMR-DATASET-002
    MUST(aclmdlDestroyDataset(inputs));
    MUST(aclmdlDestroyDataset(outputs));
    MUST(aclDestroyDataBuffer(in));
    MUST(aclDestroyDataBuffer(out));
    MUST(aclrtFree(output));
    MUST(aclrtFree(input));
    MUST(aclmdlDestroyDesc(description));
    MUST(aclmdlUnload(model));
    tear_down();
    return 0;
}
