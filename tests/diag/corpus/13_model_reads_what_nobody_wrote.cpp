// The input of a model is allocated and never filled.
// NEEDS model
#include "corpus.h"

int main()
{
    uint32_t model;
    aclrtStream stream;
    void *input, *output;

    set_up();
    MUST(aclrtCreateStream(&stream));
    MUST(aclmdlLoadFromFile(getenv("CORPUS_MODEL"), &model));
    aclmdlDesc *description = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(description, model));
    const size_t wanted = aclmdlGetInputSizeByIndex(description, 0), given = aclmdlGetOutputSizeByIndex(description, 0);
    MUST(aclrtMalloc(&input, wanted, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&output, given, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef CLEAN
    MUST(aclrtMemset(input, wanted, 0, wanted));
#endif
    aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
    aclDataBuffer *in = aclCreateDataBuffer(input, wanted), *out = aclCreateDataBuffer(output, given);
    MUST(aclmdlAddDatasetBuffer(inputs, in));
    MUST(aclmdlAddDatasetBuffer(outputs, out));
    MUST(aclmdlExecuteAsync(model, inputs, outputs, stream)); // FINDS JMR-MEM-009
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclmdlDestroyDataset(inputs));
    MUST(aclmdlDestroyDataset(outputs));
    MUST(aclDestroyDataBuffer(in));
    MUST(aclDestroyDataBuffer(out));
    MUST(aclrtFree(output));
    MUST(aclrtFree(input));
    MUST(aclmdlDestroyDesc(description));
    MUST(aclmdlUnload(model));
    MUST(aclrtDestroyStream(stream));
    tear_down();
    return 0;
}
