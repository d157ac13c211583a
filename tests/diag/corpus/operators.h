/* What the programs with single operators share. RUN stands on one line, so that a finding about either phase names it. */
#pragma once

#include <vector>

#include "corpus.h"

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

/* A tensor, destroyed at the end of its block. No strides: dense. */
struct Tensor {
    aclTensor *object;

    Tensor(void *data, const std::vector<int64_t> &dims, const std::vector<int64_t> &strides = {}, int64_t offset = 0,
        aclDataType type = ACL_FLOAT)
    {
        const int64_t storage = 1 << 20;
        object = aclCreateTensor(dims.data(), dims.size(), type, strides.empty() ? nullptr : strides.data(), offset,
            ACL_FORMAT_ND, &storage, 1, data);
        MUST(object == nullptr);
    }
    Tensor(const Tensor &) = delete;
    ~Tensor() { MUST(aclDestroyTensor(object)); }
    operator aclTensor *() const { return object; }
};

struct Scalar {
    aclScalar *object;

    explicit Scalar(float value) : object(aclCreateScalar(&value, ACL_FLOAT)) { MUST(object == nullptr); }
    Scalar(const Scalar &) = delete;
    ~Scalar() { MUST(aclDestroyScalar(object)); }
    operator aclScalar *() const { return object; }
};

/* Device memory, freed at the end of its block. */
struct Memory {
    void *address = nullptr;

    explicit Memory(size_t bytes) { MUST(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST)); }
    Memory(size_t bytes, int value) : Memory(bytes) { MUST(aclrtMemset(address, bytes, value, bytes)); }
    Memory(const Memory &) = delete;
    ~Memory() { MUST(aclrtFree(address)); }
    operator void *() const { return address; }
};

struct Stream {
    aclrtStream object = nullptr;

    Stream() { MUST(aclrtCreateStream(&object)); }
    Stream(const Stream &) = delete;
    ~Stream()
    {
        MUST(aclrtSynchronizeStream(object));
        MUST(aclrtDestroyStream(object));
    }
    operator aclrtStream() const { return object; }
};

/* Lets one stream wait for another. */
static inline void order(aclrtStream first, aclrtStream second)
{
    aclrtEvent event;
    MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    MUST(aclrtRecordEvent(event, first));
    MUST(aclrtStreamWaitEvent(second, event));
    MUST(aclrtSynchronizeStream(second));
    MUST(aclrtDestroyEvent(event));
}

/* Plans an operator that needs no workspace, and queues it. */
#define RUN(operator, stream, ...) do { uint64_t size_ = 0; aclOpExecutor *executor_ = nullptr; MUST(operator##GetWorkspaceSize(__VA_ARGS__, &size_, &executor_)); MUST(size_ != 0); MUST(operator(nullptr, 0, executor_, stream)); } while (0)

