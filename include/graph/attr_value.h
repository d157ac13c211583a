/* The value of an attribute, of any type. */
#ifndef JUMAR_GRAPH_ATTR_VALUE_H_
#define JUMAR_GRAPH_ATTR_VALUE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensor.h"

namespace ge {
namespace jumar {

/* How each type travels. The numbers are those that the library knows. */
inline void Put(Message &to, int64_t value) { to.U64(1).Int(value); }
inline void Put(Message &to, float value) { to.U64(2).Float(value); }
inline void Put(Message &to, bool value) { to.U64(3).U64(value ? 1 : 0); }
inline void Put(Message &to, const AscendString &value) { to.U64(4).Text(value); }
inline void Put(Message &to, const Tensor &value) {
  to.U64(5);
  value.JumarWrite(to);
}
inline void Put(Message &to, const DataType &value) { to.U64(6).Int(value); }
inline void Put(Message &to, const std::vector<int64_t> &value) { to.U64(7).Ints(value); }
inline void Put(Message &to, const std::vector<float> &value) {
  to.U64(8).U64(value.size());
  for (float one : value) {
    to.Float(one);
  }
}
inline void Put(Message &to, const std::vector<bool> &value) {
  to.U64(9).U64(value.size());
  for (bool one : value) {
    to.U64(one ? 1 : 0);
  }
}
inline void Put(Message &to, const std::vector<AscendString> &value) {
  to.U64(10).U64(value.size());
  for (const AscendString &one : value) {
    to.Text(one);
  }
}
inline void Put(Message &to, const std::vector<std::vector<int64_t>> &value) {
  to.U64(11).U64(value.size());
  for (const std::vector<int64_t> &one : value) {
    to.Ints(one);
  }
}
inline void Put(Message &to, const std::vector<DataType> &value) {
  to.U64(12).U64(value.size());
  for (DataType one : value) {
    to.Int(one);
  }
}
inline void Put(Message &to, const std::vector<uint8_t> &value) { to.U64(13).Bytes(value.data(), value.size()); }
inline void Put(Message &to, const std::vector<Tensor> &value) {
  to.U64(14).U64(value.size());
  for (const Tensor &one : value) {
    one.JumarWrite(to);
  }
}

template <uint64_t Kind>
inline bool Is(Reply &from) {
  return from.U64() == Kind;
}
inline bool Get(Reply &from, int64_t &value) {
  const uint64_t kind = from.U64();
  if (kind != 1 && kind != 6) {
    return false;
  }
  value = from.Int();
  return true;
}
inline bool Get(Reply &from, int32_t &value) {
  int64_t wide = 0;
  if (!Get(from, wide) || wide < INT32_MIN || wide > INT32_MAX) {
    return false;
  }
  value = static_cast<int32_t>(wide);
  return true;
}
inline bool Get(Reply &from, uint32_t &value) {
  int64_t wide = 0;
  if (!Get(from, wide) || wide < 0 || wide > static_cast<int64_t>(UINT32_MAX)) {
    return false;
  }
  value = static_cast<uint32_t>(wide);
  return true;
}
inline bool Get(Reply &from, float &value) { return Is<2>(from) && (value = from.Float(), true); }
inline bool Get(Reply &from, bool &value) { return Is<3>(from) && (value = from.U64() != 0, true); }
inline bool Get(Reply &from, AscendString &value) { return Is<4>(from) && (value = from.Text(), true); }
inline bool Get(Reply &from, Tensor &value) { return Is<5>(from) && (value = Tensor::JumarRead(from), true); }
inline bool Get(Reply &from, DataType &value) {
  const uint64_t kind = from.U64();
  return (kind == 6 || kind == 1) && (value = static_cast<DataType>(from.Int()), true);
}
inline bool Get(Reply &from, std::vector<int64_t> &value) { return Is<7>(from) && (value = from.Ints(), true); }
inline bool Get(Reply &from, std::vector<int32_t> &value) {
  std::vector<int64_t> wide;
  if (!Get(from, wide)) {
    return false;
  }
  value.clear();
  for (int64_t one : wide) {
    value.push_back(static_cast<int32_t>(one));
  }
  return true;
}
inline bool Get(Reply &from, std::vector<uint32_t> &value) {
  std::vector<int64_t> wide;
  if (!Get(from, wide)) {
    return false;
  }
  value.clear();
  for (int64_t one : wide) {
    value.push_back(static_cast<uint32_t>(one));
  }
  return true;
}
template <typename T, typename Read>
inline bool GetList(Reply &from, uint64_t kind, std::vector<T> &value, Read read) {
  if (from.U64() != kind) {
    return false;
  }
  value.clear();
  for (uint64_t left = from.U64(); left > 0; --left) {
    value.push_back(read(from));
  }
  return true;
}
inline bool Get(Reply &from, std::vector<float> &value) {
  return GetList(from, 8, value, [](Reply &own) { return own.Float(); });
}
inline bool Get(Reply &from, std::vector<bool> &value) {
  return GetList(from, 9, value, [](Reply &own) { return own.U64() != 0; });
}
inline bool Get(Reply &from, std::vector<AscendString> &value) {
  return GetList(from, 10, value, [](Reply &own) { return own.Text(); });
}
inline bool Get(Reply &from, std::vector<std::vector<int64_t>> &value) {
  return GetList(from, 11, value, [](Reply &own) { return own.Ints(); });
}
inline bool Get(Reply &from, std::vector<DataType> &value) {
  return GetList(from, 12, value, [](Reply &own) { return static_cast<DataType>(own.Int()); });
}
inline bool Get(Reply &from, std::vector<uint8_t> &value) {
  if (!Is<13>(from)) {
    return false;
  }
  const std::pair<const char *, size_t> bytes = from.Bytes();
  value.assign(bytes.first, bytes.first + bytes.second);
  return true;
}
inline bool Get(Reply &from, std::vector<Tensor> &value) {
  return GetList(from, 14, value, [](Reply &own) { return Tensor::JumarRead(own); });
}
/* The standard library's texts become ours, and never cross. */
inline void Put(Message &to, const std::string &value) { Put(to, AscendString(value.c_str(), value.size())); }
inline bool Get(Reply &from, std::string &value) {
  AscendString text;
  return Get(from, text) && (value = text.GetString(), true);
}
inline void Put(Message &to, const std::vector<std::string> &value) {
  std::vector<AscendString> list;
  for (const std::string &one : value) {
    list.push_back(AscendString(one.c_str(), one.size()));
  }
  Put(to, list);
}
inline bool Get(Reply &from, std::vector<std::string> &value) {
  return GetList(from, 10, value, [](Reply &own) { return std::string(own.Text().GetString()); });
}

}  // namespace jumar

class AttrValue {
 public:
  typedef int64_t INT;
  typedef float FLOAT;
  typedef std::string STR;

  AttrValue() : value_(std::make_shared<std::vector<char>>()) {}
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
  template <typename T>
  graphStatus SetAttrValue(const T &value) const {
    jumar::Message message;
    jumar::Put(message, value);
    value_->assign(message.data(), message.data() + message.size());
    return GRAPH_SUCCESS;
  }
  template <typename T>
  graphStatus GetAttrValue(T &value) const {
    jumar::Reply reply;
    reply.Take(value_->data(), value_->size());
    return jumar::Get(reply, value) ? GRAPH_SUCCESS : GRAPH_FAILED;
  }
  /* The value itself, of a type that is named. */
  template <typename T>
  T JumarValue() const {
    T value = T();
    (void)GetAttrValue(value);
    return value;
  }
  const std::vector<char> &JumarBytes() const { return *value_; }
  void JumarTake(const std::vector<char> &bytes) { *value_ = bytes; }

 private:
  std::shared_ptr<std::vector<char>> value_;
};

/* A name with attributes. To the library it is bytes: operators of programs have them, and nothing there looks inside. */
class NamedAttrs {
 public:
  void SetName(const char_t *name) { name_ = AscendString(name); }
  void SetName(const std::string &name) { name_ = AscendString(name.c_str()); }
  graphStatus GetName(AscendString &name) const {
    name = name_;
    return GRAPH_SUCCESS;
  }
  graphStatus SetAttr(const AscendString &name, const AttrValue &value) {
    attrs_[name] = value;
    return GRAPH_SUCCESS;
  }
  graphStatus GetAttr(const AscendString &name, AttrValue &value) const {
    const auto found = attrs_.find(name);
    if (found == attrs_.end()) {
      return GRAPH_FAILED;
    }
    value = found->second;
    return GRAPH_SUCCESS;
  }
  void JumarWrite(jumar::Message &to) const {
    to.Text(name_).U64(attrs_.size());
    for (const auto &pair : attrs_) {
      to.Text(pair.first).Bytes(pair.second.JumarBytes().data(), pair.second.JumarBytes().size());
    }
  }
  static NamedAttrs JumarRead(jumar::Reply &from) {
    NamedAttrs read;
    read.name_ = from.Text();
    for (uint64_t left = from.U64(); left > 0; --left) {
      const AscendString name = from.Text();
      const std::pair<const char *, size_t> bytes = from.Bytes();
      AttrValue value;
      value.JumarTake(std::vector<char>(bytes.first, bytes.first + bytes.second));
      read.attrs_[name] = value;
    }
    return read;
  }

 private:
  AscendString name_;
  std::map<AscendString, AttrValue> attrs_;
};

namespace jumar {

inline void Put(Message &to, const std::vector<NamedAttrs> &value) {
  Message inside;
  inside.U64(value.size());
  for (const NamedAttrs &one : value) {
    one.JumarWrite(inside);
  }
  to.U64(13).Bytes(inside.data(), inside.size());
}
inline void Put(Message &to, const NamedAttrs &value) { Put(to, std::vector<NamedAttrs>(1, value)); }
inline bool Get(Reply &from, std::vector<NamedAttrs> &value) {
  if (!Is<13>(from)) {
    return false;
  }
  const std::pair<const char *, size_t> bytes = from.Bytes();
  Reply inside;
  inside.Take(bytes.first, bytes.second);
  value.clear();
  for (uint64_t left = inside.U64(); left > 0 && !inside.AtEnd(); --left) {
    value.push_back(NamedAttrs::JumarRead(inside));
  }
  return true;
}
inline bool Get(Reply &from, NamedAttrs &value) {
  std::vector<NamedAttrs> list;
  return Get(from, list) && list.size() == 1 && (value = list[0], true);
}

}  // namespace jumar
}  // namespace ge

#endif
