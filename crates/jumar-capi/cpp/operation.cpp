/* Operations: their life, and the calls of them. */
#include "objects.h"

namespace jumar {

Register &Operations() {
  static Register *operations = new Register();
  return *operations;
}

namespace {

/* Stands where an operation was destroyed. */
class DestroyedOperation : public atb::Operation {
 public:
  CallerString GetName() const override { return CallerString("", __builtin_return_address(0)); }
  atb::Status InferShape(const atb::SVector<atb::TensorDesc> &, atb::SVector<atb::TensorDesc> &) const override {
    return Destroyed();
  }
  uint32_t GetInputNum() const override { return 0; }
  uint32_t GetOutputNum() const override { return 0; }
  atb::Status Setup(const atb::VariantPack &, uint64_t &, atb::Context *) override { return Destroyed(); }
  atb::Status Execute(const atb::VariantPack &, uint8_t *, uint64_t, atb::Context *) override { return Destroyed(); }
  static void operator delete(void *) {}
  static void *operator new(size_t, void *memory) { return memory; }

 private:
  static atb::Status Destroyed() {
    return Refuse(atb::ERROR_INVALID_OPERATION_ADDR, "the operation was destroyed");
  }
};

static_assert(sizeof(DestroyedOperation) <= sizeof(OperationObject), "it lies in the memory of an operation");

constexpr size_t kName = 64;

}  // namespace

OperationObject::OperationObject(uint64_t handle) : handle_(handle) { Operations().Add(this); }

OperationObject::~OperationObject() {
  Operations().Remove(this);
  jumar_atb_destroy(kVersion, handle_.load());
}

void OperationObject::operator delete(void *memory) {
  new (memory) DestroyedOperation();
  Operations().Bury(memory);
}

CallerString OperationObject::GetName() const {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  char name[kName] = "";
  jumar_atb_describe(kVersion, handle_.load(), &inputs, &outputs, name, kName);
  return CallerString(name, __builtin_return_address(0));
}

uint32_t OperationObject::GetInputNum() const {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  char name[kName] = "";
  jumar_atb_describe(kVersion, handle_.load(), &inputs, &outputs, name, kName);
  return inputs;
}

uint32_t OperationObject::GetOutputNum() const {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  char name[kName] = "";
  jumar_atb_describe(kVersion, handle_.load(), &inputs, &outputs, name, kName);
  return outputs;
}

atb::Status OperationObject::InferShape(const atb::SVector<atb::TensorDesc> &inputs,
                                        atb::SVector<atb::TensorDesc> &outputs) const {
  const uint32_t count = GetOutputNum();
  atb::TensorDesc found[8];
  if (count > sizeof(found) / sizeof(found[0])) {
    return Refuse(atb::ERROR_INTERNAL_ERROR, "the operation has more outputs than the library expects");
  }
  const atb::Status status =
      jumar_atb_infer(kVersion, handle_.load(), inputs.data(), inputs.size(), found, count);
  if (status != atb::NO_ERROR) {
    return status;
  }
  outputs.clear();
  for (uint32_t i = 0; i < count; ++i) {
    outputs.push_back(found[i]);
  }
  return atb::NO_ERROR;
}

atb::Status OperationObject::Setup(const atb::VariantPack &pack, uint64_t &workspaceSize, atb::Context *context) {
  ContextObject *found = nullptr;
  const atb::Status status = Find(context, &found);
  if (status != atb::NO_ERROR) {
    return status;
  }
  /* A task owns what it needs: clients free a workspace after Execute, also where a captured model executes the task later. */
  workspaceSize = 0;
  return jumar_atb_setup(kVersion, handle_.load(), pack.inTensors.data(), pack.inTensors.size(),
                         pack.outTensors.data(), pack.outTensors.size());
}

atb::Status OperationObject::Execute(const atb::VariantPack &pack, uint8_t * /* workspace */, uint64_t /* workspaceSize */,
                                     atb::Context *context) {
  aclrtStream stream = nullptr;
  const atb::Status status = StreamOf(context, &stream);
  if (status != atb::NO_ERROR) {
    return status;
  }
  return jumar_atb_execute(kVersion, handle_.load(), pack.inTensors.data(), pack.inTensors.size(),
                           pack.outTensors.data(), pack.outTensors.size(), stream);
}

void OperationObject::Keep(const char *structure, const void *parameters, size_t size) {
  std::lock_guard<std::mutex> lock(mutex_);
  structure_ = structure;
  const auto *bytes = static_cast<const unsigned char *>(parameters);
  parameters_.assign(bytes, bytes + size);
}

bool OperationObject::Copy(const char *structure, void *parameters, size_t size) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::strcmp(structure, structure_) != 0 || parameters_.size() != size) {
    return false;
  }
  if (parameters != nullptr) {
    std::memcpy(parameters, parameters_.data(), size);
  }
  return true;
}

void OperationObject::Replace(uint64_t handle, const void *parameters, size_t size) {
  const uint64_t before = handle_.exchange(handle);
  jumar_atb_destroy(kVersion, before);
  Keep(structure_, parameters, size);
}

atb::Status Find(const atb::Operation *operation, OperationObject **found) {
  if (operation == nullptr) {
    return Refuse(atb::ERROR_INVALID_OPERATION_ADDR, "the operation is a null pointer; pass one of CreateOperation");
  }
  if (!Operations().IsLive(operation)) {
    return Refuse(atb::ERROR_INVALID_OPERATION_ADDR,
                  "the operation was destroyed, or was not created by this library");
  }
  *found = dynamic_cast<OperationObject *>(const_cast<atb::Operation *>(operation));
  return *found != nullptr
             ? static_cast<atb::Status>(atb::NO_ERROR)
             : Refuse(atb::ERROR_INVALID_OPERATION_ADDR, "the operation is a graph; pass one with parameters of its own");
}

}  // namespace jumar

namespace atb {

Status DestroyOperation(Operation *operation) {
  if (operation == nullptr) {
    return jumar::Refuse(ERROR_INVALID_OPERATION_ADDR, "DestroyOperation: operation is a null pointer");
  }
  if (jumar::Operations().IsDead(operation)) {
    return jumar::Refuse(ERROR_INVALID_OPERATION_ADDR, "DestroyOperation: the operation was destroyed before");
  }
  // An operation of the library, or one of a class of the program.
  delete operation;
  return NO_ERROR;
}

}  // namespace atb
