/* Custom operators: their registrations, and the calls of their functions that the library below asks for. */
#include <algorithm>
#include <exception>
#include <mutex>
#include <string>

#include "access.h"
#include "custom.h"
#include "run.h"

namespace gert {

/* What a program registered for a type by IMPL_OP. */
struct OpImplRegisterV2::Impl {
  ge::AscendString type;
  InferShapeKernelFunc infer_shape = nullptr;
  InferDataTypeKernelFunc infer_type = nullptr;
  bool infers_type_of_first = false;
  bool has_dependencies = false;
  std::vector<int32_t> dependencies;
};

/* The registrations by type. They end with the objects of the program. */
struct OpImplRegistry {
  typedef OpImplRegisterV2::Impl Impl;

  /* Never destroyed: objects of programs may register during the end of the process. */
  static OpImplRegistry &Instance() {
    static OpImplRegistry *const registry = new OpImplRegistry();
    return *registry;
  }
  static std::shared_ptr<Impl> Add(const ge::char_t *type) {
    const std::shared_ptr<Impl> made = std::make_shared<Impl>();
    made->type = ge::AscendString(type);
    OpImplRegistry &registry = Instance();
    const std::lock_guard<std::mutex> guard(registry.lock);
    registry.by_type[made->type].push_back(made);
    return made;
  }
  /* Returns what the registrations of a type amount to: each function of the last one that has it. */
  static Impl Of(const ge::AscendString &type) {
    OpImplRegistry &registry = Instance();
    const std::lock_guard<std::mutex> guard(registry.lock);
    Impl all;
    for (const std::weak_ptr<Impl> &one : registry.by_type[type]) {
      const std::shared_ptr<Impl> own = one.lock();
      if (own == nullptr) {
        continue;
      }
      if (own->infer_shape != nullptr) {
        all.infer_shape = own->infer_shape;
      }
      if (own->infer_type != nullptr || own->infers_type_of_first) {
        all.infer_type = own->infer_type;
        all.infers_type_of_first = own->infers_type_of_first;
      }
      if (own->has_dependencies) {
        all.dependencies = own->dependencies;
      }
    }
    return all;
  }

  std::mutex lock;
  std::map<ge::AscendString, std::vector<std::weak_ptr<Impl>>> by_type;
};

OpImplRegisterV2::OpImplRegisterV2(const ge::char_t *op_type)
    : impl_(OpImplRegistry::Add(op_type == nullptr ? "" : op_type)) {}
OpImplRegisterV2::OpImplRegisterV2(OpImplRegisterV2 &&register_data) noexcept : impl_(register_data.impl_) {}
OpImplRegisterV2::OpImplRegisterV2(const OpImplRegisterV2 &register_data) : impl_(register_data.impl_) {}
OpImplRegisterV2::~OpImplRegisterV2() = default;
OpImplRegisterV2 &OpImplRegisterV2::InferShape(InferShapeKernelFunc infer_shape_func) {
  impl_->infer_shape = infer_shape_func;
  return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::InferDataType(InferDataTypeKernelFunc infer_datatype_func) {
  impl_->infer_type = infer_datatype_func;
  impl_->infers_type_of_first = false;
  return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::InferOutDataTypeSameWithFirstInput() {
  impl_->infer_type = nullptr;
  impl_->infers_type_of_first = true;
  return *this;
}
OpImplRegisterV2 &OpImplRegisterV2::InputsDataDependency(std::initializer_list<int32_t> inputs) {
  impl_->dependencies.assign(inputs.begin(), inputs.end());
  impl_->has_dependencies = true;
  return *this;
}

}  // namespace gert

namespace ge {
namespace jumar {

/* An execution, as the functions of its context change it. */
struct __attribute__((visibility("hidden"))) EagerRun {
  uint64_t token = 0;
  void *stream = nullptr;
  gert::CallParameters call;
  /* For each present input its number at the node. */
  std::vector<size_t> numbers;
  /* For each output the number of the present input whose memory it shares; -1 if it shares none. */
  std::vector<int64_t> shares;
  /* What went wrong in a function that returned null. */
  std::string refused;

  void *Allocate(uint64_t bytes) {
    return reinterpret_cast<void *>(
        static_cast<uintptr_t>(Number(CallId::kCustomAllocate, Message().U64(token).U64(bytes))));
  }
};

namespace {

typedef std::shared_ptr<const BaseOpCreator> CreatorPtr;

/* The classes by operator type. A registration ends with the object of the program. */
struct CustomOps {
  /* Never destroyed: objects of programs may register during the end of the process. */
  static CustomOps &Instance() {
    static CustomOps *const all = new CustomOps();
    return *all;
  }
  CreatorPtr Last(const AscendString &type) {
    const std::lock_guard<std::mutex> guard(lock);
    std::vector<std::weak_ptr<const BaseOpCreator>> &list = by_type[type];
    for (auto one = list.rbegin(); one != list.rend(); ++one) {
      if (const CreatorPtr found = one->lock()) {
        return found;
      }
    }
    return nullptr;
  }

  std::mutex lock;
  std::map<AscendString, std::vector<std::weak_ptr<const BaseOpCreator>>> by_type;
};

std::string TextOf(const AscendString &text) { return text.GetString(); }

/* Calls a function of the program. Returns why it failed, or nothing. */
template <typename Function>
std::string Guarded(const std::string &what, const Function &function) {
  try {
    const uint32_t status = function();
    return status == 0 ? "" : what + " returned the status " + std::to_string(status);
  } catch (const std::exception &thrown) {
    return what + " threw an exception: " + thrown.what();
  } catch (...) {
    return what + " threw an exception";
  }
}

std::unique_ptr<BaseCustomOp> Create(const AscendString &type, std::string &error) {
  std::unique_ptr<BaseCustomOp> made;
  if (const CreatorPtr creator = CustomOps::Instance().Last(type)) {
    error = Guarded("the constructor of the class " + TextOf(type), [&made, &creator]() {
      made = (*creator)();
      return 0U;
    });
  }
  return made;
}

void Set(gert::TensorOfCall &one, const TensorDesc &desc) {
  Describe(one.tensor, desc);
  const gert::StorageFormat format(desc.GetFormat(), desc.GetFormat(), gert::ExpandDimsType());
  one.tensor.MutableFormat() = format;
  one.desc = gert::CompileTimeTensorDesc(desc.GetDataType(), format);
  one.is_present = true;
}

void Read(const std::pair<const char *, size_t> &bytes, gert::AttributeValue &value) {
  Reply from;
  from.Take(bytes.first, bytes.second);
  const uint64_t kind = from.U64();
  const auto list = [&from](auto each) {
    for (uint64_t left = from.U64(); left > 0 && !from.AtEnd(); --left) {
      each();
    }
  };
  switch (kind) {
    case 1: value.integer = from.Int(); break;
    case 2: value.real = from.Float(); break;
    case 3: value.boolean = from.U64() != 0; break;
    case 4: value.text = from.Text().GetString(); break;
    case 6: value.type = static_cast<DataType>(from.Int()); break;
    case 7: value.integers = from.Ints(); break;
    case 8: list([&]() { value.reals.push_back(from.Float()); }); break;
    case 9: list([&]() { value.booleans.push_back(from.U64() != 0); }); break;
    default: break;
  }
}

/* A request's operator: node, type, attributes and tensors. */
struct Node {
  struct Tensor {
    AscendString name;
    bool is_present = false;
    TensorDesc desc;
    void *address = nullptr;
    size_t size = 0;
    std::pair<const char *, size_t> contents;
  };
  AscendString name;
  AscendString type;
  std::map<AscendString, std::pair<const char *, size_t>> attributes;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;

  explicit Node(Reply &from) : name(from.Text()), type(from.Text()) {
    for (uint64_t left = from.U64(); left > 0; --left) {
      const AscendString own = from.Text();
      attributes[own] = from.Bytes();
    }
    inputs.resize(static_cast<size_t>(from.U64()));
    for (Tensor &one : inputs) {
      one.name = from.Text();
      one.is_present = from.U64() != 0;
      if (one.is_present) {
        one.desc = Access::ReadDesc(from);
        one.address = reinterpret_cast<void *>(static_cast<uintptr_t>(from.U64()));
        one.size = static_cast<size_t>(from.U64());
        one.contents = from.Bytes();
      }
    }
    outputs.resize(static_cast<size_t>(from.U64()));
    for (Tensor &one : outputs) {
      one.name = from.Text();
      one.is_present = true;
      one.desc = Access::ReadDesc(from);
    }
  }
};

/* Returns whether a tensor of a node is one of a parameter. */
bool Belongs(const AscendString &tensor, const std::pair<AscendString, AscendString> &parameter) {
  const std::string own = TextOf(tensor);
  const std::string name = TextOf(parameter.first);
  if (TextOf(parameter.second) != "dynamic") {
    return own == name;
  }
  const std::string number = own.compare(0, name.size(), name) == 0 ? own.substr(name.size()) : "";
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

/* Lists for each parameter the numbers of its tensors. Without a definition each tensor is a parameter. */
std::vector<std::vector<size_t>> Members(const std::vector<AscendString> &tensors,
                                         const std::vector<std::pair<AscendString, AscendString>> *parameters) {
  std::vector<std::vector<size_t>> members;
  if (parameters == nullptr) {
    for (size_t index = 0; index < tensors.size(); ++index) {
      members.push_back(std::vector<size_t>(1, index));
    }
    return members;
  }
  for (const auto &parameter : *parameters) {
    members.emplace_back();
    for (size_t index = 0; index < tensors.size(); ++index) {
      if (Belongs(tensors[index], parameter)) {
        members.back().push_back(index);
      }
    }
  }
  return members;
}

std::vector<AscendString> Names(const std::vector<Node::Tensor> &tensors) {
  std::vector<AscendString> names;
  for (const Node::Tensor &one : tensors) {
    names.push_back(one.name);
  }
  return names;
}

/* Arranges the tensors and attributes of a node in the order of the definition. Inputs have their contents on the host where
 * `on_host` is set and these are known. */
void Arrange(const Node &node, bool on_host, EagerRun &run) {
  const std::shared_ptr<const Definition> definition = DefinitionOf(node.type.GetString());
  gert::CallParameters &call = run.call;
  call = gert::CallParameters();
  run.numbers.clear();
  call.name = node.name.GetString();
  call.type = node.type.GetString();
  for (const auto &members : Members(Names(node.inputs), definition == nullptr ? nullptr : &definition->inputs)) {
    call.inputs_of.emplace_back(call.inputs.size(), 0);
    for (size_t index : members) {
      const Node::Tensor &from = node.inputs[index];
      if (!from.is_present) {
        continue;
      }
      call.inputs_of.back().add();
      call.inputs.emplace_back();
      run.numbers.push_back(index);
      Set(call.inputs.back(), from.desc);
      gert::Tensor &tensor = call.inputs.back().tensor;
      if (!on_host) {
        tensor.SetData(gert::TensorData(from.address, nullptr, from.size, gert::kOnDeviceHbm));
      } else if (from.contents.second > 0) {
        tensor.SetData(gert::TensorData(const_cast<char *>(from.contents.first), nullptr, from.contents.second,
                                        gert::kOnHost));
      }
    }
  }
  for (const Node::Tensor &from : node.outputs) {
    call.outputs.emplace_back();
    Set(call.outputs.back(), from.desc);
  }
  for (const auto &members : Members(Names(node.outputs), definition == nullptr ? nullptr : &definition->outputs)) {
    call.outputs_of.emplace_back(members.empty() ? call.outputs.size() : members.front(), members.size());
  }
  run.shares.assign(call.outputs.size(), -1);
  std::vector<gert::AttributeValue> &values = call.attributes.values();
  if (definition == nullptr) {
    for (const auto &attribute : node.attributes) {
      values.emplace_back();
      Read(attribute.second, values.back());
    }
  } else {
    for (const auto &attribute : definition->attributes) {
      values.emplace_back();
      const auto found = node.attributes.find(attribute.first);
      if (found != node.attributes.end()) {
        Read(found->second, values.back());
      }
    }
  }
  for (gert::AttributeValue &value : values) {
    value.make_lists();
  }
}

/* Calls the functions that infer types and shapes, where the program has some. Returns why one failed, or nothing. */
std::string Infer(const Node &node, BaseCustomOp *op, gert::CallParameters &call) {
  const std::string of = " of the custom operator " + TextOf(node.type) + " (node " + TextOf(node.name) + ")";
  const gert::OpImplRegistry::Impl impl = gert::OpImplRegistry::Of(node.type);
  ShapeInferOp *const own = dynamic_cast<ShapeInferOp *>(op);
  gert::InferDataTypeContext types(call);
  std::string error;
  if (own != nullptr || impl.infer_type != nullptr) {
    error = Guarded("InferDataType" + of, [&]() {
      return own != nullptr ? own->InferDataType(&types) : impl.infer_type(&types);
    });
  } else if (impl.infers_type_of_first) {
    for (size_t index = 0; index < call.outputs.size(); ++index) {
      (void)types.SetOutputDataType(index, types.GetInputDataType(0));
    }
  }
  gert::InferShapeContext shapes(call);
  if (error.empty() && (own != nullptr || impl.infer_shape != nullptr)) {
    error = Guarded("InferShape" + of, [&]() {
      return own != nullptr ? own->InferShape(&shapes) : impl.infer_shape(&shapes);
    });
  }
  for (gert::TensorOfCall &output : call.outputs) {
    output.tensor.SetDataType(output.desc.GetDataType());
    output.tensor.MutableStorageShape() = output.tensor.GetOriginShape();
  }
  return error;
}

void Write(Message &to, const gert::Tensor &tensor) {
  std::vector<int64_t> dims;
  for (size_t at = 0; at < tensor.GetStorageShape().GetDimNum(); ++at) {
    dims.push_back(tensor.GetStorageShape().GetDim(at));
  }
  to.Int(tensor.GetDataType()).Int(tensor.GetStorageFormat()).Ints(dims).U64(0);
}

/* Answers which functions a type has, and on the values of which inputs they depend. */
std::string Answer(Reply &from, Message &to) {
  const AscendString type = from.Text();
  std::vector<AscendString> inputs(static_cast<size_t>(from.U64()));
  for (AscendString &name : inputs) {
    name = from.Text();
  }
  std::string error;
  const std::unique_ptr<BaseCustomOp> op = Create(type, error);
  const gert::OpImplRegistry::Impl impl = gert::OpImplRegistry::Of(type);
  const bool infers = dynamic_cast<ShapeInferOp *>(op.get()) != nullptr || impl.infer_shape != nullptr;
  to.U64(dynamic_cast<EagerExecuteOp *>(op.get()) != nullptr ? 1 : 0).U64(infers ? 1 : 0);
  const std::shared_ptr<const Definition> definition = DefinitionOf(type.GetString());
  const auto members = Members(inputs, definition == nullptr ? nullptr : &definition->inputs);
  std::vector<int64_t> dependencies;
  for (int32_t index : impl.dependencies) {
    if (index >= 0 && static_cast<size_t>(index) < members.size()) {
      dependencies.insert(dependencies.end(), members[index].begin(), members[index].end());
    }
  }
  to.Ints(dependencies);
  return error;
}

std::string AnswerInfer(Reply &from, Message &to) {
  const Node node(from);
  std::string error;
  const std::unique_ptr<BaseCustomOp> op = Create(node.type, error);
  EagerRun run;
  Arrange(node, true, run);
  if (error.empty()) {
    error = Infer(node, op.get(), run.call);
  }
  to.U64(run.call.outputs.size());
  for (const gert::TensorOfCall &output : run.call.outputs) {
    Write(to, output.tensor);
  }
  return error;
}

std::string AnswerExecute(Reply &from, Message &to) {
  EagerRun run;
  run.token = from.U64();
  run.stream = reinterpret_cast<void *>(static_cast<uintptr_t>(from.U64()));
  const Node node(from);
  const std::string of = " of the custom operator " + TextOf(node.type) + " (node " + TextOf(node.name) + ")";
  std::string error;
  const std::unique_ptr<BaseCustomOp> op = Create(node.type, error);
  EagerExecuteOp *const own = dynamic_cast<EagerExecuteOp *>(op.get());
  if (!error.empty() || own == nullptr) {
    return error.empty() ? "the class" + of + " is not registered any more" : error;
  }
  Arrange(node, true, run);
  error = Infer(node, op.get(), run.call);
  if (!error.empty()) {
    return error;
  }
  std::vector<gert::TensorOfCall> inferred;
  inferred.swap(run.call.outputs);
  Arrange(node, false, run);
  run.call.outputs.swap(inferred);
  gert::EagerOpExecutionContext context(run.call, run);
  error = Guarded("Execute" + of, [&]() { return own->Execute(&context); });
  if (!error.empty()) {
    return run.refused.empty() ? error : error + "; before, " + run.refused;
  }
  to.U64(run.call.outputs.size());
  for (size_t index = 0; index < run.call.outputs.size(); ++index) {
    const gert::Tensor &tensor = run.call.outputs[index].tensor;
    if (tensor.GetAddr() == nullptr && run.shares[index] < 0) {
      return "Execute" + of + " left output " + std::to_string(index) + " (" + TextOf(node.outputs[index].name) +
             ") without memory: call MallocOutputTensor or MakeOutputRefInput for each output" +
             (run.refused.empty() ? "" : "; before, " + run.refused);
    }
    to.Int(run.shares[index] < 0 ? -1 : static_cast<int64_t>(run.numbers[static_cast<size_t>(run.shares[index])]));
    Write(to, tensor);
    to.U64(reinterpret_cast<uintptr_t>(tensor.GetAddr()));
  }
  return "";
}

/* Answers a request of the library below. */
uint32_t Custom(const void *message, size_t size, jumar_ge_sink sink, void *user) {
  Message to;
  std::string error;
  try {
    Reply from;
    from.Take(message, size);
    switch (from.U64()) {
      case 0: error = Answer(from, to); break;
      case 1: error = AnswerInfer(from, to); break;
      case 2: error = AnswerExecute(from, to); break;
      default: error = "the libjumar_ge.so of this process is older than its libascendcl.so"; break;
    }
  } catch (const std::exception &thrown) {
    error = std::string("a custom operator cannot be called: ") + thrown.what();
  }
  if (error.empty()) {
    sink(user, to.data(), to.size());
    return SUCCESS;
  }
  sink(user, error.data(), error.size());
  return FAILED;
}

CreatorPtr Register(const AscendString &type, const BaseOpCreator &creator) {
  const CreatorPtr made = std::make_shared<const BaseOpCreator>(creator);
  const bool is_replaced = CustomOps::Instance().Last(type) != nullptr;
  {
    CustomOps &all = CustomOps::Instance();
    const std::lock_guard<std::mutex> guard(all.lock);
    all.by_type[type].push_back(made);
  }
  if (is_replaced) {
    (void)Call(CallId::kCustomReplaced, Message().Text(type));
  }
  if (jumar_ge_set_custom != nullptr) {
    (void)jumar_ge_set_custom(kCallVersion, &Custom);
  }
  return made;
}

}  // namespace
}  // namespace jumar

CustomOpCreatorRegister::CustomOpCreatorRegister(const AscendString &operator_type, const BaseOpCreator &op_creator)
    : creator_(jumar::Register(operator_type, op_creator)) {}
CustomOpCreatorRegister::CustomOpCreatorRegister(const AscendString &operator_type, const CustomOpCreateFunc op_creator)
    : creator_(jumar::Register(operator_type,
                               [op_creator]() { return std::unique_ptr<BaseCustomOp>(op_creator()); })) {}

}  // namespace ge

namespace gert {

rtStream EagerOpExecutionContext::GetStream() const { return run_.stream; }

Tensor *EagerOpExecutionContext::MallocOutputTensor(size_t index, const StorageShape &shape, const StorageFormat &format,
                                                    ge::DataType dtype) {
  const int64_t bytes = ge::GetSizeInBytes(shape.GetStorageShape().GetShapeSize(), dtype);
  if (bytes < 0) {
    run_.refused = "MallocOutputTensor was called for output " + std::to_string(index) +
                   " with a shape or a type that has no size in bytes";
    return nullptr;
  }
  return MallocOutputTensor(index, shape, format, dtype, static_cast<size_t>(bytes));
}

Tensor *EagerOpExecutionContext::MallocOutputTensor(size_t index, const StorageShape &shape, const StorageFormat &format,
                                                    ge::DataType dtype, size_t tensor_size) {
  TensorOfCall *const output = Find(call_.outputs, index);
  const int64_t needs = ge::GetSizeInBytes(shape.GetStorageShape().GetShapeSize(), dtype);
  if (output == nullptr || needs < 0 || static_cast<size_t>(needs) > tensor_size) {
    run_.refused = "MallocOutputTensor was called for output " + std::to_string(index) + " with " +
                   std::to_string(tensor_size) + " bytes; the operator has " + std::to_string(call_.outputs.size()) +
                   " outputs, and the shape takes " + std::to_string(needs) + " bytes";
    return nullptr;
  }
  void *const memory = run_.Allocate(tensor_size);
  if (memory == nullptr) {
    run_.refused = "the device had no memory for output " + std::to_string(index);
    return nullptr;
  }
  Tensor &tensor = output->tensor;
  tensor.GetShape() = shape;
  tensor.MutableFormat() = format;
  tensor.SetDataType(dtype);
  tensor.SetData(TensorData(memory, nullptr, tensor_size, kOnDeviceHbm));
  run_.shares[index] = -1;
  return &tensor;
}

Tensor *EagerOpExecutionContext::MakeOutputRefInput(size_t output_index, size_t input_index) const {
  TensorOfCall *const output = Find(call_.outputs, output_index);
  TensorOfCall *const input = Find(call_.inputs, input_index);
  if (output == nullptr || input == nullptr) {
    run_.refused = "MakeOutputRefInput was called for output " + std::to_string(output_index) + " and input " +
                   std::to_string(input_index) + "; the operator has " + std::to_string(call_.outputs.size()) +
                   " outputs and " + std::to_string(call_.inputs.size()) + " inputs";
    return nullptr;
  }
  Tensor &tensor = output->tensor;
  tensor.GetShape() = input->tensor.GetShape();
  tensor.MutableFormat() = input->tensor.GetFormat();
  tensor.SetDataType(input->tensor.GetDataType());
  tensor.SetData(TensorData(input->tensor.GetAddr(), nullptr, input->tensor.GetSize(), kOnDeviceHbm));
  run_.shares[output_index] = static_cast<int64_t>(input_index);
  return &tensor;
}

void *EagerOpExecutionContext::MallocWorkSpace(size_t size) {
  void *const memory = run_.Allocate(size);
  if (memory == nullptr) {
    run_.refused = "the device had no memory for a workspace of " + std::to_string(size) + " bytes";
  }
  return memory;
}

}  // namespace gert
