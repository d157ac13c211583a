// Calls an operator with lists of tensors and lists as attributes, and compares with the host's values. Calls that are wrong are refused, and launches
// with addresses that the device cannot use fail.
#include <cstdio>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnn_scale_list.h"

namespace {

int failures = 0;
void expect(bool holds, const char* what, int line)
{
    if (holds) return;
    failures++;
    const char* why = aclGetRecentErrMsg();
    std::fprintf(stderr, "main.cpp:%d: %s (%s)\n", line, what, why ? why : "");
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

constexpr size_t COUNT = 4;
const std::vector<int64_t> SHAPES[COUNT] = {{5, 7}, {64}, {0, 4}, {2, 3, 4}};

size_t elements_of(const std::vector<int64_t>& shape)
{
    size_t elements = 1;
    for (int64_t dim : shape) elements *= static_cast<size_t>(dim);
    return elements;
}

aclTensor* tensor(const std::vector<int64_t>& shape, aclDataType type, void* data)
{
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t at = shape.size() - 1; at-- > 0;) strides[at] = strides[at + 1] * shape[at + 1];
    return aclCreateTensor(shape.data(), shape.size(), type, strides.data(), 0, ACL_FORMAT_ND, shape.data(), shape.size(), data);
}

template <typename T> struct List {
    void* data[COUNT] = {};
    aclTensorList* list = nullptr;

    // One of the members may have an address of its own.
    explicit List(aclDataType type, size_t other = COUNT, void* address = nullptr)
    {
        aclTensor* members[COUNT];
        for (size_t at = 0; at < COUNT; at++) {
            aclrtMalloc(&data[at], 1024, ACL_MEM_MALLOC_HUGE_FIRST);
            members[at] = tensor(SHAPES[at], type, at == other ? address : data[at]);
        }
        list = aclCreateTensorList(members, COUNT);
    }
    ~List()
    {
        aclDestroyTensorList(list);
        for (void* one : data) aclrtFree(one);
    }
    void fill()
    {
        for (size_t at = 0; at < COUNT; at++) {
            std::vector<T> values(elements_of(SHAPES[at]));
            for (size_t element = 0; element < values.size(); element++) values[element] = static_cast<T>(static_cast<float>(element + 10 * at));
            if (!values.empty()) aclrtMemcpy(data[at], 1024, values.data(), values.size() * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE);
        }
    }
};

template <typename T>
void check(aclDataType type, const aclTensor* bias, const std::vector<float>* factors, const std::vector<uint8_t>* signs, aclrtStream stream)
{
    List<T> x(type), z(type);
    x.fill();
    const int64_t shifts[COUNT] = {-3, 4, 0, 100};
    aclIntArray* added = aclCreateIntArray(shifts, COUNT);
    aclFloatArray* scales = factors ? aclCreateFloatArray(factors->data(), COUNT) : nullptr;
    aclBoolArray* negated = signs ? aclCreateBoolArray(reinterpret_cast<const bool*>(signs->data()), COUNT) : nullptr;
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnScaleListGetWorkspaceSize(x.list, bias, added, scales, negated, z.list, &bytes, &executor) == 0);
    EXPECT(bytes == 0 && aclnnScaleList(nullptr, 0, executor, stream) == 0);
    EXPECT(aclrtSynchronizeStream(stream) == 0);
    const float default_factors[COUNT] = {0.5f, 2.0f, 1.0f, 1.0f};
    for (size_t at = 0; at < COUNT; at++) {
        std::vector<T> got(elements_of(SHAPES[at]));
        if (!got.empty()) aclrtMemcpy(got.data(), got.size() * sizeof(T), z.data[at], got.size() * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST);
        const float factor = (factors ? (*factors)[at] : default_factors[at]) * ((signs ? (*signs)[at] != 0 : at == 1) ? -1.0f : 1.0f);
        for (size_t element = 0; element < got.size(); element++) {
            const float wanted = factor * static_cast<float>(element + 10 * at) + static_cast<float>(shifts[at]) + 0.5f;
            EXPECT(static_cast<float>(got[element]) == wanted);
        }
    }
    aclDestroyIntArray(added);
    aclDestroyFloatArray(scales);
    aclDestroyBoolArray(negated);
}

// Runs the operator. Returns what the next synchronise returns.
int run(const List<float>& x, const aclTensor* bias, const List<float>& z, aclrtStream stream)
{
    const int64_t shifts[COUNT] = {};
    aclIntArray* added = aclCreateIntArray(shifts, COUNT);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnScaleListGetWorkspaceSize(x.list, bias, added, nullptr, nullptr, z.list, &bytes, &executor) == 0);
    EXPECT(aclnnScaleList(nullptr, 0, executor, stream) == 0);
    const int code = aclrtSynchronizeStream(stream);
    aclDestroyIntArray(added);
    return code;
}

bool is_said(const char* part)
{
    const char* text = aclGetRecentErrMsg();
    return text && std::strstr(text, part);
}

// Launches whose lists have addresses that the device of the stream cannot use: the launch fails, and the next one works.
void check_addresses(const aclTensor* bias, aclrtStream stream)
{
    void *freed = nullptr, *pinned = nullptr, *far = nullptr;
    float pageable[64] = {};
    aclrtMalloc(&freed, 1024, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMallocHost(&pinned, 1024);
    const List<float> good(ACL_FLOAT), x_freed(ACL_FLOAT, 1, freed), z_freed(ACL_FLOAT, 3, freed), x_pageable(ACL_FLOAT, 1, pageable), z_pinned(ACL_FLOAT, 1, pinned),
        x_empty(ACL_FLOAT, 2, freed);
    EXPECT(run(x_freed, bias, z_freed, stream) == 0);
    aclrtFree(freed);
    EXPECT(run(x_freed, bias, good, stream) == 507015);
    EXPECT(is_said("kernel \"ScaleList\" failed in block 0 of 2 with status 1: x[1] of ScaleList is an address in no allocated memory of a device; it was freed, or is one of the host"));
    EXPECT(run(good, bias, z_freed, stream) == 507015);
    EXPECT(is_said("z[3] of ScaleList is an address in no allocated memory of a device"));
    EXPECT(run(x_pageable, bias, good, stream) == 507015);
    EXPECT(is_said("x[1] of ScaleList is an address in no allocated memory of a device"));
    EXPECT(run(good, bias, z_pinned, stream) == 0);
    // A tensor without elements is not used.
    EXPECT(run(x_empty, bias, good, stream) == 0);

    EXPECT(aclrtSetDevice(1) == 0 && aclrtMalloc(&far, 1024, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtSetDevice(0) == 0);
    const List<float> z_far(ACL_FLOAT, 0, far);
    EXPECT(run(good, bias, z_far, stream) == 507015);
    EXPECT(is_said("z[0] of ScaleList is memory of device 1, and its stream is one of device 0, which has no access to it"));
    EXPECT(aclrtDeviceEnablePeerAccess(1, 0) == 0);
    EXPECT(run(good, bias, z_far, stream) == 0);
    aclrtFreeHost(pinned);
}

} // namespace

int main()
{
    aclrtStream stream = nullptr;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 1;
    void* half_value = nullptr;
    const float half_on_host = 0.5f;
    aclrtMalloc(&half_value, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(half_value, 64, &half_on_host, 4, ACL_MEMCPY_HOST_TO_DEVICE);
    aclTensor* bias = tensor({1}, ACL_FLOAT, half_value);
    const std::vector<float> factors = {1.5f, -2, 3, 0.25f};
    const std::vector<uint8_t> signs = {1, 0, 1, 1};
    check<float>(ACL_FLOAT, bias, nullptr, nullptr, stream);
    check<float>(ACL_FLOAT, bias, &factors, &signs, stream);
    check<_Float16>(ACL_FLOAT16, bias, &factors, nullptr, stream);
    check_addresses(bias, stream);

    // What is refused, by code.
    List<float> x(ACL_FLOAT), z(ACL_FLOAT), integers(ACL_INT32);
    const int64_t shifts[COUNT] = {};
    aclIntArray *added = aclCreateIntArray(shifts, COUNT), *fewer = aclCreateIntArray(shifts, 2), *gone = aclCreateIntArray(shifts, COUNT);
    aclDestroyIntArray(gone);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT(aclnnScaleListGetWorkspaceSize(nullptr, bias, added, nullptr, nullptr, z.list, &bytes, &executor) == 161001);
    EXPECT(aclnnScaleListGetWorkspaceSize(x.list, bias, nullptr, nullptr, nullptr, z.list, &bytes, &executor) == 161001);
    EXPECT(aclnnScaleListGetWorkspaceSize(x.list, bias, gone, nullptr, nullptr, z.list, &bytes, &executor) == 161002);
    EXPECT(aclnnScaleListGetWorkspaceSize(x.list, bias, added, reinterpret_cast<const aclFloatArray*>(added), nullptr, z.list, &bytes, &executor) == 161002);
    EXPECT(aclnnScaleListGetWorkspaceSize(integers.list, bias, added, nullptr, nullptr, z.list, &bytes, &executor) == 161002);
    EXPECT(aclnnScaleListGetWorkspaceSize(reinterpret_cast<const aclTensorList*>(bias), bias, added, nullptr, nullptr, z.list, &bytes, &executor) == 161002);
    EXPECT(aclnnScaleListGetWorkspaceSize(x.list, bias, fewer, nullptr, nullptr, z.list, &bytes, &executor) == 561002);
    aclTensor* members[2] = {tensor({4}, ACL_FLOAT, half_value), nullptr};
    aclTensorList* with_null = aclCreateTensorList(members, 2);
    EXPECT(aclnnScaleListGetWorkspaceSize(with_null, bias, added, nullptr, nullptr, z.list, &bytes, &executor) == 161001);
    aclDestroyTensorList(with_null);
    aclDestroyIntArray(added);
    aclDestroyIntArray(fewer);
    aclDestroyTensor(bias);
    aclrtFree(half_value);
    std::printf("lists: %d failures\n", failures);
    return failures != 0;
}
