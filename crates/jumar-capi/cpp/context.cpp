/* Contexts. */
#include "objects.h"

namespace jumar {

Register &Contexts() {
  static Register *contexts = new Register();
  return *contexts;
}

namespace {

/* Stands where a context was destroyed. */
class DestroyedContext : public atb::Context {
 public:
  atb::Status SetExecuteStream(aclrtStream) override { return Destroyed(); }
  aclrtStream GetExecuteStream() const override { return nullptr; }
  atb::Status SetAsyncTilingCopyStatus(bool) override { return Destroyed(); }
  bool GetAsyncTilingCopyStatus() const override { return false; }
  atb::Status SetExecuteStreams(const std::vector<aclrtStream> &) override { return Destroyed(); }
  std::vector<aclrtStream> GetExecuteStreams() override { return {}; }
  atb::Status SetExecuteType(atb::ExecuteType) override { return Destroyed(); }
  atb::ExecuteType GetExecuteType() override { return atb::EXECUTE_NORMAL; }
  atb::Status SetLaunchMode(atb::LaunchMode) override { return Destroyed(); }
  atb::LaunchMode GetLaunchMode() override { return atb::KERNEL_LAUNCH_MODE; }
  static void operator delete(void *) {}
  static void *operator new(size_t, void *memory) { return memory; }

 private:
  static atb::Status Destroyed() {
    return Refuse(atb::ERROR_INVALID_CONTEXT_ADDR, "the context was destroyed");
  }
};

static_assert(sizeof(DestroyedContext) <= sizeof(ContextObject), "it lies in the memory of a context");

}  // namespace

ContextObject::ContextObject() { Contexts().Add(this); }

ContextObject::~ContextObject() { Contexts().Remove(this); }

void ContextObject::operator delete(void *memory) {
  new (memory) DestroyedContext();
  Contexts().Bury(memory);
}

atb::Status ContextObject::SetExecuteStream(aclrtStream stream) {
  stream_.store(stream);
  set_.store(true);
  return atb::NO_ERROR;
}

std::pair<bool, aclrtStream> ContextObject::Stream() const { return {set_.load(), stream_.load()}; }

aclrtStream ContextObject::GetExecuteStream() const { return Stream().second; }

atb::Status ContextObject::SetAsyncTilingCopyStatus(bool enable) {
  copies_.store(enable);
  return atb::NO_ERROR;
}

bool ContextObject::GetAsyncTilingCopyStatus() const { return copies_.load(); }

atb::Status ContextObject::SetExecuteStreams(const std::vector<aclrtStream> &streams) {
  if (streams.size() != 1) {
    return Refuse(atb::ERROR_INVALID_PARAM, "SetExecuteStreams takes one stream; several are not supported");
  }
  return SetExecuteStream(streams[0]);
}

std::vector<aclrtStream> ContextObject::GetExecuteStreams() {
  const auto stream = Stream();
  return stream.first ? std::vector<aclrtStream>{stream.second} : std::vector<aclrtStream>{};
}

atb::Status ContextObject::SetExecuteType(atb::ExecuteType type) {
  if (type != atb::EXECUTE_NORMAL) {
    return Refuse(atb::ERROR_INVALID_PARAM, "SetExecuteType takes EXECUTE_NORMAL (0); the others are not supported");
  }
  return atb::NO_ERROR;
}

atb::ExecuteType ContextObject::GetExecuteType() { return atb::EXECUTE_NORMAL; }

atb::Status ContextObject::SetLaunchMode(atb::LaunchMode mode) {
  if (mode != atb::KERNEL_LAUNCH_MODE) {
    return Refuse(atb::ERROR_INVALID_PARAM, "SetLaunchMode takes KERNEL_LAUNCH_MODE (0); the others are not supported");
  }
  return atb::NO_ERROR;
}

atb::LaunchMode ContextObject::GetLaunchMode() { return atb::KERNEL_LAUNCH_MODE; }

atb::Status Find(atb::Context *context, ContextObject **found) {
  if (context == nullptr) {
    return Refuse(atb::ERROR_INVALID_CONTEXT_ADDR, "the context is a null pointer; pass one of CreateContext");
  }
  if (!Contexts().IsLive(context)) {
    return Refuse(atb::ERROR_INVALID_CONTEXT_ADDR,
                  "the context was destroyed, or was not created by CreateContext");
  }
  *found = static_cast<ContextObject *>(context);
  return atb::NO_ERROR;
}

atb::Status StreamOf(atb::Context *context, aclrtStream *stream) {
  ContextObject *found = nullptr;
  const atb::Status status = Find(context, &found);
  if (status != atb::NO_ERROR) {
    return status;
  }
  const auto set = found->Stream();
  if (!set.first) {
    return Refuse(atb::ERROR_INVALID_STREAM, "the context has no stream; call SetExecuteStream before Execute");
  }
  *stream = set.second;
  return atb::NO_ERROR;
}

}  // namespace jumar

namespace atb {

Status CreateContext(Context **context) {
  if (context == nullptr) {
    return jumar::Refuse(ERROR_INVALID_PARAM, "CreateContext: context is a null pointer");
  }
  *context = new (std::nothrow) jumar::ContextObject();
  return *context == nullptr ? jumar::Refuse(ERROR_OUT_OF_HOST_MEMORY, "CreateContext: no host memory is left")
                             : static_cast<Status>(NO_ERROR);
}

Status DestroyContext(Context *context) {
  jumar::ContextObject *found = nullptr;
  const Status status = jumar::Find(context, &found);
  if (status == NO_ERROR) {
    delete found;
  }
  return status;
}

}  // namespace atb
