/* Passes of the program. */
#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "access.h"
#include "passes.h"

namespace ge {

struct CustomPassContext::Impl {
  AscendString name;
  AscendString error;
  jumar::Options options;
};

CustomPassContext::CustomPassContext() : impl_(std::make_shared<Impl>()) {}
void CustomPassContext::SetErrorMessage(const AscendString &error_message) { impl_->error = error_message; }
AscendString CustomPassContext::GetErrorMessage() const { return impl_->error; }
graphStatus CustomPassContext::GetOptionValue(const AscendString &option_key, AscendString &option_value) const {
  const auto found = impl_->options.find(option_key);
  if (found == impl_->options.end()) {
    return GRAPH_FAILED;
  }
  option_value = found->second;
  return GRAPH_SUCCESS;
}
void CustomPassContext::SetPassName(const AscendString &pass_name) { impl_->name = pass_name; }
AscendString CustomPassContext::GetPassName() const { return impl_->name; }

namespace jumar {

/* What is kept of a registration. */
struct RegisteredPass {
  uint64_t id;
  AscendString name;
  CustomPassFunc function;
  CustomPassStage stage;
  bool assigns_streams;
  bool is_class;
};

RegisteredPass Access::PassOf(const PassRegistrationData &data, uint64_t id) {
  return RegisteredPass{id, data.name_, data.function_, data.stage_, data.stream_function_ != nullptr, false};
}
void Access::Begin(CustomPassContext &context, const AscendString &name, const Options &options) {
  context.impl_->name = name;
  context.impl_->options = options;
}

namespace {

/* The registered passes. They stay until the process ends: libraries with passes may be unloaded after this one. */
struct Registry {
  static Registry &Instance() {
    static Registry *const registry = new Registry();
    return *registry;
  }
  std::vector<RegisteredPass> Sorted() {
    std::vector<RegisteredPass> all;
    {
      const std::lock_guard<std::mutex> guard(lock);
      all = passes;
    }
    std::stable_sort(all.begin(), all.end(), [](const RegisteredPass &a, const RegisteredPass &b) {
      return static_cast<uint32_t>(a.stage) < static_cast<uint32_t>(b.stage);
    });
    return all;
  }

  void Remove(uint64_t id) {
    const std::lock_guard<std::mutex> guard(lock);
    passes.erase(std::remove_if(passes.begin(), passes.end(), [id](const RegisteredPass &pass) { return pass.id == id; }),
                 passes.end());
  }

  std::mutex lock;
  uint64_t last = 0;
  std::vector<RegisteredPass> passes;
};

bool Runs(const RegisteredPass &pass) {
  const uint32_t stage = static_cast<uint32_t>(pass.stage);
  if (pass.is_class && pass.stage == CustomPassStage::kAfterAssignLogicStream) {
    return false;
  }
  return pass.function != nullptr && stage < static_cast<uint32_t>(CustomPassStage::kCompatibleInherited);
}

Status Failed(const RegisteredPass &pass, Status status, const AscendString &explanation) {
  std::string text = std::string("the pass ") + pass.name.GetString() + " of the program failed with status " +
                     std::to_string(status);
  if (explanation.GetLength() > 0) {
    text += std::string(": ") + explanation.GetString();
  }
  return Fail(text.c_str());
}

/* Runs a pass. An exception of the program is a failure. */
Status Run(const RegisteredPass &pass, GraphPtr &graph, CustomPassContext &context) {
  try {
    return pass.function(graph, context);
  } catch (const std::exception &thrown) {
    context.SetErrorMessage((std::string("it threw an exception: ") + thrown.what()).c_str());
  } catch (...) {
    context.SetErrorMessage("it threw an exception");
  }
  return FAILED;
}

}  // namespace

Status RunPasses(const Graph &graph, const Options &options, const Options &outer, Graph &result) {
  std::vector<RegisteredPass> passes = Registry::Instance().Sorted();
  for (const RegisteredPass &pass : passes) {
    if (pass.assigns_streams) {
      const std::string text = std::string("the pass ") + pass.name.GetString() +
                               " assigns streams, which is not supported; remove its CustomAllocateStreamPassFn";
      return Fail(text.c_str());
    }
  }
  passes.erase(std::remove_if(passes.begin(), passes.end(), [](const RegisteredPass &pass) { return !Runs(pass); }),
               passes.end());
  result = graph;
  if (passes.empty() || Access::Id(graph) == 0) {
    return SUCCESS;
  }
  AscendString name;
  (void)graph.GetName(name);
  const GraphPtr changed = std::make_shared<Graph>(name.GetString());
  if (changed->CopyFrom(graph) != GRAPH_SUCCESS) {
    return FAILED;
  }
  Options found = options;
  found.insert(outer.begin(), outer.end());
  /* Whether the descriptions of nodes are as a pass before left them. */
  bool open = true;
  for (const RegisteredPass &pass : passes) {
    if (open && pass.stage != CustomPassStage::kBeforeInferShape) {
      open = false;
      if (GeUtils::InferShape(*changed, std::vector<Shape>()) != SUCCESS) {
        return FAILED;
      }
    }
    CustomPassContext context;
    Access::Begin(context, pass.name, found);
    GraphPtr own = changed;
    const Status status = Run(pass, own, context);
    /* A pass that has nothing to change may say so. */
    if (status != SUCCESS && status != GRAPH_NOT_CHANGED) {
      return Failed(pass, status, context.GetErrorMessage());
    }
    open = open || status == SUCCESS;
    if (own != nullptr && own != changed) {
      *changed = *own;
    }
  }
  result = *changed;
  return SUCCESS;
}

}  // namespace jumar

PassReceiver::PassReceiver(const PassRegistrationData &reg_data) : id_(0) {
  jumar::Registry &registry = jumar::Registry::Instance();
  const std::lock_guard<std::mutex> guard(registry.lock);
  id_ = ++registry.last;
  registry.passes.push_back(jumar::Access::PassOf(reg_data, id_));
}
PassReceiver::PassReceiver(PassReceiver &&other) noexcept : id_(std::exchange(other.id_, 0)) {}
PassReceiver::~PassReceiver() {
  if (id_ == 0) {
    return;
  }
  jumar::Registry::Instance().Remove(id_);
}

namespace fusion {

struct FusionPassRegistrationData::Impl {
  AscendString name;
  CustomPassStage stage = CustomPassStage::kBeforeInferShape;
  CreateFusionPassFn create = nullptr;
};

FusionPassRegistrationData::FusionPassRegistrationData(const AscendString &pass_name) : impl_(std::make_shared<Impl>()) {
  impl_->name = pass_name;
}
AscendString FusionPassRegistrationData::GetPassName() const { return impl_ == nullptr ? AscendString() : impl_->name; }
FusionPassRegistrationData &FusionPassRegistrationData::Stage(CustomPassStage stage) {
  if (impl_ != nullptr) {
    impl_->stage = stage;
  }
  return *this;
}
CustomPassStage FusionPassRegistrationData::GetStage() const {
  return impl_ == nullptr ? CustomPassStage::kInvalid : impl_->stage;
}
FusionPassRegistrationData &FusionPassRegistrationData::CreatePassFn(const CreateFusionPassFn &create_fusion_pass_fn) {
  if (impl_ != nullptr) {
    impl_->create = create_fusion_pass_fn;
  }
  return *this;
}
CreateFusionPassFn FusionPassRegistrationData::GetCreatePassFn() const { return impl_ == nullptr ? nullptr : impl_->create; }
AscendString FusionPassRegistrationData::ToString() const {
  const std::string text = std::string("pass ") + GetPassName().GetString() + ", stage " +
                           std::to_string(static_cast<uint32_t>(GetStage()));
  return AscendString(text.c_str());
}

namespace {

/* A registration is found by the address of its object, which holds nothing. */
uint64_t IdOf(const PassRegistrar *object) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(object)); }

}  // namespace

PassRegistrar::PassRegistrar(FusionPassRegistrationData &fusion_pass_reg_data) {
  const CreateFusionPassFn create = fusion_pass_reg_data.GetCreatePassFn();
  if (create == nullptr) {
    return;
  }
  const CustomPassFunc run = [create](GraphPtr &graph, CustomPassContext &context) -> Status {
    const std::unique_ptr<FusionBasePass> pass(create());
    if (pass == nullptr) {
      context.SetErrorMessage("its object could not be created");
      return FAILED;
    }
    return pass->Run(graph, context);
  };
  jumar::Registry &registry = jumar::Registry::Instance();
  const std::lock_guard<std::mutex> guard(registry.lock);
  registry.passes.push_back(jumar::RegisteredPass{IdOf(this), fusion_pass_reg_data.GetPassName(), run,
                                                  fusion_pass_reg_data.GetStage(), false, true});
}
PassRegistrar::PassRegistrar(PassRegistrar &&other) noexcept {
  jumar::Registry &registry = jumar::Registry::Instance();
  const std::lock_guard<std::mutex> guard(registry.lock);
  for (jumar::RegisteredPass &pass : registry.passes) {
    pass.id = pass.id == IdOf(&other) ? IdOf(this) : pass.id;
  }
}
PassRegistrar::~PassRegistrar() { jumar::Registry::Instance().Remove(IdOf(this)); }

}  // namespace fusion
}  // namespace ge
