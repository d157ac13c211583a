/* NEEDS model */
#include "zoo.h"

int main(void)
{
    uint32_t model;
    aclmdlDesc *description;
    aclmdlDataset *inputs;
    aclDataBuffer *in, *control;
    void *input, *number;
    size_t index, wanted;

    set_up();
    MUST(aclmdlLoadFromFile(getenv("ZOO_GEARS"), &model));
    description = aclmdlCreateDesc();
    MUST(aclmdlGetDesc(description, model));
    MUST(aclmdlGetInputIndexByName(description, ACL_DYNAMIC_TENSOR_NAME, &index));
    wanted = aclmdlGetInputSizeByIndex(description, 0);
    MUST(aclrtMalloc(&input, wanted, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&number, aclmdlGetInputSizeByIndex(description, index), ACL_MEM_MALLOC_HUGE_FIRST));
    in = aclCreateDataBuffer(input, wanted);
    control = aclCreateDataBuffer(number, aclmdlGetInputSizeByIndex(description, index));
    inputs = aclmdlCreateDataset();
    MUST(aclmdlAddDatasetBuffer(inputs, in));
    MUST(aclmdlAddDatasetBuffer(inputs, control));
#ifdef CLEAN
    MUST(aclmdlSetDynamicBatchSize(model, inputs, index, 4));
#else
    TRY(aclmdlSetDynamicBatchSize(model, inputs, index, 3)); /* FINDS JMR-MODEL-013 */
#endif
    MUST(aclmdlDestroyDataset(inputs));
    MUST(aclDestroyDataBuffer(control));
    MUST(aclDestroyDataBuffer(in));
    MUST(aclrtFree(number));
    MUST(aclrtFree(input));
    MUST(aclmdlDestroyDesc(description));
    MUST(aclmdlUnload(model));
    tear_down();
    return 0;
}
