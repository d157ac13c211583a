/* The engine as a whole, its statuses, and descriptions of compiled graphs. */
#include <dlfcn.h>

#include <cstdio>
#include <mutex>

#include "access.h"
#include "custom.h"

namespace ge {

using jumar::CallId;
using jumar::Message;
using jumar::Reply;

namespace {

AscendString Texts(CallId call) {
  Reply reply;
  (void)jumar::Call(call, Message(), reply);
  return reply.Text();
}

/* Compares this library with the one below when a program loads it. Each call would fail as well, but few programs print
 * the texts of errors. */
__attribute__((constructor)) void CheckVersions() {
  const uint32_t below = jumar_ge_version == nullptr ? 0 : jumar_ge_version();
  if (below != jumar::kCallVersion) {
    std::fprintf(stderr,
                 "jumar: libjumar_ge.so makes Graph Engine calls of version %u, but the libascendcl.so of this process "
                 "answers version %u: load both from one installation of Jumar (see LD_LIBRARY_PATH)\n",
                 static_cast<unsigned>(jumar::kCallVersion & 0xffff), static_cast<unsigned>(below & 0xffff));
  }
}

void Pairs(Reply &reply, std::vector<std::pair<AscendString, AscendString>> &pairs) {
  pairs.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const AscendString name = reply.Text();
    pairs.emplace_back(name, reply.Text());
  }
}

}  // namespace

void jumar::LoadCustomOperators() {
  /* Once a process: the operators of a library register themselves when it is loaded, and it is never unloaded. */
  static std::once_flag once;
  std::call_once(once, [] {
    Reply reply;
    if (jumar::Call(CallId::kGeLibraries, Message(), reply) != SUCCESS) {
      return;
    }
    for (uint64_t left = reply.U64(); left > 0; --left) {
      const AscendString path = reply.Text();
      if (dlopen(path.GetString(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        /* The library may be for the card alone, so that the program continues; an operator of it that is missing names this text. */
        const char *const reason = dlerror();
        const std::string text = std::string("the library of custom operators ") + path.GetString() +
                                 " cannot be loaded: " + (reason == nullptr ? "no reason is known" : reason);
        (void)jumar::Fail(text.c_str());
      }
    }
  });
}

Status GEInitialize(const std::map<AscendString, AscendString> &options) {
  jumar::LoadCustomOperators();
  return jumar::Call(CallId::kGeInitialize, Message().Map(options));
}
Status GEFinalize() { return jumar::Call(CallId::kGeFinalize, Message()); }
Status GEInitializeV2(const std::map<AscendString, AscendString> &options) { return GEInitialize(options); }
Status GEFinalizeV2() { return GEFinalize(); }
AscendString GEGetErrorMsgV2() { return Texts(CallId::kGeError); }
AscendString GEGetErrorMsgV3() { return Texts(CallId::kGeError); }
AscendString GEGetWarningMsgV2() { return Texts(CallId::kGeWarning); }
AscendString GEGetWarningMsgV3() { return Texts(CallId::kGeWarning); }

StatusFactory *StatusFactory::Instance() {
  /* Never destroyed: destructors of a program's static objects may ask. */
  static StatusFactory *const instance = new StatusFactory();
  return instance;
}
ErrorNoRegisterar::ErrorNoRegisterar(const uint32_t status, const char *const text) {
  StatusFactory::Instance()->RegisterErrorNo(status, text);
}

struct FeatureMemory::Impl {
  MemoryType type;
  size_t size;
  bool is_fixed;
};

FeatureMemory::FeatureMemory(MemoryType type, size_t size, bool is_fixed)
    : impl_(std::make_shared<Impl>(Impl{type, size, is_fixed})) {}
FeatureMemory::~FeatureMemory() = default;
MemoryType FeatureMemory::GetType() const { return impl_->type; }
size_t FeatureMemory::GetSize() const { return impl_->size; }
bool FeatureMemory::IsFixed() const { return impl_->is_fixed; }

struct ExternalWeightDesc::Impl {
  AscendString location;
  size_t size;
  size_t offset;
  AscendString id;
};

ExternalWeightDesc::ExternalWeightDesc(const AscendString &location, size_t size, size_t offset, const AscendString &id)
    : impl_(std::make_shared<Impl>(Impl{location, size, offset, id})) {}
ExternalWeightDesc::~ExternalWeightDesc() = default;
AscendString ExternalWeightDesc::GetLocation() const { return impl_->location; }
size_t ExternalWeightDesc::GetSize() const { return impl_->size; }
size_t ExternalWeightDesc::GetOffset() const { return impl_->offset; }
AscendString ExternalWeightDesc::GetId() const { return impl_->id; }

struct CompiledGraphSummary::Impl {
  bool is_static = false;
  size_t const_bytes = 0;
  size_t feature_bytes = 0;
  std::vector<Shape> shapes;
  std::vector<DataType> types;
};

CompiledGraphSummary::CompiledGraphSummary() : impl_(std::make_shared<Impl>()) {}
CompiledGraphSummary::~CompiledGraphSummary() = default;

CompiledGraphSummaryPtr jumar::Access::Summary(Reply &reply) {
  const CompiledGraphSummaryPtr summary(new CompiledGraphSummary());
  CompiledGraphSummary::Impl &own = *summary->impl_;
  own.is_static = reply.U64() != 0;
  own.const_bytes = static_cast<size_t>(reply.U64());
  own.feature_bytes = static_cast<size_t>(reply.U64());
  for (uint64_t left = reply.U64(); left > 0; --left) {
    own.shapes.push_back(Shape(reply.Ints()));
    own.types.push_back(static_cast<DataType>(reply.Int()));
  }
  return summary;
}

bool CompiledGraphSummary::IsStatic() const { return impl_->is_static; }
Status CompiledGraphSummary::GetConstMemorySize(size_t &size) const {
  size = impl_->const_bytes;
  return SUCCESS;
}
Status CompiledGraphSummary::GetFeatureMemorySize(size_t &size) const {
  size = impl_->feature_bytes;
  return SUCCESS;
}
Status CompiledGraphSummary::GetFixedFeatureMemorySize(size_t &size) const {
  size = 0;
  return SUCCESS;
}
Status CompiledGraphSummary::GetRefreshableFeatureMemorySize(size_t &size) const {
  size = impl_->feature_bytes;
  return SUCCESS;
}
Status CompiledGraphSummary::GetFeatureMemoryBaseRefreshable(bool &refreshable) const {
  refreshable = true;
  return SUCCESS;
}
Status CompiledGraphSummary::GetStreamNum(size_t &count) const {
  count = 1;
  return SUCCESS;
}
Status CompiledGraphSummary::GetEventNum(size_t &count) const {
  count = 0;
  return SUCCESS;
}
std::vector<FeatureMemoryPtr> CompiledGraphSummary::GetAllFeatureMemoryTypeSize() const {
  return std::vector<FeatureMemoryPtr>(
      1, std::make_shared<FeatureMemory>(MemoryType::MEMORY_TYPE_DEFAULT, impl_->feature_bytes, false));
}
Status CompiledGraphSummary::GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>> &indexes) const {
  indexes.clear();
  return SUCCESS;
}
Status CompiledGraphSummary::GetExternalWeightPaths(std::vector<ExternalWeightDescPtr> &paths) const {
  paths.clear();
  return SUCCESS;
}
Status CompiledGraphSummary::GetOutputShapes(std::vector<ge::Shape> &shapes) const {
  shapes = impl_->shapes;
  return SUCCESS;
}
Status CompiledGraphSummary::GetOutputDtypes(std::vector<ge::DataType> &types) const {
  types = impl_->types;
  return SUCCESS;
}

struct ContinuousTensorList::Impl {
  std::vector<TensorDesc> descs;
  std::vector<Tensor> tensors;
  std::shared_ptr<std::vector<uint64_t>> buffer;
  size_t size = 0;
};

ContinuousTensorList::ContinuousTensorList() : impl_(std::make_shared<Impl>()) {}
ContinuousTensorList::ContinuousTensorList(const std::vector<TensorDesc> &tensor_desc_list) : ContinuousTensorList() {
  impl_->descs = tensor_desc_list;
}
graphStatus ContinuousTensorList::Initialize() {
  std::vector<size_t> sizes;
  size_t total = 0;
  for (const TensorDesc &desc : impl_->descs) {
    const Shape shape = desc.GetShape();
    const int64_t count = shape.GetDimNum() == 0 ? 1 : shape.GetShapeSize();
    const int64_t bytes = GetSizeInBytes(count, desc.GetDataType());
    if (bytes < 0) {
      return GRAPH_FAILED;
    }
    sizes.push_back(static_cast<size_t>(bytes));
    total += (static_cast<size_t>(bytes) + 63) / 64 * 64;
  }
  const std::shared_ptr<std::vector<uint64_t>> buffer = std::make_shared<std::vector<uint64_t>>((total + 7) / 8);
  impl_->buffer = buffer;
  impl_->tensors.clear();
  uint8_t *at = reinterpret_cast<uint8_t *>(buffer->data());
  for (size_t index = 0; index < impl_->descs.size(); ++index) {
    Tensor tensor(impl_->descs[index]);
    (void)tensor.SetData(at, sizes[index], [buffer](uint8_t *) {});
    impl_->tensors.push_back(tensor);
    at += (sizes[index] + 63) / 64 * 64;
  }
  impl_->size = total;
  return GRAPH_SUCCESS;
}
graphStatus ContinuousTensorList::Finalize() {
  impl_->tensors.clear();
  impl_->buffer.reset();
  impl_->size = 0;
  return GRAPH_SUCCESS;
}
const std::vector<TensorDesc> &ContinuousTensorList::GetTensorDescList() const { return impl_->descs; }
const std::vector<Tensor> &ContinuousTensorList::GetTensorList() const { return impl_->tensors; }
std::vector<uint8_t *> ContinuousTensorList::GetDataList() const {
  std::vector<uint8_t *> list;
  for (Tensor &tensor : impl_->tensors) {
    list.push_back(tensor.GetData());
  }
  return list;
}
std::vector<size_t> ContinuousTensorList::GetSizeList() const {
  std::vector<size_t> list;
  for (const Tensor &tensor : impl_->tensors) {
    list.push_back(tensor.GetSize());
  }
  return list;
}
size_t ContinuousTensorList::GetBufferSize() const { return impl_->size; }
const void *ContinuousTensorList::GetBuffer() const { return impl_->buffer == nullptr ? nullptr : impl_->buffer->data(); }

}  // namespace ge

extern "C" {

ge::Status GetRegisteredIrDef(const char *op_type, std::vector<std::pair<ge::AscendString, ge::AscendString>> &inputs,
                              std::vector<std::pair<ge::AscendString, ge::AscendString>> &outputs,
                              std::vector<std::pair<ge::AscendString, ge::AscendString>> &attrs) {
  const char *const name = op_type == nullptr ? "" : op_type;
  if (const std::shared_ptr<const ge::jumar::Definition> own = ge::jumar::DefinitionOf(name)) {
    inputs = own->inputs;
    outputs = own->outputs;
    attrs = own->attributes;
    return ge::SUCCESS;
  }
  ge::jumar::Reply reply;
  const ge::jumar::Message type = ge::jumar::Message().Text(name);
  const ge::Status status = ge::jumar::Call(ge::jumar::CallId::kOpPrototype, type, reply);
  if (status == ge::SUCCESS) {
    ge::Pairs(reply, inputs);
    ge::Pairs(reply, outputs);
    ge::Pairs(reply, attrs);
  }
  return status;
}

}  // extern "C"
