/* How the types of attributes are encoded. The numbers are those of the library below. */
#ifndef JUMAR_GE_CPP_VALUES_H_
#define JUMAR_GE_CPP_VALUES_H_

#include <climits>
#include <vector>

#include "access.h"

namespace ge {
namespace jumar {

inline void Put(Message &to, int64_t value) { to.U64(1).Int(value); }
inline void Put(Message &to, int32_t value) { Put(to, static_cast<int64_t>(value)); }
inline void Put(Message &to, uint32_t value) { Put(to, static_cast<int64_t>(value)); }
inline void Put(Message &to, float value) { to.U64(2).Float(value); }
inline void Put(Message &to, bool value) { to.U64(3).U64(value ? 1 : 0); }
inline void Put(Message &to, const AscendString &value) { to.U64(4).Text(value); }
inline void Put(Message &to, const Tensor &value) {
  to.U64(5);
  Access::Write(to, value);
}
inline void Put(Message &to, const DataType &value) { to.U64(6).Int(value); }
inline void Put(Message &to, const std::vector<int64_t> &value) { to.U64(7).Ints(value); }
inline void Put(Message &to, const std::vector<int32_t> &value) {
  Put(to, std::vector<int64_t>(value.begin(), value.end()));
}
inline void Put(Message &to, const std::vector<uint32_t> &value) {
  Put(to, std::vector<int64_t>(value.begin(), value.end()));
}
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
    Access::Write(to, one);
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
inline bool Get(Reply &from, Tensor &value) { return Is<5>(from) && (value = Access::ReadTensor(from), true); }
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
  return GetList(from, 14, value, [](Reply &own) { return Access::ReadTensor(own); });
}
inline void Put(Message &to, const std::vector<NamedAttrs> &value) {
  Message inside;
  inside.U64(value.size());
  for (const NamedAttrs &one : value) {
    Access::Write(inside, one);
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
    value.push_back(Access::ReadNamedAttrs(inside));
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
