// Tensors, scalars, arrays and lists: what they hold, who owns what, and what is refused.

#include "program.h"

#include "aclnnop/aclnn_npu_format_cast.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"

static void check_dims(aclnnStatus (*get)(const aclTensor *, int64_t **, uint64_t *), const aclTensor *tensor,
    const std::vector<int64_t> &wanted)
{
    int64_t *dims = nullptr;
    uint64_t count = 99;
    CHECK(get(tensor, &dims, &count) == OK);
    CHECK(dims != nullptr);
    CHECK(std::vector<int64_t>(dims, dims + count) == wanted);
    delete[] dims;
}

static void tensors()
{
    int64_t dims[] = {2, 3};
    int64_t strides[] = {1, 2};
    int64_t storage[] = {3, 2};
    aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT16, strides, 4, ACL_FORMAT_NCHW, storage, 2, &dims);
    CHECK(tensor != nullptr);
    // The arrays were copied.
    dims[0] = strides[0] = storage[0] = 7;
    check_dims(aclGetViewShape, tensor, {2, 3});
    check_dims(aclGetViewStrides, tensor, {1, 2});
    check_dims(aclGetStorageShape, tensor, {3, 2});
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType type = ACL_DT_UNDEFINED;
    void *address = nullptr;
    CHECK(aclGetViewOffset(tensor, &offset) == 0 && offset == 4);
    CHECK(aclGetFormat(tensor, &format) == 0 && format == ACL_FORMAT_NCHW);
    CHECK(aclGetDataType(tensor, &type) == 0 && type == ACL_FLOAT16);
    CHECK(aclGetRawTensorAddr(tensor, &address) == 0 && address == &dims);
    CHECK(aclSetRawTensorAddr(tensor, &strides) == 0);
    CHECK(aclGetRawTensorAddr(tensor, &address) == 0 && address == &strides);

    // No strides stand for dense ones, and no dimensions for one element.
    const int64_t three[] = {2, 3, 4};
    CHECK(aclInitTensor(tensor, three, 3, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, three, 3, nullptr) == 0);
    check_dims(aclGetViewStrides, tensor, {12, 4, 1});
    CHECK(aclGetDataType(tensor, &type) == 0 && type == ACL_INT64);
    CHECK(aclInitTensor(tensor, nullptr, 0, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr) == 0);
    check_dims(aclGetViewShape, tensor, {});

    int64_t *out = nullptr;
    uint64_t count = 0;
    REFUSED(aclGetViewShape(nullptr, &out, &count), 161001, "null");
    REFUSED(aclGetViewShape(tensor, nullptr, &count), 161001, "viewDims");
    REFUSED(aclSetRawTensorAddr(nullptr, &strides), 161001, "tensor");
    REFUSED(aclInitTensor(tensor, three, 3, ACL_DT_UNDEFINED, nullptr, 0, ACL_FORMAT_ND, three, 3, nullptr), 161002, "ACL_DT_UNDEFINED");
    CHECK(aclDestroyTensor(tensor) == 0);
    REFUSED(aclDestroyTensor(tensor), 161002, "aclDestroyTensor");
    REFUSED(aclGetViewShape(tensor, &out, &count), 161002, "destroyed");
    REFUSED(aclDestroyTensor((aclTensor *)&dims), 161002, "tensor");

    const int64_t negative[] = {2, -1};
    CHECK(aclCreateTensor(negative, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, negative, 2, nullptr) == nullptr);
    CHECK(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, three, 2, nullptr) == nullptr);
    CHECK(aclCreateTensor(three, 2, (aclDataType)77, nullptr, 0, ACL_FORMAT_ND, three, 2, nullptr) == nullptr);
    CHECK(aclCreateTensor(three, 2, ACL_STRING, nullptr, 0, ACL_FORMAT_ND, three, 2, nullptr) == nullptr);
    CHECK(aclCreateTensor(three, 2, ACL_FLOAT, nullptr, -1, ACL_FORMAT_ND, three, 2, nullptr) == nullptr);
    CHECK(aclCreateTensor(three, 2, ACL_FLOAT, nullptr, 0, (aclFormat)4711, three, 2, nullptr) == nullptr);
    MESSAGE_HAS("aclFormat");
}

static void arrays()
{
    const int64_t ints[] = {1, 2, 3};
    const float floats[] = {1, 2};
    const bool bools[] = {true, false, true, true};
    aclIntArray *int_array = aclCreateIntArray(ints, 3);
    aclFloatArray *float_array = aclCreateFloatArray(floats, 2);
    aclBoolArray *bool_array = aclCreateBoolArray(bools, 4);
    uint64_t size = 0;
    CHECK(aclGetIntArraySize(int_array, &size) == 0 && size == 3);
    CHECK(aclGetFloatArraySize(float_array, &size) == 0 && size == 2);
    CHECK(aclGetBoolArraySize(bool_array, &size) == 0 && size == 4);
    REFUSED(aclGetIntArraySize(nullptr, &size), 161001, "null");
    REFUSED(aclGetIntArraySize((aclIntArray *)bool_array, &size), 161002, "array of integers");
    CHECK(aclDestroyIntArray(int_array) == 0);
    CHECK(aclDestroyFloatArray(float_array) == 0);
    CHECK(aclDestroyBoolArray(bool_array) == 0);
    REFUSED(aclDestroyIntArray(int_array), 161002, "destroyed");

    aclIntArray *empty = aclCreateIntArray(nullptr, 0);
    CHECK(empty != nullptr);
    CHECK(aclGetIntArraySize(empty, &size) == 0 && size == 0);
    CHECK(aclDestroyIntArray(empty) == 0);
    CHECK(aclCreateIntArray(nullptr, 2) == nullptr);
    CHECK(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr);
    float one = 1;
    CHECK(aclCreateScalar(&one, ACL_STRING) == nullptr);
    MESSAGE_HAS("ACL_STRING");
}

static void lists()
{
    const int64_t dim = 4;
    aclTensor *tensors[] = {tensor_of(nullptr, {dim}), nullptr, tensor_of(nullptr, {dim})};
    aclTensorList *list = aclCreateTensorList(tensors, 3);
    uint64_t size = 0;
    CHECK(aclGetTensorListSize(list, &size) == 0 && size == 3);
    CHECK(aclDestroyTensorList(list) == 0);
    // The list took its tensors with it.
    REFUSED(aclDestroyTensor(tensors[0]), 161002, "aclDestroyTensorList");
    REFUSED(aclDestroyTensor(tensors[2]), 161002, "aclDestroyTensorList");
    CHECK(aclCreateTensorList(tensors, 3) == nullptr);
    MESSAGE_HAS("value[0]");

    // A tensor that the program destroyed first does not stand in the way.
    tensors[0] = tensor_of(nullptr, {dim});
    list = aclCreateTensorList(tensors, 1);
    CHECK(aclDestroyTensor(tensors[0]) == 0);
    CHECK(aclDestroyTensorList(list) == 0);

    aclScalar *scalars[] = {scalar_of(1), scalar_of(2)};
    aclScalarList *numbers = aclCreateScalarList(scalars, 2);
    CHECK(aclGetScalarListSize(numbers, &size) == 0 && size == 2);
    CHECK(aclDestroyScalarList(numbers) == 0);
    REFUSED(aclDestroyScalar(scalars[1]), 161002, "aclDestroyScalarList");
}

static void null_is_harmless()
{
    CHECK(aclDestroyTensor(nullptr) == 0);
    CHECK(aclDestroyScalar(nullptr) == 0);
    CHECK(aclDestroyIntArray(nullptr) == 0);
    CHECK(aclDestroyFloatArray(nullptr) == 0);
    CHECK(aclDestroyBoolArray(nullptr) == 0);
    CHECK(aclDestroyTensorList(nullptr) == 0);
    CHECK(aclDestroyScalarList(nullptr) == 0);
    REFUSED(aclDestroyAclOpExecutor(nullptr), 561103, "executor");
    REFUSED(aclSetAclOpExecutorRepeatable(nullptr), 561103, "executor");
}

static void weights()
{
    const int64_t dims[] = {3, 17, 30};
    aclIntArray *shape = aclCreateIntArray(dims, 3);
    uint64_t elements = 0;
    CHECK(aclnnCalculateMatmulWeightSize(shape, &elements) == 0 && elements == 3 * 32 * 32);
    CHECK(aclnnCalculateMatmulWeightSizeV2(shape, ACL_FLOAT16, &elements) == 0 && elements == 3 * 32 * 32);
    CHECK(aclnnCalculateMatmulWeightSizeV2(shape, ACL_INT8, &elements) == 0 && elements == 3 * 32 * 32);
    REFUSED(aclnnCalculateMatmulWeightSizeV2(nullptr, ACL_FLOAT16, &elements), 161001, "null");
    REFUSED(aclnnCalculateMatmulWeightSizeV2(shape, ACL_FLOAT16, nullptr), 161001, "weightTensorSize");
    CHECK(aclDestroyIntArray(shape) == 0);
}

static void shapes_after_a_cast_of_the_format()
{
    aclTensor *matrix = tensor_of(nullptr, {3, 17, 30});
    int64_t *shape = nullptr;
    uint64_t size = 0;
    int format = 0;
    const std::vector<int64_t> by_half = {3, 2, 2, 16, 16}, by_float = {3, 4, 2, 16, 8}, plain = {3, 17, 30};
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(matrix, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16, &shape, &size, &format) == 0);
    CHECK(format == ACL_FORMAT_FRACTAL_NZ && std::vector<int64_t>(shape, shape + size) == by_half);
    delete[] shape;
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(matrix, ACL_FORMAT_FRACTAL_NZ, -1, &shape, &size, &format) == 0);
    CHECK(std::vector<int64_t>(shape, shape + size) == by_float);
    delete[] shape;
    CHECK(aclnnNpuFormatCastCalculateSizeAndFormat(matrix, ACL_FORMAT_ND, ACL_INT8, &shape, &size, &format) == 0);
    CHECK(format == ACL_FORMAT_ND && std::vector<int64_t>(shape, shape + size) == plain);
    delete[] shape;
    REFUSED(aclnnNpuFormatCastCalculateSizeAndFormat(nullptr, ACL_FORMAT_ND, ACL_INT8, &shape, &size, &format), 161001, "null");
    REFUSED(aclnnNpuFormatCastCalculateSizeAndFormat(matrix, ACL_FORMAT_NC1HWC0, ACL_INT8, &shape, &size, &format), 361001, "dstFormat is 3");
    REFUSED(aclnnNpuFormatCastCalculateSizeAndFormat(matrix, ACL_FORMAT_FRACTAL_NZ, ACL_DOUBLE, &shape, &size, &format), 161002, "additionalDtype");
    CHECK(aclDestroyTensor(matrix) == 0);
    matrix = tensor_of(nullptr, {17});
    REFUSED(aclnnNpuFormatCastCalculateSizeAndFormat(matrix, ACL_FORMAT_FRACTAL_NZ, ACL_INT8, &shape, &size, &format), 161002, "2 to 6 dimensions");
    CHECK(aclDestroyTensor(matrix) == 0);
}

int main()
{
    // Objects need neither aclInit nor a device; aclnnInit and aclInit do not disturb each other.
    CHECK(aclnnInit(nullptr) == 0);
    tensors();
    arrays();
    lists();
    null_is_harmless();
    weights();
    shapes_after_a_cast_of_the_format();
    CHECK(aclInit(nullptr) == 0);
    CHECK(aclnnInit(nullptr) == 0);
    REFUSED(aclnnInit("/nowhere/at/all.json"), 161002, "/nowhere/at/all.json");
    CHECK(aclnnFinalize() == 0);
    CHECK(aclnnFinalize() == 0);
    CHECK(aclFinalize() == 0);
    std::printf("done\n");
}
