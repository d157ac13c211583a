/* Operators, and the functions that create them by the names of their types. */
#include <mutex>
#include <string>

#include "access.h"
#include "custom.h"

namespace ge {
namespace jumar {

Operator Access::OperatorOf(uint64_t id) {
  Operator op;
  Take(op, id);
  return op;
}

namespace {

/* The name of a member of a group of inputs or outputs. */
AscendString Numbered(const char_t *name, uint32_t index) {
  const std::string text = std::string(name == nullptr ? "" : name) + std::to_string(index);
  return AscendString(text.c_str());
}

void Link(const Operator &op, const char_t *input, uint32_t number, const Operator &source, const Port &port) {
  Message message = About(op);
  message.Text(input).U64(number).U64(Access::Id(source)).U64(port.way).Text(port.name).U64(port.number);
  (void)Call(CallId::kOpLink, message);
}

TensorDesc Desc(CallId call, const Operator &op, const char_t *name, uint32_t index) {
  Reply reply;
  if (Did(call, About(op).Text(name).U64(index), reply) != GRAPH_SUCCESS) {
    return TensorDesc();
  }
  return Access::ReadDesc(reply);
}

graphStatus SetDesc(CallId call, const Operator &op, const char_t *name, uint32_t index, const TensorDesc &desc) {
  Message message = About(op);
  message.Text(name).U64(index);
  Access::Write(message, desc);
  return Did(call, message);
}

/* The definition that is recorded on this thread, if one is. */
thread_local Definition *recorded = nullptr;

void Record(std::vector<std::pair<AscendString, AscendString>> Definition::*list, const char_t *name, const char_t *what) {
  if (recorded != nullptr) {
    (recorded->*list).emplace_back(AscendString(name), AscendString(what));
  }
}

void Groups(CallId call, const Operator &op, const char_t *name, uint32_t count, int64_t at) {
  (void)Call(call, About(op).Text(name).U64(count).Int(at));
}

int32_t Group(const Operator &op, const char_t *name, uint64_t outputs) {
  return static_cast<int32_t>(Number(CallId::kOpGroup, About(op).Text(name).U64(outputs)));
}

/* Returns the numbers of inputs and outputs. */
std::pair<size_t, size_t> Sizes(const Operator &op) {
  Reply reply;
  (void)Call(CallId::kOpInfo, About(op), reply);
  (void)reply.Text();
  (void)reply.Text();
  std::pair<size_t, size_t> sizes;
  sizes.first = static_cast<size_t>(reply.U64());
  for (size_t left = sizes.first; left > 0; --left) {
    (void)reply.Text();
  }
  sizes.second = static_cast<size_t>(reply.U64());
  return sizes;
}

AscendString BuilderName(const char_t *name, uint32_t index) {
  const std::string text = std::string(name == nullptr ? "" : name) + "/" + std::to_string(index);
  return AscendString(text.c_str());
}

uint64_t New(const char_t *name, const char_t *type) { return Number(CallId::kOpNew, Message().Text(name).Text(type)); }

/* The names of the attributes' types, as REG_OP and as programs that ask for definitions have them. */
const char *const kAttributeTypes[][2] = {
    {"Int", "VT_INT"},
    {"Float", "VT_FLOAT"},
    {"Bool", "VT_BOOL"},
    {"String", "VT_STRING"},
    {"AscendString", "VT_STRING"},
    {"Tensor", "VT_TENSOR"},
    {"Type", "VT_DATA_TYPE"},
    {"NamedAttrs", "VT_NAMED_ATTRS"},
    {"Bytes", "VT_BYTES"},
    {"ListInt", "VT_LIST_INT"},
    {"ListFloat", "VT_LIST_FLOAT"},
    {"ListBool", "VT_LIST_BOOL"},
    {"ListString", "VT_LIST_STRING"},
    {"ListAscendString", "VT_LIST_STRING"},
    {"ListTensor", "VT_LIST_TENSOR"},
    {"ListType", "VT_LIST_DATA_TYPE"},
    {"ListListInt", "VT_LIST_LIST_INT"},
    {"ListNamedAttrs", "VT_LIST_NAMED_ATTRS"},
};

}  // namespace

void RecordAttribute(const char_t *name, const char_t *type) {
  for (const auto &pair : kAttributeTypes) {
    if (std::strcmp(pair[0], type) == 0) {
      type = pair[1];
      break;
    }
  }
  Record(&Definition::attributes, name, type);
}

}  // namespace jumar

using jumar::About;
using jumar::Access;
using jumar::CallId;
using jumar::Did;
using jumar::Message;
using jumar::Port;
using jumar::Reply;

Operator::Operator() {}
Operator::Operator(const jumar::Name &name, const char_t *type) {
  Access::Take(*this, jumar::Number(CallId::kOpCreate, Message().Text(name.text()).Text(type)));
}
Operator::Operator(const char_t *type) { Access::Take(*this, jumar::New("", type)); }
Operator::Operator(const char_t *name, const char_t *type) { Access::Take(*this, jumar::New(name, type)); }
Operator::Operator(const AscendString &name, const AscendString &type) {
  Access::Take(*this, jumar::New(name.GetString(), type.GetString()));
}

bool Operator::IsEmpty() const { return handle_ == nullptr; }
graphStatus Operator::GetName(AscendString &name) const {
  Reply reply;
  const graphStatus status = Did(CallId::kOpInfo, About(*this), reply);
  name = reply.Text();
  return status;
}
graphStatus Operator::GetOpType(AscendString &type) const {
  Reply reply;
  const graphStatus status = Did(CallId::kOpInfo, About(*this), reply);
  (void)reply.Text();
  type = reply.Text();
  return status;
}

Operator &Operator::SetInput(const char_t *input, const Operator &source) {
  jumar::Link(*this, input, 0, source, Port());
  return *this;
}
Operator &Operator::SetInput(const char_t *input, const Operator &source, const char_t *output) {
  jumar::Link(*this, input, 0, source, Port(output));
  return *this;
}
Operator &Operator::SetInput(const char_t *input, const Operator &source, uint32_t output) {
  jumar::Link(*this, input, 0, source, Port(output));
  return *this;
}
Operator &Operator::SetInput(uint32_t input, const Operator &source, uint32_t output) {
  jumar::Link(*this, "", input, source, Port(output));
  return *this;
}
Operator &Operator::SetInput(const char_t *input, uint32_t number, const Operator &source) {
  jumar::Link(*this, jumar::Numbered(input, number).GetString(), 0, source, Port());
  return *this;
}
Operator &Operator::SetInput(const char_t *input, uint32_t number, const Operator &source, const char_t *output) {
  jumar::Link(*this, jumar::Numbered(input, number).GetString(), 0, source, Port(output));
  return *this;
}
Operator &Operator::AddControlInput(const Operator &source) {
  (void)jumar::Call(CallId::kOpControl, About(*this).U64(Access::Id(source)));
  return *this;
}
void Operator::BreakConnect() const { (void)jumar::Call(CallId::kOpCut, About(*this)); }

TensorDesc Operator::GetInputDesc(uint32_t index) const { return jumar::Desc(CallId::kOpInputDesc, *this, "", index); }
TensorDesc Operator::GetInputDescByName(const char_t *name) const {
  return jumar::Desc(CallId::kOpInputDesc, *this, name, 0);
}
graphStatus Operator::TryGetInputDesc(const char_t *name, TensorDesc &desc) const {
  Reply reply;
  const graphStatus status = Did(CallId::kOpInputDesc, About(*this).Text(name).U64(0), reply);
  if (status == GRAPH_SUCCESS) {
    desc = Access::ReadDesc(reply);
  }
  return status;
}
graphStatus Operator::UpdateInputDesc(const char_t *name, const TensorDesc &desc) {
  return jumar::SetDesc(CallId::kOpSetInputDesc, *this, name, 0, desc);
}
graphStatus Operator::UpdateInputDesc(const uint32_t index, const TensorDesc &desc) {
  return jumar::SetDesc(CallId::kOpSetInputDesc, *this, "", index, desc);
}
TensorDesc Operator::GetOutputDesc(uint32_t index) const {
  return jumar::Desc(CallId::kOpOutputDesc, *this, "", index);
}
TensorDesc Operator::GetOutputDescByName(const char_t *name) const {
  return jumar::Desc(CallId::kOpOutputDesc, *this, name, 0);
}
graphStatus Operator::UpdateOutputDesc(const char_t *name, const TensorDesc &desc) {
  return jumar::SetDesc(CallId::kOpSetOutputDesc, *this, name, 0, desc);
}
graphStatus Operator::UpdateOutputDesc(const uint32_t index, const TensorDesc &desc) {
  return jumar::SetDesc(CallId::kOpSetOutputDesc, *this, "", index, desc);
}
TensorDesc Operator::GetDynamicInputDesc(const char_t *name, uint32_t index) const {
  return GetInputDescByName(jumar::Numbered(name, index).GetString());
}
graphStatus Operator::UpdateDynamicInputDesc(const char_t *name, uint32_t index, const TensorDesc &desc) {
  return UpdateInputDesc(jumar::Numbered(name, index).GetString(), desc);
}
TensorDesc Operator::GetDynamicOutputDesc(const char_t *name, uint32_t index) const {
  return GetOutputDescByName(jumar::Numbered(name, index).GetString());
}
graphStatus Operator::UpdateDynamicOutputDesc(const char_t *name, uint32_t index, const TensorDesc &desc) {
  return UpdateOutputDesc(jumar::Numbered(name, index).GetString(), desc);
}
int32_t Operator::GetDynamicInputNum(const char_t *name) const { return jumar::Group(*this, name, 0); }
int32_t Operator::GetDynamicOutputNum(const char_t *name) const { return jumar::Group(*this, name, 1); }
size_t Operator::GetInputsSize() const { return jumar::Sizes(*this).first; }
size_t Operator::GetOutputsSize() const { return jumar::Sizes(*this).second; }
graphStatus Operator::GetAllIrAttrNamesAndTypes(std::map<AscendString, AscendString> &attr_name_types) const {
  Reply reply;
  const graphStatus status = Did(CallId::kOpAttrTypes, About(*this), reply);
  attr_name_types.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const AscendString name = reply.Text();
    attr_name_types[name] = reply.Text();
  }
  return status;
}

void Operator::DynamicInputRegister(const char_t *name, const uint32_t count, bool push_back) {
  jumar::Record(&jumar::Definition::inputs, name, "dynamic");
  if (count == 0) {
    return;
  }
  jumar::Groups(CallId::kOpInputs, *this, name, count, push_back ? -1 : 0);
}
void Operator::DynamicInputRegister(const char_t *name, const uint32_t count, const char_t *, bool push_back) {
  DynamicInputRegister(name, count, push_back);
}
void Operator::DynamicInputRegisterByIndex(const char_t *name, const uint32_t count, size_t index) {
  jumar::Groups(CallId::kOpInputs, *this, name, count, static_cast<int64_t>(index));
}
void Operator::DynamicOutputRegister(const char_t *name, const uint32_t count, bool push_back) {
  jumar::Record(&jumar::Definition::outputs, name, "dynamic");
  if (count == 0) {
    return;
  }
  jumar::Groups(CallId::kOpOutputs, *this, name, count, push_back ? -1 : 0);
}
void Operator::DynamicOutputRegister(const char_t *name, const uint32_t count, const char_t *, bool push_back) {
  DynamicOutputRegister(name, count, push_back);
}
void Operator::SubgraphRegister(const char_t *, bool) {}
void Operator::SubgraphCountRegister(const char_t *, uint32_t) {}
void Operator::SetSubgraphBuilder(const char_t *name, uint32_t index, const SubgraphBuilder &builder) {
  if (handle_ == nullptr || !builder) {
    return;
  }
  handle_->Replace(jumar::BuilderName(name, index), std::make_shared<SubgraphBuilder>(builder));
  const Graph graph = builder();
  (void)jumar::Call(CallId::kOpBody, About(*this).Text(name).U64(index).U64(Access::Id(graph)));
}
SubgraphBuilder Operator::GetDynamicSubgraphBuilder(const char_t *name, uint32_t index) const {
  if (handle_ == nullptr) {
    return SubgraphBuilder();
  }
  const std::shared_ptr<void> found = handle_->Attached(jumar::BuilderName(name, index));
  return found == nullptr ? SubgraphBuilder() : *static_cast<const SubgraphBuilder *>(found.get());
}
SubgraphBuilder Operator::GetSubgraphBuilder(const char_t *name) const { return GetDynamicSubgraphBuilder(name, 0); }
Graph Operator::GetDynamicSubgraph(const char_t *name, uint32_t index) const {
  const SubgraphBuilder builder = GetDynamicSubgraphBuilder(name, index);
  return builder ? builder() : Graph();
}
Graph Operator::GetSubgraph(const char_t *name) const { return GetDynamicSubgraph(name, 0); }

void Operator::RequiredAttrRegister(const char_t *name) { jumar::RecordAttribute(name, ""); }
void Operator::RequiredAttrWithTypeRegister(const char_t *name, const char_t *type) {
  jumar::RecordAttribute(name, type);
}
void Operator::InputRegister(const char_t *name) {
  jumar::Record(&jumar::Definition::inputs, name, "required");
  (void)jumar::Call(CallId::kOpInput, About(*this).Text(name));
}
void Operator::InputRegister(const char_t *name, const char_t *) { InputRegister(name); }
void Operator::OptionalInputRegister(const char_t *name) {
  jumar::Record(&jumar::Definition::inputs, name, "optional");
  (void)jumar::Call(CallId::kOpInput, About(*this).Text(name));
}
void Operator::OptionalInputRegister(const char_t *name, const char_t *) { OptionalInputRegister(name); }
void Operator::OutputRegister(const char_t *name) {
  jumar::Record(&jumar::Definition::outputs, name, "required");
  (void)jumar::Call(CallId::kOpOutput, About(*this).Text(name));
}
void Operator::OutputRegister(const char_t *name, const char_t *) { OutputRegister(name); }
void Operator::DataTypeRegister(const char_t *, const TensorType &) {}
void Operator::DataTypeRegister(const char_t *, const ListTensorType &) {}
void Operator::DataTypeRegister(const char_t *, const Promote &) {}

void Operator::JumarLink(const char_t *input, const Operator &source) { jumar::Link(*this, input, 0, source, Port()); }
void Operator::JumarLinkName(const char_t *input, const Operator &source, const char_t *output) {
  jumar::Link(*this, input, 0, source, Port(output));
}
void Operator::JumarLinkPort(const char_t *input, const Operator &source, const jumar::Port &port) {
  jumar::Link(*this, input, 0, source, port);
}
void Operator::JumarLinkAt(const char_t *input, uint32_t index, const Operator &source, const jumar::Port &port) {
  jumar::Link(*this, jumar::Numbered(input, index).GetString(), 0, source, port);
}
TensorDesc Operator::JumarInputDesc(const char_t *name) const { return GetInputDescByName(name); }
TensorDesc Operator::JumarOutputDesc(const char_t *name) const { return GetOutputDescByName(name); }
graphStatus Operator::JumarDescribeInput(const char_t *name, const TensorDesc &desc) {
  return UpdateInputDesc(name, desc);
}
graphStatus Operator::JumarDescribeOutput(const char_t *name, const TensorDesc &desc) {
  return UpdateOutputDesc(name, desc);
}
void Operator::JumarInputs(const char_t *name, uint32_t count, bool push_back) {
  DynamicInputRegister(name, count, push_back);
}
void Operator::JumarOutputs(const char_t *name, uint32_t count, bool push_back) {
  DynamicOutputRegister(name, count, push_back);
}

namespace {

/* The functions of programs that create operators of types which the library does not know, and the definitions that the
 * operators have shown. */
struct Creators {
  struct Creator {
    OpCreatorV2 create;
    std::shared_ptr<const jumar::Definition> definition;
  };
  std::mutex lock;
  std::map<AscendString, Creator> by_type;
  std::map<AscendString, InferShapeFunc> inference;

  /* Never destroyed: objects of programs may register or ask during the end of the process. */
  static Creators &Instance() {
    static Creators *const creators = new Creators();
    return *creators;
  }
  Creator Find(const char_t *type) {
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = by_type.find(AscendString(type));
    return found == by_type.end() ? Creator() : found->second;
  }
};

void RegisterInference(const AscendString &type, const InferShapeFunc &function) {
  Creators &creators = Creators::Instance();
  const std::lock_guard<std::mutex> guard(creators.lock);
  creators.inference[type] = function;
}

bool Knows(const char_t *type) { return jumar::Number(CallId::kOpExists, Message().Text(type)) != 0; }

}  // namespace

OperatorCreatorRegister::OperatorCreatorRegister(const char_t *const type, const OpCreatorV2 &creator) {
  Creators &creators = Creators::Instance();
  const std::lock_guard<std::mutex> guard(creators.lock);
  creators.by_type[AscendString(type)] = Creators::Creator{creator, nullptr};
}

std::shared_ptr<const jumar::Definition> jumar::DefinitionOf(const char_t *type) {
  const Creators::Creator found = Creators::Instance().Find(type);
  if (found.definition != nullptr || !found.create) {
    return found.definition;
  }
  const std::shared_ptr<Definition> made = std::make_shared<Definition>();
  Definition *const before = recorded;
  recorded = made.get();
  const Operator op = found.create(AscendString(type));
  recorded = before;
  /* Attributes with a default have the type of its value. */
  std::map<AscendString, AscendString> types;
  (void)op.GetAllIrAttrNamesAndTypes(types);
  for (auto &attribute : made->attributes) {
    const auto type_of = types.find(attribute.first);
    if (attribute.second.GetLength() == 0 && type_of != types.end()) {
      attribute.second = type_of->second;
    }
  }
  Creators &creators = Creators::Instance();
  const std::lock_guard<std::mutex> guard(creators.lock);
  creators.by_type[AscendString(type)].definition = made;
  return made;
}

InferShapeFuncRegister::InferShapeFuncRegister(const char_t *const type, const InferShapeFunc &function) {
  RegisterInference(AscendString(type), function);
}
void Operator::InferFuncRegister(const std::function<graphStatus(Operator &)> &function) {
  AscendString type;
  if (GetOpType(type) == GRAPH_SUCCESS) {
    RegisterInference(type, function);
  }
}
graphStatus Operator::InferShapeAndType() {
  AscendString type;
  (void)GetOpType(type);
  InferShapeFunc function;
  if (!Knows(type.GetString())) {
    Creators &creators = Creators::Instance();
    const std::lock_guard<std::mutex> guard(creators.lock);
    const auto found = creators.inference.find(type);
    function = found == creators.inference.end() ? nullptr : found->second;
  }
  /* Without the lock: the function may create operators. */
  return function ? function(*this) : jumar::Did(CallId::kOpInfer, jumar::About(*this));
}

Operator OperatorFactory::CreateOperator(const char_t *const name, const char_t *const type) {
  if (!Knows(type)) {
    const OpCreatorV2 creator = Creators::Instance().Find(type).create;
    if (creator) {
      return creator(AscendString(name));
    }
  }
  const uint64_t id = jumar::Number(CallId::kOpCreate, Message().Text(name).Text(type));
  return id == 0 ? Operator() : Access::OperatorOf(id);
}
bool OperatorFactory::IsExistOp(const char_t *const type) {
  return Knows(type) || static_cast<bool>(Creators::Instance().Find(type).create);
}

}  // namespace ge
