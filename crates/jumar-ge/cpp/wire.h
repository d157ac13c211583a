/* The C functions below the classes of the Graph Engine, and the messages that they take. No C++ type crosses to the library
 * below, and each call names its version: the two libraries may come from different installations. */
#ifndef JUMAR_GE_CPP_WIRE_H_
#define JUMAR_GE_CPP_WIRE_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "calls.h"
#include "public.h"

/* Functions of libascendcl.so. */
extern "C" {
typedef void (*jumar_ge_sink)(void *user, const void *bytes, size_t size);
typedef void (*jumar_ge_done)(void *user, uint32_t status, const void *bytes, size_t size);
/* Answers a request about custom operators. A status other than 0 comes with the text of the error as the reply. */
typedef uint32_t (*jumar_ge_custom)(const void *message, size_t size, jumar_ge_sink sink, void *user);

struct jumar_ge_tensor {
  const int64_t *dims;
  size_t rank;
  int32_t dtype;
  int32_t format;
  void *data;
  size_t bytes;
  uint64_t on_host;
};

/* Returns the version of the library. Weak, because a library of an older Jumar has no such function. */
uint32_t jumar_ge_version() __attribute__((weak));
uint32_t jumar_ge_call(uint32_t version, uint32_t call, const void *message, size_t size, jumar_ge_sink sink, void *user);
uint32_t jumar_ge_run(uint32_t version, uint32_t mode, uint64_t session, uint32_t graph, void *stream,
                      const jumar_ge_tensor *inputs, size_t input_count, const jumar_ge_tensor *outputs, size_t output_count,
                      jumar_ge_sink sink, void *user);
uint32_t jumar_ge_run_async(uint32_t version, uint32_t mode, uint64_t session, uint32_t graph, const jumar_ge_tensor *inputs,
                            size_t input_count, jumar_ge_done done, void *user);
/* Sets the function that answers requests about custom operators. Weak, because a library of an older Jumar has no such function. */
uint32_t jumar_ge_set_custom(uint32_t version, jumar_ge_custom custom) __attribute__((weak));
}

namespace ge {
namespace jumar {

/* Writes a message. */
class Message {
 public:
  Message &U64(uint64_t value) {
    for (int at = 0; at < 64; at += 8) {
      bytes_.push_back(static_cast<char>((value >> at) & 0xff));
    }
    return *this;
  }
  Message &Int(int64_t value) { return U64(static_cast<uint64_t>(value)); }
  Message &Float(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return U64(bits);
  }
  Message &Bytes(const void *data, size_t size) {
    U64(size);
    const char *from = static_cast<const char *>(data);
    if (size > 0) {
      bytes_.insert(bytes_.end(), from, from + size);
    }
    return *this;
  }
  Message &Text(const char *text) { return Bytes(text, text == nullptr ? 0 : std::strlen(text)); }
  Message &Text(const AscendString &text) { return Text(text.GetString()); }
  Message &Ints(const std::vector<int64_t> &list) {
    U64(list.size());
    for (int64_t value : list) {
      Int(value);
    }
    return *this;
  }
  Message &Map(const std::map<AscendString, AscendString> &map) {
    U64(map.size());
    for (const auto &pair : map) {
      Text(pair.first).Text(pair.second);
    }
    return *this;
  }
  /* Appends an encoded message. */
  Message &Append(const std::vector<char> &bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const char *data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<char> bytes_;
};

/* Reads a reply. Zeros follow its end. */
class Reply {
 public:
  uint64_t U64() {
    uint64_t value = 0;
    for (int at = 0; at < 64 && at_ < bytes_.size(); at += 8) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[at_++])) << at;
    }
    return value;
  }
  int64_t Int() { return static_cast<int64_t>(U64()); }
  float Float() {
    const uint32_t bits = static_cast<uint32_t>(U64());
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  /* Returns bytes of the reply, which live as long as it. */
  std::pair<const char *, size_t> Bytes() {
    const uint64_t wanted = U64();
    const uint64_t left = bytes_.size() - at_;
    const size_t size = static_cast<size_t>(wanted < left ? wanted : left);
    const char *from = bytes_.data() + at_;
    at_ += size;
    return std::make_pair(from, size);
  }
  AscendString Text() {
    const std::pair<const char *, size_t> bytes = Bytes();
    return AscendString(bytes.first == nullptr ? "" : bytes.first, bytes.second);
  }
  std::vector<int64_t> Ints() {
    std::vector<int64_t> list(static_cast<size_t>(U64()));
    for (int64_t &value : list) {
      value = Int();
    }
    return list;
  }
  const std::vector<char> &All() const { return bytes_; }
  bool AtEnd() const { return at_ >= bytes_.size(); }
  void Take(const void *bytes, size_t size) {
    const char *from = static_cast<const char *>(bytes);
    bytes_.assign(from, from + size);
    at_ = 0;
  }
  static void Sink(void *user, const void *bytes, size_t size) { static_cast<Reply *>(user)->Take(bytes, size); }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

inline uint32_t Call(CallId call, const Message &message, Reply &reply) {
  return jumar_ge_call(kCallVersion, static_cast<uint32_t>(call), message.data(), message.size(), &Reply::Sink, &reply);
}
inline uint32_t Call(CallId call, const Message &message) {
  return jumar_ge_call(kCallVersion, static_cast<uint32_t>(call), message.data(), message.size(), nullptr, nullptr);
}
/* A call that returns one number; 0 where it fails. */
inline uint64_t Number(CallId call, const Message &message) {
  Reply reply;
  return Call(call, message, reply) == 0 ? reply.U64() : 0;
}

/* The identifier of an object in the library below, which is released with the last copy. */
class Handle {
 public:
  Handle(CallId release, uint64_t id) : release_(release), id_(id) {}
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() {
    if (id_ != 0) {
      (void)Call(release_, Message().U64(id_));
    }
  }
  uint64_t id() const { return id_; }
  /* Keeps a C++ object as long as this one lives: a function of the program, or a string that was returned by reference.
   * Returns the object that was kept under the name before, if there is one. */
  std::shared_ptr<void> Attach(const AscendString &name, const std::shared_ptr<void> &object) {
    const std::lock_guard<std::mutex> guard(lock_);
    return attached_.insert(std::make_pair(name, object)).first->second;
  }
  void Replace(const AscendString &name, const std::shared_ptr<void> &object) {
    const std::lock_guard<std::mutex> guard(lock_);
    attached_[name] = object;
  }
  std::shared_ptr<void> Attached(const AscendString &name) const {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = attached_.find(name);
    return found == attached_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex lock_;
  std::map<AscendString, std::shared_ptr<void>> attached_;
  CallId release_;
  uint64_t id_;
};
typedef std::shared_ptr<Handle> HandlePtr;

/* Records an error text of the calling thread. Returns the status of a failed call. */
inline uint32_t Fail(const char *text) { return Call(CallId::kGeFail, Message().Text(text)); }

}  // namespace jumar
}  // namespace ge

#endif
