// Helpers of the programs in this folder.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"

// Ends the program with the line of the check that failed.
#define CHECK(condition)                                                                                            \
    do {                                                                                                            \
        if (!(condition)) {                                                                                         \
            const char *text = aclGetRecentErrMsg();                                                                \
            std::fprintf(stderr, "%s:%d: %s\n%s\n", __FILE__, __LINE__, #condition, text == nullptr ? "" : text);     \
            std::exit(1);                                                                                           \
        }                                                                                                           \
    } while (false)

// Checks the status of a call, and that the error text contains a word.
#define REFUSED(status, code, word)                                                                                 \
    do {                                                                                                            \
        const int got = (status);                                                                                   \
        const char *text = aclGetRecentErrMsg();                                                                    \
        if (got != (code) || text == nullptr || std::strstr(text, word) == nullptr) {                               \
            std::fprintf(stderr, "%s:%d: %s is %d, wanted %d and \"%s\"\n%s\n", __FILE__, __LINE__, #status, got,    \
                (int)(code), word, text == nullptr ? "" : text);                                                    \
            std::exit(1);                                                                                           \
        }                                                                                                           \
    } while (false)

// Checks that the error text of a call that returned null contains a word.
#define MESSAGE_HAS(word)                                                                                                  \
    do {                                                                                                            \
        const char *text = aclGetRecentErrMsg();                                                                    \
        if (text == nullptr || std::strstr(text, word) == nullptr) {                                                \
            std::fprintf(stderr, "%s:%d: wanted \"%s\"\n%s\n", __FILE__, __LINE__, word, text == nullptr ? "" : text); \
            std::exit(1);                                                                                           \
        }                                                                                                           \
    } while (false)

// Device memory that holds floats.
struct Floats {
    void *address = nullptr;
    size_t count;

    explicit Floats(const std::vector<float> &values) : count(values.size())
    {
        CHECK(aclrtMalloc(&address, bytes(), ACL_MEM_MALLOC_HUGE_FIRST) == 0);
        CHECK(aclrtMemcpy(address, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE) == 0);
    }
    Floats(const Floats &) = delete;
    Floats &operator=(const Floats &) = delete;
    ~Floats() { CHECK(aclrtFree(address) == 0); }

    size_t bytes() const { return count * sizeof(float); }

    std::vector<float> read() const
    {
        std::vector<float> values(count);
        CHECK(aclrtMemcpy(values.data(), bytes(), address, bytes(), ACL_MEMCPY_DEVICE_TO_HOST) == 0);
        return values;
    }
};

// A float tensor over device memory; no strides stand for dense ones.
inline aclTensor *tensor_of(void *address, const std::vector<int64_t> &dims, const std::vector<int64_t> &strides = {},
    int64_t offset = 0)
{
    std::vector<int64_t> storage = dims;
    if (!strides.empty()) {
        // Up to the furthest element.
        int64_t last = offset;
        for (size_t i = 0; i < dims.size(); ++i) {
            last += (dims[i] - 1) * strides[i];
        }
        storage = {last + 1};
    }
    aclTensor *tensor = aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, strides.empty() ? nullptr : strides.data(),
        offset, ACL_FORMAT_ND, storage.data(), storage.size(), address);
    CHECK(tensor != nullptr);
    return tensor;
}

inline aclScalar *scalar_of(float value)
{
    aclScalar *scalar = aclCreateScalar(&value, ACL_FLOAT);
    CHECK(scalar != nullptr);
    return scalar;
}
