/* Datasets of the wrong count or size, and a model that is gone, are refused; what is right works before and after. */
#include "program.h"

#define INPUT 256
#define OUTPUT 40

static void *device;

static aclmdlDataset *dataset(size_t buffers, size_t size)
{
    aclmdlDataset *made = aclmdlCreateDataset();
    REQUIRE(made != NULL);
    for (size_t i = 0; i < buffers; i++) {
        aclDataBuffer *buffer = aclCreateDataBuffer(device, size);
        REQUIRE(buffer != NULL);
        CHECK(aclmdlAddDatasetBuffer(made, buffer));
    }
    return made;
}

static void discard(aclmdlDataset *made)
{
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(made); i++) {
        CHECK(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(made, i)));
    }
    CHECK(aclmdlDestroyDataset(made));
}

int main(int argc, char **argv)
{
    uint32_t id;
    aclmdlDesc *desc;
    aclmdlDataset *input, *output, *wrong;

    if (argc != 2) {
        return 2;
    }
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclmdlLoadFromFile(argv[1], &id));
    desc = aclmdlCreateDesc();
    CHECK(aclmdlGetDesc(desc, id));
    REQUIRE(aclmdlGetNumInputs(desc) == 1 && aclmdlGetInputSizeByIndex(desc, 0) == INPUT);
    REQUIRE(aclmdlGetNumOutputs(desc) == 1 && aclmdlGetOutputSizeByIndex(desc, 0) == OUTPUT);
    REQUIRE(aclmdlGetInputSizeByIndex(desc, 1) == 0 && aclmdlGetInputSizeByIndex(NULL, 0) == 0);
    CHECK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(device, 4096, 0, 4096));
    input = dataset(1, INPUT);
    output = dataset(1, OUTPUT);
    CHECK(aclmdlExecute(id, input, output));

    EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlExecute(id, NULL, output));
    EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlExecute(id, input, NULL));
    EXPECT(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlExecute(id + 1000, input, output));
    for (size_t count = 0; count <= 2; count += 2) {
        wrong = dataset(count, INPUT);
        EXPECT(ACL_ERROR_GE_FAILURE, aclmdlExecute(id, wrong, output));
        EXPECT(ACL_ERROR_GE_FAILURE, aclmdlExecute(id, input, wrong));
        discard(wrong);
    }
    /* More than 64 bytes short is refused, larger than needed is fine. */
    wrong = dataset(1, INPUT - 65);
    EXPECT(ACL_ERROR_GE_FAILURE, aclmdlExecute(id, wrong, output));
    discard(wrong);
    wrong = dataset(1, 2 * INPUT);
    CHECK(aclmdlExecute(id, wrong, output));
    discard(wrong);
    CHECK(aclmdlExecute(id, input, output));

    CHECK(aclmdlUnload(id));
    EXPECT(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlExecute(id, input, output));
    /* The description is a snapshot. */
    REQUIRE(aclmdlGetInputSizeByIndex(desc, 0) == INPUT);
    CHECK(aclmdlDestroyDesc(desc));
    discard(output);
    discard(input);
    CHECK(aclrtFree(device));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
