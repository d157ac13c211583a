// What a bad call of an operator answers: executors, workspaces, memory, and indices that the task finds out of range.

#include "program.h"

#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_gather.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_softmax.h"

// The stream fails with the code of a kernel's exception, and the text names the operator and the index.
#define FAILS(stream, word)                                                                                         \
    do {                                                                                                            \
        REFUSED(aclrtSynchronizeStream(stream), 507015, word);                                                      \
        CHECK(aclrtDestroyStream(stream) == 0);                                                                     \
    } while (false)

struct Indices {
    void *address = nullptr;
    int64_t count;

    explicit Indices(const std::vector<int64_t> &values) : count(static_cast<int64_t>(values.size()))
    {
        const size_t bytes = values.size() * sizeof(int64_t);
        CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
        CHECK(aclrtMemcpy(address, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE) == 0);
    }
    Indices(const Indices &) = delete;
    Indices &operator=(const Indices &) = delete;
    ~Indices() { CHECK(aclrtFree(address) == 0); }

    aclTensor *tensor(const std::vector<int64_t> &dims) const
    {
        return aclCreateTensor(dims.data(), dims.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims.data(), dims.size(), address);
    }
};

static void indices_out_of_range()
{
    Floats table(std::vector<float>(12, 1)), out(std::vector<float>(8, 0));
    const uint64_t most = 1 << 16;
    void *workspace = nullptr;
    CHECK(aclrtMalloc(&workspace, most, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    for (int64_t index : {4, -5}) {
        Indices words({0, index});
        aclTensor *weight = tensor_of(table.address, {4, 3}), *rows = tensor_of(out.address, {2, 3}), *flat = words.tensor({2});
        aclTensor *pairs = words.tensor({2, 1}), *column = tensor_of(out.address, {2, 1});
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        const std::string number = std::to_string(index);

        aclrtStream stream = nullptr;
        CHECK(aclrtCreateStream(&stream) == 0);
        CHECK(aclnnEmbeddingGetWorkspaceSize(weight, flat, rows, &size, &executor) == 0 && size <= most);
        CHECK(aclnnEmbedding(workspace, size, executor, stream) == 0);
        FAILS(stream, ("aclnnEmbedding failed: element 1 of the indices is " + number).c_str());

        CHECK(aclrtCreateStream(&stream) == 0);
        CHECK(aclnnIndexSelectGetWorkspaceSize(weight, 0, flat, rows, &size, &executor) == 0 && size <= most);
        CHECK(aclnnIndexSelect(workspace, size, executor, stream) == 0);
        FAILS(stream, ("aclnnIndexSelect: the index " + number + " lies outside").c_str());

        CHECK(aclrtCreateStream(&stream) == 0);
        CHECK(aclnnGatherGetWorkspaceSize(weight, 0, pairs, column, &size, &executor) == 0 && size <= most);
        CHECK(aclnnGather(workspace, size, executor, stream) == 0);
        FAILS(stream, ("aclnnGather: the index " + number + " lies outside").c_str());
        for (aclTensor *tensor : {weight, rows, flat, pairs, column}) {
            CHECK(aclDestroyTensor(tensor) == 0);
        }
    }
    CHECK(aclrtFree(workspace) == 0);
}

// Plans an operator that needs a workspace.
static aclOpExecutor *plan(const Floats &x, const Floats &y, uint64_t *size)
{
    const int64_t dims[] = {16, 16}, strides[] = {1, 16}, storage = 256;
    aclTensor *from = aclCreateTensor(dims, 2, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, &storage, 1, x.address);
    aclTensor *to = aclCreateTensor(dims, 2, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, &storage, 1, y.address);
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnSoftmaxGetWorkspaceSize(from, 0, to, size, &executor) == 0);
    CHECK(*size > 0);
    CHECK(aclDestroyTensor(from) == 0 && aclDestroyTensor(to) == 0);
    return executor;
}

static void workspaces()
{
    Floats x(std::vector<float>(128, 0)), y(std::vector<float>(128, 0));
    uint64_t size = 0;
    aclOpExecutor *executor = plan(x, y, &size);
    void *workspace = nullptr, *other = nullptr;
    CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    // An executor that was refused can be run again.
    REFUSED(aclnnSoftmax(nullptr, size, executor, nullptr), 161001, "the workspace of aclnnSoftmax is null");
    REFUSED(aclnnSoftmax(workspace, size - 1, executor, nullptr), 161002, "aclnnSoftmax needs a workspace of");
    std::vector<char> host(size);
    REFUSED(aclnnSoftmax(host.data(), size, executor, nullptr), 161002, "the workspace of aclnnSoftmax is at");
    void *pinned = nullptr;
    CHECK(aclrtMallocHost(&pinned, size) == 0);
    REFUSED(aclnnSoftmax(pinned, size, executor, nullptr), 161002, "which is host memory");
    CHECK(aclrtFreeHost(pinned) == 0);

    uint32_t devices = 0;
    CHECK(aclrtGetDeviceCount(&devices) == 0 && devices > 1);
    CHECK(aclrtSetDevice(1) == 0);
    CHECK(aclrtMalloc(&other, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    CHECK(aclrtSetDevice(0) == 0);
    REFUSED(aclnnSoftmax(other, size, executor, nullptr), 161002, "memory of device 1");
    CHECK(aclrtSetDevice(1) == 0 && aclrtFree(other) == 0 && aclrtResetDevice(1) == 0 && aclrtSetDevice(0) == 0);

    CHECK(aclnnSoftmax(workspace, size, executor, nullptr) == 0);
    CHECK(aclrtSynchronizeStream(nullptr) == 0);
    CHECK(aclrtFree(workspace) == 0);
    executor = plan(x, y, &size);
    REFUSED(aclnnSoftmax(workspace, size, executor, nullptr), 161002, "where nothing is allocated");
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
}

static void executors()
{
    Floats x(std::vector<float>(128, 0)), y(std::vector<float>(128, 0));
    uint64_t size = 0;
    aclOpExecutor *executor = plan(x, y, &size);
    void *workspace = nullptr;
    CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    REFUSED(aclnnSoftmax(workspace, size, executor, nullptr), 561103, "aclDestroyAclOpExecutor");
    REFUSED(aclSetAclOpExecutorRepeatable(executor), 561103, "executor");
    REFUSED(aclnnSoftmax(workspace, size, nullptr, nullptr), 561103, "null");
    executor = plan(x, y, &size);
    CHECK(aclnnSoftmax(workspace, size, executor, nullptr) == 0);
    REFUSED(aclnnSoftmax(workspace, size, executor, nullptr), 561103, "aclnnSoftmax");
    REFUSED(aclDestroyAclOpExecutor(executor), 561103, "aclnnSoftmax");
    CHECK(aclrtSynchronizeStream(nullptr) == 0);
    CHECK(aclrtFree(workspace) == 0);
}

int main()
{
    CHECK(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    indices_out_of_range();
    workspaces();
    executors();
    CHECK(aclrtResetDevice(0) == 0 && aclFinalize() == 0);
    std::printf("done\n");
}
