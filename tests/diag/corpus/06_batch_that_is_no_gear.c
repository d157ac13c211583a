/* NEEDS model */
#include "corpus.h"

int main(void)
{
    uint32_t model;
    aclmdlDesc *description;
    aclmdlDataset *inputs;
    aclDataBuffer *in;
    void *input;
    size_t wanted;

    set_up();
    MUST(aclmdlLoadFromFile(getenv("CORPUS_MODEL"), &model));
    description = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(description, model));
    wanted = aclmdlGetInputSizeByIndex(description, 0);
    MUST(aclrtMalloc(&input, wanted, ACL_MEM_MALLOC_HUGE_FIRST));
    in = aclCreateDataBuffer(input, wanted);
    inputs = aclmdlCreateDataset();
    MUST(aclmdlAddDatasetBuffer(inputs, in));
#ifndef CLEAN
    /* It was converted for a batch of one image. */
    TRY(aclmdlSetDynamicBatchSize(model, inputs, 0, 3)); /* FINDS JMR-MODEL-013 */
#endif
    MUST(aclmdlDestroyDataset(inputs));
    MUST(aclDestroyDataBuffer(in));
    MUST(aclrtFree(input));
    MUST(aclmdlDestroyDesc(description));
    MUST(aclmdlUnload(model));
    tear_down();
    return 0;
}
