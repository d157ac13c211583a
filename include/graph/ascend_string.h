/* A string with one layout, whatever layout the standard library's string has. Copies share the characters. */
#ifndef INC_EXTERNAL_GRAPH_ASCEND_STRING_H_
#define INC_EXTERNAL_GRAPH_ASCEND_STRING_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace ge {

class AscendString {
 public:
  AscendString();
  ~AscendString() = default;
  AscendString(const char *const name);
  AscendString(const char *const name, size_t length);
  const char *GetString() const;
  size_t GetLength() const;
  size_t Find(const AscendString &part) const;
  size_t Hash() const;
  bool operator<(const AscendString &other) const;
  bool operator>(const AscendString &other) const;
  bool operator<=(const AscendString &other) const;
  bool operator>=(const AscendString &other) const;
  bool operator==(const AscendString &other) const;
  bool operator!=(const AscendString &other) const;
  bool operator==(const char *const other) const;
  bool operator!=(const char *const other) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
  size_t operator()(const ge::AscendString &text) const { return text.Hash(); }
};
}  // namespace std

#endif
