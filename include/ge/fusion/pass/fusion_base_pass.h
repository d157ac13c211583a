/* Passes as classes: REG_FUSION_PASS(Class) creates an object for each build and calls its Run. */
#ifndef JUMAR_GE_FUSION_BASE_PASS_H_
#define JUMAR_GE_FUSION_BASE_PASS_H_

#include <functional>
#include <memory>

#include "../../../register/register_custom_pass.h"

namespace ge {
namespace fusion {

class FusionBasePass {
 public:
  FusionBasePass() = default;
  virtual ~FusionBasePass() = default;
  virtual Status Run(GraphPtr &graph, CustomPassContext &pass_context) = 0;
};

/* A pass whose function creates an object of a class. */
class FusionPassRegistrationData : public PassRegistrationData {
 public:
  FusionPassRegistrationData(const char *name, const std::function<FusionBasePass *()> &create)
      : PassRegistrationData(name) {
    (void)CustomPassFn([create](GraphPtr &graph, CustomPassContext &context) {
      const std::unique_ptr<FusionBasePass> pass(create());
      return pass->Run(graph, context);
    });
  }
};

}  // namespace fusion
}  // namespace ge

/* REG_FUSION_PASS(Class).Stage(stage); */
#define REG_FUSION_PASS(pass_class)                                                         \
  static ::ge::PassReceiver JUMAR_PASS_NAME_(__COUNTER__) JUMAR_PASS_UNUSED_ =              \
      ::ge::fusion::FusionPassRegistrationData(#pass_class, []() -> ::ge::fusion::FusionBasePass * { \
        return new pass_class();                                                            \
      })

#endif
