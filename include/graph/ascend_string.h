/* A text that copies share. It has one layout, whatever the standard library's own text has. */
#ifndef JUMAR_GRAPH_ASCEND_STRING_H_
#define JUMAR_GRAPH_ASCEND_STRING_H_

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ge {

class AscendString {
 public:
  AscendString() = default;
  ~AscendString() = default;
  AscendString(const char *const name) {
    if (name != nullptr) {
      Set(name, std::strlen(name));
    }
  }
  AscendString(const char *const name, size_t length) {
    if (name != nullptr) {
      Set(name, length);
    }
  }
  const char *GetString() const { return text_ == nullptr ? "" : text_->data(); }
  size_t GetLength() const { return text_ == nullptr ? 0 : text_->size() - 1; }
  size_t Find(const AscendString &part) const {
    const std::string own(GetString(), GetLength());
    return own.find(part.GetString());
  }
  size_t Hash() const { return std::hash<std::string>()(std::string(GetString(), GetLength())); }
  bool operator<(const AscendString &other) const { return Compare(other) < 0; }
  bool operator>(const AscendString &other) const { return Compare(other) > 0; }
  bool operator<=(const AscendString &other) const { return Compare(other) <= 0; }
  bool operator>=(const AscendString &other) const { return Compare(other) >= 0; }
  bool operator==(const AscendString &other) const { return Compare(other) == 0; }
  bool operator!=(const AscendString &other) const { return Compare(other) != 0; }
  bool operator==(const char *const other) const { return other != nullptr && std::strcmp(GetString(), other) == 0; }
  bool operator!=(const char *const other) const { return !(*this == other); }

 private:
  void Set(const char *text, size_t length) {
    text_ = std::make_shared<std::vector<char>>(text, text + length);
    text_->push_back('\0');
  }
  int Compare(const AscendString &other) const { return std::strcmp(GetString(), other.GetString()); }

  std::shared_ptr<std::vector<char>> text_;
};

}  // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
  size_t operator()(const ge::AscendString &text) const { return text.Hash(); }
};
}  // namespace std

#endif
