/* The value of an attribute, of any type. */
#ifndef INC_EXTERNAL_GRAPH_ATTR_VALUE_H_
#define INC_EXTERNAL_GRAPH_ATTR_VALUE_H_

#include <memory>
#include <string>
#include <vector>

#include "tensor.h"

/* The types of attributes that are passed by reference, once for each class that takes them. */
#define JUMAR_ATTRIBUTES_(X)           \
  X(AscendString)                      \
  X(Tensor)                            \
  X(ge::DataType)                      \
  X(ge::NamedAttrs)                    \
  X(std::vector<int64_t>)              \
  X(std::vector<int32_t>)              \
  X(std::vector<uint32_t>)             \
  X(std::vector<float32_t>)            \
  X(std::vector<bool>)                 \
  X(std::vector<AscendString>)         \
  X(std::vector<std::vector<int64_t>>) \
  X(std::vector<ge::DataType>)         \
  X(std::vector<uint8_t>)              \
  X(std::vector<Tensor>)               \
  X(std::vector<ge::NamedAttrs>)
/* The same of those that are passed by value. */
#define JUMAR_NUMBERS_(X) \
  X(int64_t)              \
  X(int32_t)              \
  X(uint32_t)             \
  X(float32_t)            \
  X(bool)

namespace ge {

class NamedAttrs;

class AttrValue {
 public:
  typedef int64_t INT;
  typedef float FLOAT;
  typedef std::string STR;

  AttrValue();
  ~AttrValue() = default;

  template <typename T>
  static AttrValue CreateFrom(const T &value) {
    AttrValue made;
    (void)made.SetAttrValue(value);
    return made;
  }
  template <typename T>
  graphStatus GetValue(T &value) const {
    return GetAttrValue(value);
  }
#define JUMAR_VALUE_(T)                        \
  graphStatus SetAttrValue(const T &value) const; \
  graphStatus GetAttrValue(T &value) const;
  JUMAR_NUMBERS_(JUMAR_VALUE_)
  JUMAR_ATTRIBUTES_(JUMAR_VALUE_)
  JUMAR_VALUE_(std::string)
  JUMAR_VALUE_(std::vector<std::string>)
#undef JUMAR_VALUE_
  graphStatus SetAttrValue(const char_t *value) const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/* A name with attributes. Operators of programs have them; nothing in the library interprets them. */
class NamedAttrs {
 public:
  NamedAttrs();
  NamedAttrs(const NamedAttrs &other);
  NamedAttrs &operator=(const NamedAttrs &other);
  ~NamedAttrs() = default;
  void SetName(const char_t *name);
  void SetName(const std::string &name);
  graphStatus GetName(AscendString &name) const;
  graphStatus SetAttr(const AscendString &name, const AttrValue &value);
  graphStatus GetAttr(const AscendString &name, AttrValue &value) const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
