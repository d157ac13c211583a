/* Registers passes that are classes. */
#ifndef JUMAR_GE_FUSION_PASS_REG_H_
#define JUMAR_GE_FUSION_PASS_REG_H_

#include <memory>
#include <new>

#include "../../../register/register_custom_pass.h"

namespace ge {
namespace fusion {

class FusionBasePass;
typedef FusionBasePass *(*CreateFusionPassFn)();

/* A pass: its name, the function that creates its object, and its stage. Passes of the stage kAfterAssignLogicStream do not run. */
class FusionPassRegistrationData {
 public:
  FusionPassRegistrationData() = default;
  ~FusionPassRegistrationData() = default;
  explicit FusionPassRegistrationData(const AscendString &pass_name);
  AscendString GetPassName() const;
  FusionPassRegistrationData &Stage(CustomPassStage stage);
  CustomPassStage GetStage() const;
  FusionPassRegistrationData &CreatePassFn(const CreateFusionPassFn &create_fusion_pass_fn);
  CreateFusionPassFn GetCreatePassFn() const;
  AscendString ToString() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/* Registers a pass for as long as the object lives: until its library is unloaded, or the program ends. */
class PassRegistrar {
 public:
  PassRegistrar(FusionPassRegistrationData &fusion_pass_reg_data);
  PassRegistrar(PassRegistrar &&other) noexcept;
  PassRegistrar(const PassRegistrar &) = delete;
  PassRegistrar &operator=(const PassRegistrar &) = delete;
  ~PassRegistrar();
};

}  // namespace fusion
}  // namespace ge

#define JUMAR_REGISTER_PASS_(pass_class, ...)                                                                     \
  static ::ge::fusion::PassRegistrar JUMAR_PASS_NAME_(__COUNTER__) JUMAR_PASS_UNUSED_ =                           \
      ::ge::fusion::FusionPassRegistrationData(#pass_class).CreatePassFn([]() -> ::ge::fusion::FusionBasePass * { \
        return new (std::nothrow) pass_class(__VA_ARGS__);                                                        \
      })

#endif
