/* What nodes need besides their types and edges to match a pattern. */
#ifndef JUMAR_GE_FUSION_PATTERN_MATCHER_CONFIG_H_
#define JUMAR_GE_FUSION_PATTERN_MATCHER_CONFIG_H_

#include <memory>

namespace ge {
namespace fusion {

class PatternMatcherConfig {
 public:
  PatternMatcherConfig();
  ~PatternMatcherConfig();
  PatternMatcherConfig(const PatternMatcherConfig &other);
  PatternMatcherConfig &operator=(const PatternMatcherConfig &other);
  PatternMatcherConfig(PatternMatcherConfig &&other) noexcept;
  PatternMatcherConfig &operator=(PatternMatcherConfig &&other) noexcept;
  bool IsEnableConstValueMatch() const;
  bool IsEnableIrAttrMatch() const;

 private:
  friend class PatternMatcherConfigBuilder;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class PatternMatcherConfigBuilder {
 public:
  PatternMatcherConfigBuilder();
  ~PatternMatcherConfigBuilder();
  /* Types, shapes and bytes of constants have to be equal. A constant of the pattern without a value matches all. */
  PatternMatcherConfigBuilder &EnableConstValueMatch();
  /* The attributes of the prototype have to be equal, floats bit by bit. */
  PatternMatcherConfigBuilder &EnableIrAttrMatch();
  std::unique_ptr<PatternMatcherConfig> Build() const;

 private:
  std::unique_ptr<PatternMatcherConfig> config_;
};

}  // namespace fusion
}  // namespace ge

#endif
