/* Passes that replace nodes of some types. */
#ifndef JUMAR_GE_DECOMPOSE_PASS_H_
#define JUMAR_GE_DECOMPOSE_PASS_H_

#include <memory>
#include <vector>

#include "fusion_base_pass.h"

namespace ge {
namespace fusion {

typedef std::unique_ptr<Graph> GraphUniqPtr;

class DecomposePass : public FusionBasePass {
 public:
  explicit DecomposePass(const std::vector<AscendString> &op_types);
  virtual ~DecomposePass() = default;
  /* Replaces each node of the types that meets the requirements. Graphs inside of nodes are not searched. */
  Status Run(GraphPtr &graph, CustomPassContext &pass_context) override;

 protected:
  virtual bool MeetRequirements(const GNode &matched_node);
  /* Returns a graph with an input for each input of the node that reads something, and its outputs. Null fails the pass. */
  virtual GraphUniqPtr Replacement(const GNode &matched_node) = 0;

 private:
  std::vector<AscendString> op_types_;
};

/* A pass whose functions find options in the context, and explain failures there. */
class DecomposePassV2 : public FusionBasePass {
 public:
  explicit DecomposePassV2(const std::vector<AscendString> &op_types);
  ~DecomposePassV2() override = default;
  Status Run(GraphPtr &graph, CustomPassContext &pass_context) override;

 protected:
  virtual bool MeetRequirements(const GNode &matched_node, CustomPassContext &pass_context);
  virtual GraphUniqPtr Replacement(const GNode &matched_node, CustomPassContext &pass_context) = 0;

 private:
  std::vector<AscendString> op_types_;
};

}  // namespace fusion
}  // namespace ge

/* REG_DECOMPOSE_PASS(Class, {"Type", "Type"}).Stage(stage); */
#define REG_DECOMPOSE_PASS(pass_class, ...) JUMAR_REGISTER_PASS_(pass_class, std::vector<ge::AscendString>(__VA_ARGS__))

#endif
