// A client that was compiled against other headers, with the older layout of std::string: it declares what it uses, with the sizes and
// the functions inside headers that the clients of the toolkit compile, and includes none of Jumar's headers. MindSpore's libraries do this.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ge {
class StatusFactory {
 public:
  static StatusFactory *Instance();
  std::string GetErrDesc(const uint32_t status);
  void Add(uint32_t status, const std::string &text) {
    if (texts_.find(status) == texts_.end()) {
      texts_[status] = text;
    }
  }
  size_t Count() const { return texts_.size(); }
  std::string Own(uint32_t status) const { return texts_.at(status); }

 private:
  std::map<uint32_t, std::string> texts_;
};
class Operator {
 public:
  explicit Operator(const std::string &type);
  virtual ~Operator() = default;
  std::string GetOpType() const;
  uint32_t InferShapeAndType();
  void InferFuncRegister(const std::function<uint32_t(Operator &)> &function);

 private:
  std::shared_ptr<void> impl_;
};
class InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const std::string &type, const std::function<uint32_t(Operator &)> &function);
};
class Tensor {
 public:
  Tensor();
  uint32_t SetData(const std::string &data);
  const uint8_t *GetData() const;
  size_t GetSize() const;

 private:
  std::shared_ptr<void> impl_;
};
}  // namespace ge

namespace {

int failures = 0;

void Check(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    ++failures;
  }
}

// As in a static initialiser of a library, before anything else is called.
const bool added = (ge::StatusFactory::Instance()->Add(4711, "a text that is longer than short strings are"), true);
std::string inferred;
const ge::InferShapeFuncRegister registered(std::string("OfOurOwn"), [](ge::Operator &op) {
  inferred += op.GetOpType();
  return 0u;
});

}  // namespace

int main() {
  ge::StatusFactory *const factory = ge::StatusFactory::Instance();
  Check(added && factory->GetErrDesc(4711) == "a text that is longer than short strings are", "a text that the client added");
  Check(factory->Count() > 1 && factory->Own(0) == factory->GetErrDesc(0), "a text that the library added");
  Check(factory->GetErrDesc(4713).empty(), "a status without a text");

  ge::Operator own("OfOurOwn");
  Check(own.InferShapeAndType() == 0 && inferred == "OfOurOwn", "the function of a type");
  ge::Operator another("Another");
  Check(another.InferShapeAndType() != 0, "a type without a function");
  another.InferFuncRegister([](ge::Operator &) {
    inferred += ", another";
    return 7u;
  });
  Check(another.InferShapeAndType() == 7 && inferred == "OfOurOwn, another", "the function of an operator");
  // The library infers its own types itself.
  const ge::InferShapeFuncRegister known(std::string("Relu"), [](ge::Operator &) { return inferred.clear(), 0u; });
  ge::Operator relu("Relu");
  (void)relu.InferShapeAndType();
  Check(!inferred.empty(), "the function of a type that the library has");

  ge::Tensor tensor;
  Check(tensor.SetData(std::string("a\0b", 3)) == 0 && tensor.GetSize() == 3 && tensor.GetData()[2] == 'b', "a tensor's bytes");
  std::printf(failures == 0 ? "older strings: ok\n" : "older strings: %d wrong\n", failures);
  return failures;
}
