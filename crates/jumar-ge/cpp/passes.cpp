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

struct PassRegistrationData::Impl {
  AscendString name;
  CustomPassFunc function;
  CustomPassStage stage = CustomPassStage::kBeforeInferShape;
  CustomAllocateStreamPassFunc stream_function;
};

PassRegistrationData &PassRegistrationData::CustomPassFn(const CustomPassFunc &custom_pass_fn) {
  if (impl_ != nullptr) {
    impl_->function = custom_pass_fn;
  }
  return *this;
}
PassRegistrationData &PassRegistrationData::Stage(const CustomPassStage stage) {
  if (impl_ != nullptr) {
    impl_->stage = stage;
  }
  return *this;
}
PassRegistrationData &PassRegistrationData::CustomAllocateStreamPassFn(
    const CustomAllocateStreamPassFunc &allocate_stream_pass_fn) {
  if (impl_ != nullptr) {
    impl_->stream_function = allocate_stream_pass_fn;
  }
  return *this;
}
CustomPassFunc PassRegistrationData::GetCustomPassFn() const { return impl_ == nullptr ? nullptr : impl_->function; }
CustomPassStage PassRegistrationData::GetStage() const {
  return impl_ == nullptr ? CustomPassStage::kInvalid : impl_->stage;
}
CustomAllocateStreamPassFunc PassRegistrationData::GetCustomAllocateStreamPass() const {
  return impl_ == nullptr ? nullptr : impl_->stream_function;
}

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
  return RegisteredPass{id, NameOf(data), data.GetCustomPassFn(), data.GetStage(), data.GetCustomAllocateStreamPass() != nullptr,
                        false};
}
void Access::SetName(PassRegistrationData &data, const AscendString &name) {
  data.impl_ = std::make_shared<PassRegistrationData::Impl>();
  data.impl_->name = name;
}
AscendString Access::NameOf(const PassRegistrationData &data) {
  return data.impl_ == nullptr ? AscendString() : data.impl_->name;
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

  void Add(const RegisteredPass &pass) {
    const std::lock_guard<std::mutex> guard(lock);
    passes.push_back(pass);
  }
  void Move(uint64_t from, uint64_t to) {
    const std::lock_guard<std::mutex> guard(lock);
    for (RegisteredPass &pass : passes) {
      pass.id = pass.id == from ? to : pass.id;
    }
  }
  void Remove(uint64_t id) {
    const std::lock_guard<std::mutex> guard(lock);
    passes.erase(std::remove_if(passes.begin(), passes.end(), [id](const RegisteredPass &pass) { return pass.id == id; }),
                 passes.end());
  }

  std::mutex lock;
  std::vector<RegisteredPass> passes;
};

/* A registration is found by the address of its object, which holds nothing. */
uint64_t IdOf(const void *object) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(object)); }

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

/* Removes the passes that the option ge.fusionSwitchFile switches off. */
Status Switch(const Options &options, std::vector<RegisteredPass> &passes) {
  Message message;
  message.Map(options).U64(passes.size());
  for (const RegisteredPass &pass : passes) {
    message.Text(pass.name);
  }
  Reply reply;
  const Status status = Call(CallId::kFusionSwitches, message, reply);
  if (status != SUCCESS) {
    return status;
  }
  const std::vector<int64_t> on = reply.Ints();
  std::vector<RegisteredPass> left;
  for (size_t at = 0; at < passes.size() && at < on.size(); ++at) {
    if (on[at] != 0) {
      left.push_back(passes[at]);
    }
  }
  passes.swap(left);
  return SUCCESS;
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
  Options found = options;
  found.insert(outer.begin(), outer.end());
  const Status switched = Switch(found, passes);
  if (switched != SUCCESS || passes.empty()) {
    return switched;
  }
  AscendString name;
  (void)graph.GetName(name);
  const GraphPtr changed = std::make_shared<Graph>(name.GetString());
  if (changed->CopyFrom(graph) != GRAPH_SUCCESS) {
    return FAILED;
  }
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

PassReceiver::PassReceiver(PassRegistrationData &reg_data) {
  jumar::Registry::Instance().Add(jumar::Access::PassOf(reg_data, jumar::IdOf(this)));
}
PassReceiver::PassReceiver(PassReceiver &&other) noexcept {
  jumar::Registry::Instance().Move(jumar::IdOf(&other), jumar::IdOf(this));
}
PassReceiver::~PassReceiver() { jumar::Registry::Instance().Remove(jumar::IdOf(this)); }

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
  jumar::Registry::Instance().Add(jumar::RegisteredPass{jumar::IdOf(this), fusion_pass_reg_data.GetPassName(), run,
                                                        fusion_pass_reg_data.GetStage(), false, true});
}
PassRegistrar::PassRegistrar(PassRegistrar &&other) noexcept {
  jumar::Registry::Instance().Move(jumar::IdOf(&other), jumar::IdOf(this));
}
PassRegistrar::~PassRegistrar() { jumar::Registry::Instance().Remove(jumar::IdOf(this)); }

}  // namespace fusion
}  // namespace ge
