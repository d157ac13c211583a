/* A pass as a class: an object is created for each build, and its Run is called. */
#ifndef JUMAR_GE_FUSION_BASE_PASS_H_
#define JUMAR_GE_FUSION_BASE_PASS_H_

#include "../../../register/register_custom_pass.h"
#include "fusion_pass_reg.h"

namespace ge {
namespace fusion {

class FusionBasePass {
 public:
  virtual Status Run(GraphPtr &graph, CustomPassContext &pass_context) = 0;
  virtual ~FusionBasePass() = default;
};

}  // namespace fusion
}  // namespace ge

/* REG_FUSION_PASS(Class).Stage(stage); */
#define REG_FUSION_PASS(pass_class) JUMAR_REGISTER_PASS_(pass_class, )

#endif
