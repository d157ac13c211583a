/* Values of attributes, and the functions of operators and nodes that set and return them. */
#include "custom.h"
#include "values.h"

namespace ge {

struct AttrValue::Impl {
  std::vector<char> bytes;
};

AttrValue::AttrValue() : impl_(std::make_shared<Impl>()) {}

struct NamedAttrs::Impl {
  AscendString name;
  std::map<AscendString, AttrValue> attrs;
};

NamedAttrs::NamedAttrs() : impl_(std::make_shared<Impl>()) {}
NamedAttrs::NamedAttrs(const NamedAttrs &other) : impl_(std::make_shared<Impl>(*other.impl_)) {}
NamedAttrs &NamedAttrs::operator=(const NamedAttrs &other) {
  *impl_ = *other.impl_;
  return *this;
}
void NamedAttrs::SetName(const char_t *name) { impl_->name = AscendString(name); }
graphStatus NamedAttrs::GetName(AscendString &name) const {
  name = impl_->name;
  return GRAPH_SUCCESS;
}
graphStatus NamedAttrs::SetAttr(const AscendString &name, const AttrValue &value) {
  impl_->attrs[name] = value;
  return GRAPH_SUCCESS;
}
graphStatus NamedAttrs::GetAttr(const AscendString &name, AttrValue &value) const {
  const auto found = impl_->attrs.find(name);
  if (found == impl_->attrs.end()) {
    return GRAPH_FAILED;
  }
  value = found->second;
  return GRAPH_SUCCESS;
}

namespace jumar {

const std::vector<char> &Access::Bytes(const AttrValue &value) { return value.impl_->bytes; }
void Access::SetBytes(AttrValue &value, const std::vector<char> &bytes) { value.impl_->bytes = bytes; }
void Access::Write(Message &to, const NamedAttrs &attrs) {
  to.Text(attrs.impl_->name).U64(attrs.impl_->attrs.size());
  for (const auto &pair : attrs.impl_->attrs) {
    to.Text(pair.first).Bytes(Bytes(pair.second).data(), Bytes(pair.second).size());
  }
}
NamedAttrs Access::ReadNamedAttrs(Reply &from) {
  NamedAttrs read;
  read.impl_->name = from.Text();
  for (uint64_t left = from.U64(); left > 0 && !from.AtEnd(); --left) {
    const AscendString name = from.Text();
    const std::pair<const char *, size_t> bytes = from.Bytes();
    AttrValue value;
    SetBytes(value, std::vector<char>(bytes.first, bytes.first + bytes.second));
    read.impl_->attrs[name] = value;
  }
  return read;
}

namespace {

template <typename T>
std::vector<char> Encoded(const T &value) {
  Message message;
  Put(message, value);
  return std::vector<char>(message.data(), message.data() + message.size());
}

template <typename T>
graphStatus Decoded(const AttrValue &from, T &value) {
  Reply reply;
  reply.Take(Access::Bytes(from).data(), Access::Bytes(from).size());
  return Get(reply, value) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

template <typename T>
void Set(const Operator &op, const char_t *name, const T &value) {
  Message message = About(op);
  message.Text(name);
  Put(message, value);
  (void)Call(CallId::kOpSetAttr, message);
}

void Set(const Operator &op, const char_t *name, const AttrValue &value) {
  (void)Call(CallId::kOpSetAttr, About(op).Text(name).Append(Access::Bytes(value)));
}

template <typename T>
graphStatus Find(const Operator &op, const char_t *name, T &value) {
  Reply reply;
  const graphStatus status = Did(CallId::kOpGetAttr, About(op).Text(name), reply);
  if (status != GRAPH_SUCCESS) {
    return status;
  }
  return Get(reply, value) ? GRAPH_SUCCESS : GRAPH_FAILED;
}

graphStatus Find(const Operator &op, const char_t *name, AttrValue &value) {
  Reply reply;
  const graphStatus status = Did(CallId::kOpGetAttr, About(op).Text(name), reply);
  if (status == GRAPH_SUCCESS) {
    Access::SetBytes(value, reply.All());
  }
  return status;
}

}  // namespace
}  // namespace jumar

#define JUMAR_VALUE_(T)                                                                                     \
  graphStatus AttrValue::SetAttrValue(const T &value) const {                                               \
    impl_->bytes = jumar::Encoded(value);                                                                   \
    return GRAPH_SUCCESS;                                                                                   \
  }                                                                                                         \
  graphStatus AttrValue::GetAttrValue(T &value) const { return jumar::Decoded(*this, value); }
JUMAR_NUMBERS_(JUMAR_VALUE_)
JUMAR_ATTRIBUTES_(JUMAR_VALUE_)
graphStatus AttrValue::SetAttrValue(const char_t *value) const { return SetAttrValue(AscendString(value)); }

#define JUMAR_READ_(T)                                                                                      \
  graphStatus Operator::GetAttr(const char_t *name, T &value) const { return jumar::Find(*this, name, value); } \
  graphStatus GNode::GetAttr(const AscendString &name, T &value) const {                                    \
    return jumar::Find(jumar::Access::OperatorOf(*this), name.GetString(), value);                          \
  }                                                                                                         \
  graphStatus GNode::SetAttr(const AscendString &name, T &value) const {                                    \
    jumar::Set(jumar::Access::OperatorOf(*this), name.GetString(), value);                                  \
    return GRAPH_SUCCESS;                                                                                   \
  }
#define JUMAR_BY_VALUE_(T)                                              \
  Operator &Operator::SetAttr(const char_t *name, T value) {            \
    jumar::Set(*this, name, value);                                     \
    return *this;                                                       \
  }                                                                     \
  void Operator::AttrRegister(const char_t *name, T value) {            \
    jumar::RecordAttribute(name, "");                                   \
    jumar::Set(*this, name, value);                                     \
  }
#define JUMAR_BY_REFERENCE_(T)                                          \
  Operator &Operator::SetAttr(const char_t *name, const T &value) {     \
    jumar::Set(*this, name, value);                                     \
    return *this;                                                       \
  }                                                                     \
  void Operator::AttrRegister(const char_t *name, const T &value) {     \
    jumar::RecordAttribute(name, "");                                   \
    jumar::Set(*this, name, value);                                     \
  }
JUMAR_NUMBERS_(JUMAR_READ_)
JUMAR_ATTRIBUTES_(JUMAR_READ_)
JUMAR_READ_(AttrValue)
JUMAR_NUMBERS_(JUMAR_BY_VALUE_)
JUMAR_ATTRIBUTES_(JUMAR_BY_REFERENCE_)
JUMAR_BY_REFERENCE_(AttrValue)

Operator &Operator::SetAttr(const char_t *name, const char_t *value) { return SetAttr(name, AscendString(value)); }
Operator &Operator::SetAttr(const char_t *name, std::initializer_list<int64_t> &&value) {
  return SetAttr(name, std::vector<int64_t>(value));
}
Operator &Operator::SetAttr(const char_t *name, AttrValue &&value) {
  return SetAttr(name, static_cast<const AttrValue &>(value));
}
void Operator::AttrRegister(const char_t *name, const char_t *value) { AttrRegister(name, AscendString(value)); }

void Operator::JumarSetText(const char_t *name, const char_t *value) { (void)SetAttr(name, AscendString(value)); }
graphStatus Operator::JumarGetText(const char_t *name, AscendString &value) const { return GetAttr(name, value); }
graphStatus Operator::JumarGetTexts(const char_t *name, std::vector<AscendString> &value) const {
  return GetAttr(name, value);
}
#define JUMAR_KIND_(T)                                                                                      \
  Operator::Op##T Operator::JumarGet##T(const char_t *name) const {                                         \
    Op##T value = Op##T();                                                                                  \
    (void)GetAttr(name, value);                                                                             \
    return value;                                                                                           \
  }                                                                                                         \
  void Operator::JumarSet##T(const char_t *name, const Op##T &value) { (void)SetAttr(name, value); }
JUMAR_KIND_(Int)
JUMAR_KIND_(Float)
JUMAR_KIND_(Bool)
JUMAR_KIND_(AscendString)
JUMAR_KIND_(Tensor)
JUMAR_KIND_(Type)
JUMAR_KIND_(Bytes)
JUMAR_KIND_(NamedAttrs)
JUMAR_KIND_(ListInt)
JUMAR_KIND_(ListFloat)
JUMAR_KIND_(ListBool)
JUMAR_KIND_(ListAscendString)
JUMAR_KIND_(ListTensor)
JUMAR_KIND_(ListListInt)
JUMAR_KIND_(ListType)
JUMAR_KIND_(ListNamedAttrs)

}  // namespace ge
