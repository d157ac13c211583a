/* The attributes of a call, by their numbers in the operator's definition. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_
#define JUMAR_EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "../../graph/types.h"
#include "continuous_vector.h"

namespace gert {

/* A text whose layout does not depend on the compiler's std::string: the library and the program may have different ones. */
class AttributeText {
 public:
  AttributeText() : bytes_(1, '\0') {}
  AttributeText &operator=(const char *text) {
    bytes_.assign(text, text + std::strlen(text) + 1);
    return *this;
  }
  AttributeText &operator=(const std::string &text) { return *this = text.c_str(); }
  const char *c_str() const { return bytes_.data(); }

 private:
  std::vector<char> bytes_;
};

/* The value of an attribute. Lists of booleans have a byte for each. */
struct AttributeValue {
  int64_t integer = 0;
  float real = 0;
  bool boolean = false;
  ge::DataType type = ge::DT_UNDEFINED;
  AttributeText text;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<uint8_t> booleans;
  TypedContinuousVector<int64_t> integer_list;
  TypedContinuousVector<float> real_list;
  TypedContinuousVector<bool> boolean_list;

  /* Lets the lists point at the values, which do not move from here on. */
  void make_lists() {
    integer_list = TypedContinuousVector<int64_t>(integers.data(), integers.size());
    real_list = TypedContinuousVector<float>(reals.data(), reals.size());
    boolean_list = TypedContinuousVector<bool>(reinterpret_cast<const bool *>(booleans.data()), booleans.size());
  }
};

class RuntimeAttrs {
 public:
  size_t GetAttrNum() const { return values_.size(); }
  /* Returns null where there is no attribute of the number. */
  template <typename TypeT>
  const TypeT *GetAttrPointer(size_t index) const {
    return index < values_.size() ? Find(values_[index], static_cast<const TypeT *>(nullptr)) : nullptr;
  }
  const int64_t *GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
  const float *GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
  const bool *GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
  const char *GetStr(size_t index) const { return GetAttrPointer<char>(index); }
  const TypedContinuousVector<int64_t> *GetListInt(size_t index) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
  }
  const TypedContinuousVector<float> *GetListFloat(size_t index) const {
    return GetAttrPointer<TypedContinuousVector<float>>(index);
  }

  std::vector<AttributeValue> &values() { return values_; }

 private:
  static const bool *Find(const AttributeValue &value, const bool *) { return &value.boolean; }
  static const float *Find(const AttributeValue &value, const float *) { return &value.real; }
  static const char *Find(const AttributeValue &value, const char *) { return value.text.c_str(); }
  static const ge::DataType *Find(const AttributeValue &value, const ge::DataType *) { return &value.type; }
  static const TypedContinuousVector<float> *Find(const AttributeValue &value, const TypedContinuousVector<float> *) {
    return &value.real_list;
  }
  static const TypedContinuousVector<bool> *Find(const AttributeValue &value, const TypedContinuousVector<bool> *) {
    return &value.boolean_list;
  }
  static const TypedContinuousVector<int64_t> *Find(const AttributeValue &value,
                                                    const TypedContinuousVector<int64_t> *) {
    return &value.integer_list;
  }
  static const ContinuousVector *Find(const AttributeValue &value, const ContinuousVector *) {
    if (value.real_list.GetSize() > 0) {
      return &value.real_list;
    }
    if (value.boolean_list.GetSize() > 0) {
      return &value.boolean_list;
    }
    return &value.integer_list;
  }
  template <typename TypeT>
  static const TypeT *Find(const AttributeValue &value, const TypeT *) {
    static_assert(std::is_integral<TypeT>::value && sizeof(TypeT) == sizeof(int64_t),
                  "an attribute is read as bool, int64_t, float, char, ge::DataType or a list of them");
    return reinterpret_cast<const TypeT *>(&value.integer);
  }

  std::vector<AttributeValue> values_;
};

}  // namespace gert

#endif
