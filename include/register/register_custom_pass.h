/* Passes of the program: functions that change a graph before it is built. */
#ifndef JUMAR_REGISTER_CUSTOM_PASS_H_
#define JUMAR_REGISTER_CUSTOM_PASS_H_

#include <functional>
#include <memory>
#include <string>

#include "../ge/ge_api_error_codes.h"
#include "../graph/ascend_string.h"
#include "../graph/graph.h"

namespace ge {

/* When a pass runs. Passes of one stage run in the order of their registration. */
enum class CustomPassStage : uint32_t {
  kBeforeInferShape = 0,
  /* This stage and the later ones find shapes and types in the descriptions of the nodes. */
  kAfterInferShape = 1,
  /* For passes that assign streams. They do not run: work on the CPU is not divided into streams at build time. */
  kAfterAssignLogicStream = 2,
  kAfterBuiltinFusionPass = 3,
  kAfterOriginGraphOptimize = 4,
  /* Passes of this stage and of the next do not run. */
  kCompatibleInherited = 5,
  kInvalid
};

/* What a pass learns about the build, and where it explains a failure. */
class CustomPassContext {
 public:
  CustomPassContext();
  virtual ~CustomPassContext() = default;
  /* The message becomes part of the error of the build if the pass fails. */
  void SetErrorMessage(const AscendString &error_message);
  AscendString GetErrorMessage() const;
  /* Finds an option of the session, the graph or the build. */
  graphStatus GetOptionValue(const AscendString &option_key, AscendString &option_value) const;
  void SetPassName(const AscendString &pass_name);
  AscendString GetPassName() const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

class StreamPassContext;

typedef std::function<Status(GraphPtr &, CustomPassContext &)> CustomPassFunc;
typedef std::function<Status(const ConstGraphPtr &, StreamPassContext &)> CustomAllocateStreamPassFunc;

/* A pass: its name, its function and its stage. Copies name the same pass. */
class PassRegistrationData {
 public:
  PassRegistrationData() = default;
  ~PassRegistrationData() = default;
  PassRegistrationData(std::string pass_name);
  PassRegistrationData &CustomPassFn(const CustomPassFunc &custom_pass_fn);
  PassRegistrationData &Stage(const CustomPassStage stage);
  PassRegistrationData &CustomAllocateStreamPassFn(const CustomAllocateStreamPassFunc &allocate_stream_pass_fn);
  std::string GetPassName() const;
  CustomPassFunc GetCustomPassFn() const;
  CustomPassStage GetStage() const;
  CustomAllocateStreamPassFunc GetCustomAllocateStreamPass() const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/* Registers a pass for as long as the object lives: until its library is unloaded, or the program ends. */
class PassReceiver {
 public:
  PassReceiver(PassRegistrationData &reg_data);
  PassReceiver(PassReceiver &&other) noexcept;
  PassReceiver(const PassReceiver &) = delete;
  PassReceiver &operator=(const PassReceiver &) = delete;
  ~PassReceiver();
};

}  // namespace ge

#define JUMAR_PASS_JOINED_(a, b) a##b
#define JUMAR_PASS_NAME_(number) JUMAR_PASS_JOINED_(jumar_registered_pass_, number)
#if defined(__GNUC__)
#define JUMAR_PASS_UNUSED_ __attribute__((unused))
#else
#define JUMAR_PASS_UNUSED_
#endif
/* REGISTER_CUSTOM_PASS("name").CustomPassFn(function).Stage(stage); */
#define REGISTER_CUSTOM_PASS(name) \
  static ::ge::PassReceiver JUMAR_PASS_NAME_(__COUNTER__) JUMAR_PASS_UNUSED_ = ::ge::PassRegistrationData(name)

#endif
