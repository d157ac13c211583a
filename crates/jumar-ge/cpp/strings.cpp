/* The functions with std::string in their signatures. This unit is compiled once for each layout of std::string that
 * programs use (_GLIBCXX_USE_CXX11_ABI 0 and 1). It only calls functions without std::string in their signatures, because
 * the other units exist once. */
#include <mutex>
#include <new>
#include <string>

#include "access.h"

namespace ge {

using jumar::Access;

namespace {

AscendString Own(const std::string &text) { return AscendString(text.c_str(), text.size()); }
std::vector<AscendString> Own(const std::vector<std::string> &list) {
  std::vector<AscendString> own;
  for (const std::string &one : list) {
    own.push_back(Own(one));
  }
  return own;
}
std::map<AscendString, AscendString> Own(const std::map<std::string, std::string> &map) {
  std::map<AscendString, AscendString> own;
  for (const auto &pair : map) {
    own[AscendString(pair.first.c_str())] = AscendString(pair.second.c_str());
  }
  return own;
}
std::string Given(const AscendString &text) { return std::string(text.GetString(), text.GetLength()); }
std::vector<std::string> Given(const std::vector<AscendString> &list) {
  std::vector<std::string> given;
  for (const AscendString &one : list) {
    given.push_back(Given(one));
  }
  return given;
}

}  // namespace

std::string TensorDesc::GetName() const {
  AscendString name;
  (void)GetName(name);
  return Given(name);
}
void TensorDesc::SetName(const std::string &name) { SetName(name.c_str()); }
graphStatus Tensor::SetData(const std::vector<std::string> &datas) { return SetData(Own(datas)); }
graphStatus Tensor::SetData(const std::string &data) {
  return SetData(reinterpret_cast<const uint8_t *>(data.data()), data.size());
}
void NamedAttrs::SetName(const std::string &name) { SetName(name.c_str()); }

graphStatus AttrValue::SetAttrValue(const std::string &value) const { return SetAttrValue(Own(value)); }
graphStatus AttrValue::GetAttrValue(std::string &value) const {
  AscendString own;
  const graphStatus status = GetAttrValue(own);
  if (status == GRAPH_SUCCESS) {
    value = Given(own);
  }
  return status;
}
graphStatus AttrValue::SetAttrValue(const std::vector<std::string> &value) const { return SetAttrValue(Own(value)); }
graphStatus AttrValue::GetAttrValue(std::vector<std::string> &value) const {
  std::vector<AscendString> own;
  const graphStatus status = GetAttrValue(own);
  if (status == GRAPH_SUCCESS) {
    value = Given(own);
  }
  return status;
}

InferShapeFuncRegister::InferShapeFuncRegister(const std::string &type, const InferShapeFunc &function)
    : InferShapeFuncRegister(type.c_str(), function) {}

#define JUMAR_STRING_VALUE_(T, Own_)                                                                             \
  Operator &Operator::SetAttr(const char_t *name, const T &value) { return SetAttr(name, Own(value)); }          \
  Operator &Operator::SetAttr(const std::string &name, const T &value) { return SetAttr(name.c_str(), Own(value)); } \
  graphStatus Operator::GetAttr(const char_t *name, T &value) const {                                            \
    Own_ own;                                                                                                    \
    const graphStatus status = GetAttr(name, own);                                                               \
    if (status == GRAPH_SUCCESS) {                                                                               \
      value = Given(own);                                                                                        \
    }                                                                                                            \
    return status;                                                                                               \
  }                                                                                                              \
  graphStatus Operator::GetAttr(const std::string &name, T &value) const { return GetAttr(name.c_str(), value); } \
  void Operator::AttrRegister(const char_t *name, const T &value) { AttrRegister(name, Own(value)); }            \
  void Operator::AttrRegister(const std::string &name, const T &value) { AttrRegister(name.c_str(), Own(value)); } \
  graphStatus GNode::GetAttr(const AscendString &name, T &value) const {                                         \
    Own_ own;                                                                                                    \
    const graphStatus status = GetAttr(name, own);                                                               \
    if (status == GRAPH_SUCCESS) {                                                                               \
      value = Given(own);                                                                                        \
    }                                                                                                            \
    return status;                                                                                               \
  }                                                                                                              \
  graphStatus GNode::SetAttr(const AscendString &name, T &value) const {                                         \
    Own_ own = Own(value);                                                                                       \
    return SetAttr(name, own);                                                                                   \
  }
JUMAR_STRING_VALUE_(std::string, AscendString)
JUMAR_STRING_VALUE_(std::vector<std::string>, std::vector<AscendString>)

#define JUMAR_BY_VALUE_(T)                                                                                       \
  Operator &Operator::SetAttr(const std::string &name, T value) { return SetAttr(name.c_str(), value); }         \
  graphStatus Operator::GetAttr(const std::string &name, T &value) const { return GetAttr(name.c_str(), value); } \
  void Operator::AttrRegister(const std::string &name, T value) { AttrRegister(name.c_str(), value); }
#define JUMAR_BY_REFERENCE_(T)                                                                                   \
  Operator &Operator::SetAttr(const std::string &name, const T &value) { return SetAttr(name.c_str(), value); }  \
  graphStatus Operator::GetAttr(const std::string &name, T &value) const { return GetAttr(name.c_str(), value); } \
  void Operator::AttrRegister(const std::string &name, const T &value) { AttrRegister(name.c_str(), value); }
JUMAR_NUMBERS_(JUMAR_BY_VALUE_)
JUMAR_ATTRIBUTES_(JUMAR_BY_REFERENCE_)
JUMAR_BY_REFERENCE_(AttrValue)
Operator &Operator::SetAttr(const std::string &name, std::initializer_list<int64_t> &&value) {
  return SetAttr(name.c_str(), std::vector<int64_t>(value));
}
Operator &Operator::SetAttr(const std::string &name, AttrValue &&value) {
  return SetAttr(name.c_str(), static_cast<const AttrValue &>(value));
}

Operator::Operator(const std::string &type) : Operator(type.c_str()) {}
Operator::Operator(const std::string &name, const std::string &type) : Operator(name.c_str(), type.c_str()) {}
std::string Operator::GetName() const {
  AscendString name;
  (void)GetName(name);
  return Given(name);
}
std::string Operator::GetOpType() const {
  AscendString type;
  (void)GetOpType(type);
  return Given(type);
}
Operator &Operator::SetInput(const std::string &input, const Operator &source) {
  return SetInput(input.c_str(), source);
}
Operator &Operator::SetInput(const std::string &input, const Operator &source, const std::string &output) {
  return SetInput(input.c_str(), source, output.c_str());
}
Operator &Operator::SetInput(const std::string &input, const Operator &source, uint32_t output) {
  return SetInput(input.c_str(), source, output);
}
Operator &Operator::SetInput(const std::string &input, uint32_t number, const Operator &source) {
  return SetInput(input.c_str(), number, source);
}
Operator &Operator::SetInput(const std::string &input, uint32_t number, const Operator &source,
                             const std::string &output) {
  return SetInput(input.c_str(), number, source, output.c_str());
}
TensorDesc Operator::GetInputDesc(const std::string &name) const { return GetInputDescByName(name.c_str()); }
graphStatus Operator::TryGetInputDesc(const std::string &name, TensorDesc &desc) const {
  return TryGetInputDesc(name.c_str(), desc);
}
graphStatus Operator::UpdateInputDesc(const std::string &name, const TensorDesc &desc) {
  return UpdateInputDesc(name.c_str(), desc);
}
TensorDesc Operator::GetOutputDesc(const std::string &name) const { return GetOutputDescByName(name.c_str()); }
graphStatus Operator::UpdateOutputDesc(const std::string &name, const TensorDesc &desc) {
  return UpdateOutputDesc(name.c_str(), desc);
}
TensorDesc Operator::GetDynamicInputDesc(const std::string &name, uint32_t index) const {
  return GetDynamicInputDesc(name.c_str(), index);
}
graphStatus Operator::UpdateDynamicInputDesc(const std::string &name, uint32_t index, const TensorDesc &desc) {
  return UpdateDynamicInputDesc(name.c_str(), index, desc);
}
TensorDesc Operator::GetDynamicOutputDesc(const std::string &name, uint32_t index) const {
  return GetDynamicOutputDesc(name.c_str(), index);
}
graphStatus Operator::UpdateDynamicOutputDesc(const std::string &name, uint32_t index, const TensorDesc &desc) {
  return UpdateDynamicOutputDesc(name.c_str(), index, desc);
}
int32_t Operator::GetDynamicInputNum(const std::string &name) const { return GetDynamicInputNum(name.c_str()); }
int32_t Operator::GetDynamicOutputNum(const std::string &name) const { return GetDynamicOutputNum(name.c_str()); }
void Operator::DynamicInputRegister(const std::string &name, const uint32_t count, bool push_back) {
  DynamicInputRegister(name.c_str(), count, push_back);
}
void Operator::DynamicInputRegisterByIndex(const std::string &name, const uint32_t count, size_t index) {
  DynamicInputRegisterByIndex(name.c_str(), count, index);
}
void Operator::DynamicOutputRegister(const std::string &name, const uint32_t count, bool push_back) {
  DynamicOutputRegister(name.c_str(), count, push_back);
}
void Operator::SubgraphRegister(const std::string &name, bool dynamic) { SubgraphRegister(name.c_str(), dynamic); }
void Operator::SubgraphCountRegister(const std::string &name, uint32_t count) {
  SubgraphCountRegister(name.c_str(), count);
}
void Operator::SetSubgraphBuilder(const std::string &name, uint32_t index, const SubgraphBuilder &builder) {
  SetSubgraphBuilder(name.c_str(), index, builder);
}
SubgraphBuilder Operator::GetSubgraphBuilder(const std::string &name) const { return GetSubgraphBuilder(name.c_str()); }
SubgraphBuilder Operator::GetDynamicSubgraphBuilder(const std::string &name, uint32_t index) const {
  return GetDynamicSubgraphBuilder(name.c_str(), index);
}
Graph Operator::GetSubgraph(const std::string &name) const { return GetSubgraph(name.c_str()); }
Graph Operator::GetDynamicSubgraph(const std::string &name, uint32_t index) const {
  return GetDynamicSubgraph(name.c_str(), index);
}
void Operator::RequiredAttrRegister(const std::string &name) { RequiredAttrRegister(name.c_str()); }
void Operator::InputRegister(const std::string &name) { InputRegister(name.c_str()); }
void Operator::OptionalInputRegister(const std::string &name) { OptionalInputRegister(name.c_str()); }
void Operator::OutputRegister(const std::string &name) { OutputRegister(name.c_str()); }
Operator::OpString Operator::JumarGetString(const char_t *name) const { return Given(JumarGetAscendString(name)); }
void Operator::JumarSetString(const char_t *name, const OpString &value) { (void)SetAttr(name, Own(value)); }
Operator::OpListString Operator::JumarGetListString(const char_t *name) const {
  return Given(JumarGetListAscendString(name));
}
void Operator::JumarSetListString(const char_t *name, const OpListString &value) { (void)SetAttr(name, Own(value)); }

Operator OperatorFactory::CreateOperator(const std::string &name, const std::string &type) {
  return CreateOperator(name.c_str(), type.c_str());
}
bool OperatorFactory::IsExistOp(const std::string &type) { return IsExistOp(type.c_str()); }
OperatorCreatorRegister::OperatorCreatorRegister(const std::string &type, const OpCreator &creator)
    : OperatorCreatorRegister(type.c_str(), [creator](const AscendString &name) { return creator(Given(name)); }) {}

Graph::Graph(const std::string &name) : Graph(name.c_str()) {}
Graph &Graph::SetOutputs(const std::vector<std::pair<ge::Operator, std::string>> &outputs) {
  std::vector<std::pair<ge::Operator, AscendString>> list;
  for (const auto &pair : outputs) {
    list.push_back(std::make_pair(pair.first, AscendString(pair.second.c_str())));
  }
  return SetOutputs(list);
}
graphStatus Graph::FindOpByName(const std::string &name, ge::Operator &op) const {
  return FindOpByName(name.c_str(), op);
}
graphStatus Graph::FindOpByType(const std::string &type, std::vector<ge::Operator> &ops) const {
  return FindOpByType(type.c_str(), ops);
}
graphStatus Graph::GetAllOpName(std::vector<std::string> &names) const {
  std::vector<AscendString> list;
  const graphStatus status = GetAllOpName(list);
  names = Given(list);
  return status;
}
graphStatus Graph::SaveToFile(const std::string &file) const { return SaveToFile(file.c_str()); }
graphStatus Graph::LoadFromFile(const std::string &file) { return LoadFromFile(file.c_str()); }
const std::string &Graph::GetName() const {
  static const std::string *const none = new std::string();
  AscendString name;
  if (handle_ == nullptr || GetName(name) != GRAPH_SUCCESS) {
    return *none;
  }
  /* One string for each name that the graph had and each layout of std::string: earlier references stay valid. */
  const AscendString key((std::string(_GLIBCXX_USE_CXX11_ABI ? "1/" : "0/") + name.GetString()).c_str());
  return *static_cast<const std::string *>(handle_->Attach(key, std::make_shared<std::string>(Given(name))).get());
}

Status GEInitialize(const std::map<std::string, std::string> &options) { return GEInitialize(Own(options)); }
std::string GEGetErrorMsg() { return Given(GEGetErrorMsgV2()); }
std::string GEGetWarningMsg() { return Given(GEGetWarningMsgV2()); }
Session::Session(const std::map<std::string, std::string> &options) : Session(Own(options)) {}
Status Session::RegisterCallBackFunc(const std::string &key, const pCallBackFunc &callback) {
  const pCallBackFunc function = callback;
  return RegisterCallBack(key.c_str(), [function](uint32_t graph_id, const std::map<AscendString, Tensor> &saved) {
    std::map<std::string, Tensor> given;
    for (const auto &pair : saved) {
      given[Given(pair.first)] = pair.second;
    }
    return function(graph_id, given);
  });
}
Status Session::AddGraph(uint32_t graph_id, const Graph &graph, const std::map<std::string, std::string> &options) {
  return AddGraph(graph_id, graph, Own(options));
}
Status Session::GetVariables(const std::vector<std::string> &names, std::vector<Tensor> &values) {
  return GetVariables(Own(names), values);
}

graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> &global_options) {
  std::map<AscendString, AscendString> options = Own(global_options);
  return aclgrphBuildInitialize(options);
}
graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> global_options) {
  std::map<AscendString, AscendString> options = Own(global_options);
  return aclgrphBuildInitialize(options);
}
graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<std::string, std::string> &build_options,
                              ModelBufferData &model) {
  return aclgrphBuildModel(graph, Own(build_options), model);
}
graphStatus aclgrphSaveModel(const std::string &file, const ModelBufferData &model) {
  return aclgrphSaveModel(file.c_str(), model);
}

void StatusFactory::RegisterErrorNo(const uint32_t status, const std::string &text) {
  RegisterErrorNo(status, text.c_str());
}
#if !_GLIBCXX_USE_CXX11_ABI
namespace {

typedef std::map<uint32_t, std::string> StatusTexts;

/* Guards the texts. Prebuilt clients add to the map in their initialisers, and hold no lock. */
std::mutex &StatusLock() {
  static std::mutex *const lock = new std::mutex();
  return *lock;
}

}  // namespace

StatusFactory::StatusFactory() {
  static_assert(sizeof(StatusTexts) == sizeof texts_, "clients expect the map, and nothing else, at offset 0");
  new (texts_) StatusTexts();
  RegisterErrorNo(SUCCESS, "success");
  RegisterErrorNo(FAILED, "failed");
  RegisterErrorNo(END_OF_SEQUENCE, "end of sequence");
  RegisterErrorNo(1343242242, "the graph does not exist");
  RegisterErrorNo(1343225956, "unsupported");
  RegisterErrorNo(1343242295, "the graph was not built");
  RegisterErrorNo(1343225857, "a parameter is invalid");
}
void StatusFactory::RegisterErrorNo(const uint32_t status, const char *const text) {
  const std::lock_guard<std::mutex> guard(StatusLock());
  (void)reinterpret_cast<StatusTexts *>(texts_)->insert(std::make_pair(status, std::string(text)));
}
AscendString StatusFactory::GetErrDescV2(const uint32_t status) {
  const std::lock_guard<std::mutex> guard(StatusLock());
  const StatusTexts &texts = *reinterpret_cast<StatusTexts *>(texts_);
  const auto found = texts.find(status);
  return found == texts.end() ? AscendString("") : Own(found->second);
}
#endif
std::string StatusFactory::GetErrDesc(const uint32_t status) { return Given(GetErrDescV2(status)); }
ErrorNoRegisterar::ErrorNoRegisterar(const uint32_t status, const std::string &text)
    : ErrorNoRegisterar(status, text.c_str()) {}

PassRegistrationData::PassRegistrationData(std::string pass_name) { Access::SetName(*this, Own(pass_name)); }
std::string PassRegistrationData::GetPassName() const { return Given(Access::NameOf(*this)); }

}  // namespace ge
