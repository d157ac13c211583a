/* Contexts: the stream on which operations run. */
#ifndef ATB_CONTEXT_H
#define ATB_CONTEXT_H

#include <vector>

#include "../acl/acl.h"
#include "types.h"

namespace atb {

class Context {
 public:
  Context() = default;
  virtual ~Context() = default;

  virtual Status SetExecuteStream(aclrtStream stream) = 0;
  virtual aclrtStream GetExecuteStream() const = 0;
  /* Accepted without an effect: nothing is copied to the device before a task. */
  virtual Status SetAsyncTilingCopyStatus(bool enable) = 0;
  virtual bool GetAsyncTilingCopyStatus() const = 0;
  /* The first stream is the one on which operations run. */
  virtual Status SetExecuteStreams(const std::vector<aclrtStream> &streams) = 0;
  virtual std::vector<aclrtStream> GetExecuteStreams() = 0;
  virtual Status SetExecuteType(ExecuteType type) = 0;
  virtual ExecuteType GetExecuteType() = 0;
  virtual Status SetLaunchMode(LaunchMode mode) = 0;
  virtual LaunchMode GetLaunchMode() = 0;
};

/* Creates a context, which the caller returns to DestroyContext. */
Status CreateContext(Context **context);
Status DestroyContext(Context *context);

}  // namespace atb
#endif
