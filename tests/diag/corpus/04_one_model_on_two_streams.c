/* NEEDS model */
#include "corpus.h"

int main(void)
{
    uint32_t model;
    aclmdlDesc *description;
    aclmdlDataset *inputs, *outputs;
    aclDataBuffer *in, *out;
    void *input, *output;
    size_t wanted, given;
    aclrtStream first, second;
    aclrtEvent done;

    set_up();
    MUST(aclmdlLoadFromFile(getenv("CORPUS_MODEL"), &model));
    description = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(description, model));
    wanted = aclmdlGetInputSizeByIndex(description, 0);
    given = aclmdlGetOutputSizeByIndex(description, 0);
    MUST(aclrtMalloc(&input, wanted, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&output, given, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(input, wanted, 0, wanted));
    in = aclCreateDataBuffer(input, wanted);
    out = aclCreateDataBuffer(output, given);
    inputs = aclmdlCreateDataset();
    outputs = aclmdlCreateDataset();
    MUST(aclmdlAddDatasetBuffer(inputs, in));
    MUST(aclmdlAddDatasetBuffer(outputs, out));
    MUST(aclrtCreateStream(&first));
    MUST(aclrtCreateStream(&second));
    MUST(aclrtCreateEvent(&done));
    MUST(aclmdlExecuteAsync(model, inputs, outputs, first));
    MUST(aclrtRecordEvent(done, first));
#ifdef CLEAN
    MUST(aclrtStreamWaitEvent(second, done));
#endif
    MUST(aclmdlExecuteAsync(model, inputs, outputs, second)); /* FINDS JMR-MODEL-010 */
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtDestroyEvent(done));
    MUST(aclrtDestroyStream(second));
    MUST(aclrtDestroyStream(first));
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
