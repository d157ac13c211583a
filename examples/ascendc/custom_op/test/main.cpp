// Calls the operator by its two functions, for two types and with and without a factor, and compares with the host's values.
#include <cmath>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnn_axpy_custom.h"

namespace {

float value_of(size_t at, size_t seed)
{
    return static_cast<float>((at * 37 + seed) % 101) * 0.25f - 12.0f;
}

struct Tensor {
    void* data = nullptr;
    aclTensor* tensor = nullptr;

    Tensor(const std::vector<int64_t>& shape, aclDataType type, size_t bytes)
    {
        aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        std::vector<int64_t> strides(shape.size(), 1);
        for (size_t at = shape.size() - 1; at-- > 0;) strides[at] = strides[at + 1] * shape[at + 1];
        tensor = aclCreateTensor(shape.data(), shape.size(), type, strides.data(), 0, ACL_FORMAT_ND, shape.data(), shape.size(), data);
    }
    ~Tensor()
    {
        aclDestroyTensor(tensor);
        aclrtFree(data);
    }
};

// Returns the number of wrong results; -1 if a call fails.
template <typename T> int64_t check(aclDataType type, const std::vector<int64_t>& shape, double alpha, aclrtStream stream)
{
    size_t elements = 1;
    for (int64_t dim : shape) elements *= static_cast<size_t>(dim);
    const size_t bytes = elements * sizeof(T);
    std::vector<T> x(elements), y(elements), z(elements);
    for (size_t at = 0; at < elements; at++) {
        x[at] = static_cast<T>(value_of(at, 1));
        y[at] = static_cast<T>(value_of(at, 50));
    }
    Tensor first(shape, type, bytes), second(shape, type, bytes), result(shape, type, bytes);
    aclrtMemcpy(first.data, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(second.data, bytes, y.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);

    uint64_t workspace_bytes = 0;
    aclOpExecutor* executor = nullptr;
    if (aclnnAxpyCustomGetWorkspaceSize(first.tensor, second.tensor, alpha, result.tensor, &workspace_bytes, &executor) != 0) return -1;
    void* workspace = nullptr;
    if (workspace_bytes > 0) aclrtMalloc(&workspace, workspace_bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (aclnnAxpyCustom(workspace, workspace_bytes, executor, stream) != 0) return -1;
    if (aclrtSynchronizeStream(stream) != 0) return -1;
    aclrtMemcpy(z.data(), bytes, result.data, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    if (workspace) aclrtFree(workspace);
    int64_t wrong = 0;
    for (size_t at = 0; at < elements; at++) {
        const T product = static_cast<T>(static_cast<T>(alpha) * x[at]);
        wrong += z[at] != static_cast<T>(product + y[at]);
    }
    return wrong;
}

} // namespace

int main()
{
    aclrtStream stream = nullptr;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 1;
    const int64_t wrong[] = {
        check<_Float16>(ACL_FLOAT16, {8, 2048}, 1.0, stream), check<_Float16>(ACL_FLOAT16, {3, 5, 7}, 0.5, stream),
        check<float>(ACL_FLOAT, {1000, 1000}, 2.5, stream),   check<float>(ACL_FLOAT, {1}, 1.0, stream),
    };
    for (int64_t count : wrong) std::printf("%lld wrong results\n", static_cast<long long>(count));

    // A combination that the definition does not have is refused.
    Tensor integers({4}, ACL_INT32, 16), floats({4}, ACL_FLOAT, 16);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    const int refused = aclnnAxpyCustomGetWorkspaceSize(integers.tensor, floats.tensor, 1.0, floats.tensor, &bytes, &executor);
    std::printf("types that do not go together: %d\n", refused);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    for (int64_t count : wrong)
        if (count != 0) return 1;
    return refused == 161002 ? 0 : 1;
}
