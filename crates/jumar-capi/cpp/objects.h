/* The objects that programs hold: contexts and operations. */
#ifndef JUMAR_CAPI_CPP_OBJECTS_H_
#define JUMAR_CAPI_CPP_OBJECTS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calls.h"

namespace jumar {

/* Constructs a string in the layout of the code at an address. The object is as large as the smaller of the two layouts; memory for
   the larger one is there where the caller has it. */
class CallerString {
 public:
  CallerString(const char *text, const void *caller);
  CallerString(const CallerString &) = delete;
  CallerString &operator=(const CallerString &) = delete;
  /* Not trivial, so that it is returned in memory of the caller, as a string is. */
  ~CallerString() {}

 private:
  alignas(8) unsigned char bytes_[8];
};

/* Reports whether the code at an address uses the string of before C++11. */
bool UsesOlderString(const void *address);

}  // namespace jumar

#include "../../../include/atb/operation.h"

namespace jumar {

/* The objects of a class that live, and the last ones that do not. A pointer is looked up before it is used, and the memory of a
   destroyed object is not given away at once: a call of it returns an error. */
class Register {
 public:
  void Add(const void *object) {
    std::lock_guard<std::mutex> lock(mutex_);
    live_.insert(object);
  }

  bool IsLive(const void *object) {
    std::lock_guard<std::mutex> lock(mutex_);
    return live_.count(object) != 0;
  }

  bool IsDead(const void *object) {
    std::lock_guard<std::mutex> lock(mutex_);
    return dead_.count(object) != 0;
  }

  void Remove(const void *object) {
    std::lock_guard<std::mutex> lock(mutex_);
    live_.erase(object);
  }

  /* Keeps the memory of an object that was destroyed. */
  void Bury(void *memory) {
    void *oldest = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      dead_.insert(memory);
      order_.push_back(memory);
      if (order_.size() > kKept) {
        oldest = order_.front();
        order_.pop_front();
        dead_.erase(oldest);
      }
    }
    ::operator delete(oldest);
  }

 private:
  static constexpr size_t kKept = 1024;

  std::mutex mutex_;
  std::unordered_set<const void *> live_;
  std::unordered_set<const void *> dead_;
  std::deque<void *> order_;
};

/* Both live as long as the process: programs destroy objects while it ends. */
Register &Contexts();
Register &Operations();

/* A context: the stream that was set last, by whichever thread. PyTorch's adapter sets it on one thread and executes on another where a
   stream is captured. */
class ContextObject : public atb::Context {
 public:
  ContextObject();
  ~ContextObject() override;
  static void *operator new(size_t size) { return ::operator new(size); }
  static void *operator new(size_t size, const std::nothrow_t &nothrow) noexcept { return ::operator new(size, nothrow); }
  static void operator delete(void *memory);

  atb::Status SetExecuteStream(aclrtStream stream) override;
  aclrtStream GetExecuteStream() const override;
  atb::Status SetAsyncTilingCopyStatus(bool enable) override;
  bool GetAsyncTilingCopyStatus() const override;
  atb::Status SetExecuteStreams(const std::vector<aclrtStream> &streams) override;
  std::vector<aclrtStream> GetExecuteStreams() override;
  atb::Status SetExecuteType(atb::ExecuteType type) override;
  atb::ExecuteType GetExecuteType() override;
  atb::Status SetLaunchMode(atb::LaunchMode mode) override;
  atb::LaunchMode GetLaunchMode() override;

  /* Returns whether a stream was set, and the stream. */
  std::pair<bool, aclrtStream> Stream() const;

 private:
  std::atomic<bool> set_{false};
  std::atomic<aclrtStream> stream_{nullptr};
  std::atomic<bool> copies_{false};
};

/* Finds a context that lives, or keeps the error. */
atb::Status Find(atb::Context *context, ContextObject **found);
/* Finds the stream of a context, or keeps the error. */
atb::Status StreamOf(atb::Context *context, aclrtStream *stream);

/* An operation of the library. */
class OperationObject : public atb::Operation {
 public:
  explicit OperationObject(uint64_t handle);
  ~OperationObject() override;
  static void *operator new(size_t size) { return ::operator new(size); }
  static void *operator new(size_t size, const std::nothrow_t &nothrow) noexcept { return ::operator new(size, nothrow); }
  static void operator delete(void *memory);

  CallerString GetName() const override;
  atb::Status InferShape(const atb::SVector<atb::TensorDesc> &inputs,
                         atb::SVector<atb::TensorDesc> &outputs) const override;
  uint32_t GetInputNum() const override;
  uint32_t GetOutputNum() const override;
  atb::Status Setup(const atb::VariantPack &pack, uint64_t &workspaceSize, atb::Context *context) override;
  atb::Status Execute(const atb::VariantPack &pack, uint8_t *workspace, uint64_t workspaceSize,
                      atb::Context *context) override;

  uint64_t Handle() const { return handle_.load(); }

  /* The parameters it was created from, and the name of their structure; empty for an operation of a function. */
  void Keep(const char *structure, const void *parameters, size_t size);
  bool Copy(const char *structure, void *parameters, size_t size) const;
  void Replace(uint64_t handle, const void *parameters, size_t size);

 private:
  std::atomic<uint64_t> handle_;
  mutable std::mutex mutex_;
  const char *structure_ = "";
  std::vector<unsigned char> parameters_;
};

/* Finds an operation of the library that lives, or keeps the error. */
atb::Status Find(const atb::Operation *operation, OperationObject **found);

}  // namespace jumar
#endif
