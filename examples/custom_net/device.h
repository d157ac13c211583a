// Device memory, strided tensors over it, and calls of operators.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

// Ends the program with the text of the error if a call fails.
inline void check(int status, const char *call)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s returned %d\n%s\n", call, status, text == nullptr ? "" : text);
        std::exit(1);
    }
}

#define CHECK(call) check(call, #call)

using Dims = std::vector<int64_t>;

inline int64_t elements(const Dims &dims)
{
    int64_t count = 1;
    for (int64_t dim : dims) {
        count *= dim;
    }
    return count;
}

// A view of device memory: shape, strides and offset count elements. Copies share the memory, which is freed with the last one.
class Tensor {
public:
    Tensor() = default;

    // Allocates a dense tensor. Its memory holds no values yet.
    explicit Tensor(Dims dims, aclDataType type = ACL_FLOAT) : dims_(std::move(dims)), strides_(dense(dims_)), type_(type)
    {
        void *address = nullptr;
        CHECK(aclrtMalloc(&address, static_cast<size_t>(elements(dims_)) * aclDataTypeSize(type), ACL_MEM_MALLOC_HUGE_FIRST));
        memory_ = std::shared_ptr<void>(address, [](void *memory) { CHECK(aclrtFree(memory)); });
    }

    // Allocates a dense tensor with values of the host.
    template <class T>
    static Tensor of(const std::vector<T> &values, Dims dims, aclDataType type)
    {
        Tensor tensor(std::move(dims), type);
        tensor.write(values);
        return tensor;
    }

    template <class T>
    void write(const std::vector<T> &values)
    {
        const size_t bytes = values.size() * sizeof(T);
        CHECK(aclrtMemcpy(memory_.get(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    }

    template <class T>
    std::vector<T> read() const
    {
        std::vector<T> values(static_cast<size_t>(elements(dims_)));
        const size_t bytes = values.size() * sizeof(T);
        CHECK(aclrtMemcpy(values.data(), bytes, memory_.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

    const Dims &dims() const { return dims_; }

    // Returns a dense view that starts some elements after this one.
    Tensor part(int64_t start, Dims dims) const
    {
        const Dims strides = dense(dims);
        return strided(std::move(dims), strides, start);
    }

    // Returns the same elements in another shape. The tensor has to be dense.
    Tensor reshape(Dims dims) const { return part(0, std::move(dims)); }

    // Returns any view, relative to the first element of this one.
    Tensor strided(Dims dims, Dims strides, int64_t start = 0) const
    {
        Tensor view = *this;
        view.dims_ = std::move(dims);
        view.strides_ = std::move(strides);
        view.offset_ += start;
        return view;
    }

    // Returns the view with its last two dimensions exchanged.
    Tensor transposed() const
    {
        Tensor view = *this;
        const size_t last = view.dims_.size() - 1;
        std::swap(view.dims_[last], view.dims_[last - 1]);
        std::swap(view.strides_[last], view.strides_[last - 1]);
        return view;
    }

    // Creates the description that operators take.
    aclTensor *describe() const
    {
        int64_t reach = offset_ + 1;
        for (size_t i = 0; i < dims_.size(); ++i) {
            reach += (dims_[i] - 1) * strides_[i];
        }
        return aclCreateTensor(
            dims_.data(), dims_.size(), type_, strides_.data(), offset_, ACL_FORMAT_ND, &reach, 1, memory_.get());
    }

private:
    static Dims dense(const Dims &dims)
    {
        Dims strides(dims.size(), 1);
        for (size_t i = dims.size(); i > 1; --i) {
            strides[i - 2] = strides[i - 1] * dims[i - 1];
        }
        return strides;
    }

    std::shared_ptr<void> memory_;
    Dims dims_, strides_;
    int64_t offset_ = 0;
    aclDataType type_ = ACL_FLOAT;
};

// Arguments of operators. Each creates the object that the operator takes, and destroys it.
struct Scalar {
    float value;
};
struct Integer {
    int64_t value;
};
struct Flags {
    std::vector<char> values;
};

template <class T, aclnnStatus (*DESTROY)(const T *)>
struct Argument {
    T *object;
    explicit Argument(T *created) : object(created) { check(created == nullptr, "creating an argument"); }
    Argument(Argument &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
    ~Argument() { DESTROY(object); }
    T *get() const { return object; }
};

template <class T>
struct Plain {
    T value;
    T get() const { return value; }
};

inline auto argument(const Tensor &tensor) { return Argument<aclTensor, aclDestroyTensor>(tensor.describe()); }

inline auto argument(Scalar scalar)
{
    return Argument<aclScalar, aclDestroyScalar>(aclCreateScalar(&scalar.value, ACL_FLOAT));
}

inline auto argument(Integer integer)
{
    return Argument<aclScalar, aclDestroyScalar>(aclCreateScalar(&integer.value, ACL_INT64));
}

inline auto argument(const Dims &values)
{
    return Argument<aclIntArray, aclDestroyIntArray>(aclCreateIntArray(values.data(), values.size()));
}

inline auto argument(const Flags &flags)
{
    const auto *values = reinterpret_cast<const bool *>(flags.values.data());
    return Argument<aclBoolArray, aclDestroyBoolArray>(aclCreateBoolArray(values, flags.values.size()));
}

template <class T>
auto argument(T value)
{
    return Plain<T>{value};
}

// A stream, and the memory that operators on it need for intermediate results.
class Stream {
public:
    Stream() { CHECK(aclrtCreateStream(&stream_)); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    ~Stream()
    {
        wait();
        for (void *workspace : workspaces_) {
            CHECK(aclrtFree(workspace));
        }
        CHECK(aclrtDestroyStream(stream_));
    }

    aclrtStream get() const { return stream_; }

    void wait() { CHECK(aclrtSynchronizeStream(stream_)); }

    // Plans an operator and queues it. The descriptions are destroyed when this returns: the queued task has copies.
    template <class First, class Second, class... Arguments>
    void run(const char *name, First first, Second second, const Arguments &...arguments)
    {
        const auto created = std::make_tuple(argument(arguments)...);
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        const auto plan = [&](const auto &...objects) { return first(objects.get()..., &size, &executor); };
        check(std::apply(plan, created), name);
        check(second(workspace(size), size, executor, stream_), name);
    }

private:
    // Operators of one stream run in order, so that they share a workspace. Smaller ones are kept: captured operators use them.
    void *workspace(uint64_t size)
    {
        if (size > size_) {
            void *memory = nullptr;
            CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
            workspaces_.push_back(memory);
            size_ = size;
        }
        return size == 0 ? nullptr : workspaces_.back();
    }

    aclrtStream stream_ = nullptr;
    std::vector<void *> workspaces_;
    uint64_t size_ = 0;
};

// Runs an operator by its name, without the prefix.
#define RUN(stream, operator, ...) (stream).run("aclnn" #operator, aclnn##operator##GetWorkspaceSize, aclnn##operator, __VA_ARGS__)
