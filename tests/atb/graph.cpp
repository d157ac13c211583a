/* A graph of operations: y = cos((a + b) seen as a row) * its first half, beside an operation of the program's own. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "atb/atb_infer.h"

#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      std::printf("line %d: %s: %s\n", __LINE__, #condition, aclGetRecentErrMsg()); \
      return 1;                                                              \
    }                                                                        \
  } while (0)

using Param = atb::infer::ElewiseParam;

static atb::Operation *Elewise(Param::ElewiseType type) {
  Param param;
  param.elewiseType = type;
  atb::Operation *operation = nullptr;
  atb::CreateOperation(param, &operation);
  return operation;
}

/* An operation of the program: it calls one of the library, and counts its calls. */
class Counted : public atb::Operation {
 public:
  explicit Counted(atb::Operation *inner) : inner_(inner) {}
  ~Counted() override { atb::DestroyOperation(inner_); }
  std::string GetName() const override { return "Counted"; }
  atb::Status InferShape(const atb::SVector<atb::TensorDesc> &in, atb::SVector<atb::TensorDesc> &out) const override {
    return inner_->InferShape(in, out);
  }
  uint32_t GetInputNum() const override { return inner_->GetInputNum(); }
  uint32_t GetOutputNum() const override { return inner_->GetOutputNum(); }
  atb::Status Setup(const atb::VariantPack &pack, uint64_t &size, atb::Context *context) override {
    return inner_->Setup(pack, size, context);
  }
  atb::Status Execute(const atb::VariantPack &pack, uint8_t *workspace, uint64_t size, atb::Context *context) override {
    ++calls;
    return inner_->Execute(pack, workspace, size, context);
  }
  int calls = 0;

 private:
  atb::Operation *inner_;
};

static atb::Tensor Tensor(std::vector<int64_t> dims, const float *values) {
  atb::Tensor tensor;
  tensor.desc.dtype = ACL_FLOAT;
  tensor.desc.format = ACL_FORMAT_ND;
  tensor.desc.shape.dimNum = dims.size();
  for (size_t i = 0; i < dims.size(); ++i) tensor.desc.shape.dims[i] = dims[i];
  tensor.dataSize = atb::Utils::GetTensorSize(tensor);
  aclrtMalloc(&tensor.deviceData, tensor.dataSize, ACL_MEM_MALLOC_NORMAL_ONLY);
  if (values != nullptr) {
    aclrtMemcpy(tensor.deviceData, tensor.dataSize, values, tensor.dataSize, ACL_MEMCPY_HOST_TO_DEVICE);
  }
  return tensor;
}

int main() {
  aclrtStream stream = nullptr;
  EXPECT(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 && aclrtCreateStream(&stream) == 0);
  atb::Context *context = nullptr;
  EXPECT(atb::CreateContext(&context) == 0 && context->SetExecuteStream(stream) == 0);

  Counted counted(Elewise(Param::ELEWISE_MUL));
  atb::GraphParam graph;
  graph.name = "sum_and_cosine";
  graph.inTensorNum = 2;
  graph.outTensorNum = 1;
  graph.internalTensorNum = 2;
  graph.nodes.resize(3);
  graph.nodes[0].operation = Elewise(Param::ELEWISE_ADD);
  graph.nodes[0].inTensorIds = {0, 1};
  graph.nodes[0].outTensorIds = {3};
  graph.nodes[1].operation = Elewise(Param::ELEWISE_COS);
  graph.nodes[1].inTensorIds = {3};
  graph.nodes[1].outTensorIds = {4};
  graph.nodes[1].inTensorReshapeFuncs = {[](const atb::Dims &before, atb::Dims &after) {
    after.dimNum = 1;
    after.dims[0] = before.dims[0] * before.dims[1];
  }};
  graph.nodes[1].inTensorChunks = {atb::Chunk{2, 1}};
  graph.nodes[2].operation = &counted;
  graph.nodes[2].inTensorIds = {4, 4};
  graph.nodes[2].outTensorIds = {2};

  atb::Operation *operation = nullptr;
  EXPECT(atb::CreateOperation(graph, &operation) == 0 && operation != nullptr);
  EXPECT(operation->GetName() == "sum_and_cosine" && operation->GetInputNum() == 2 && operation->GetOutputNum() == 1);
  std::vector<float> a(12), b(12), y(6);
  for (int i = 0; i < 12; ++i) {
    a[i] = 0.25f * i;
    b[i] = 1.0f - 0.5f * i;
  }
  atb::VariantPack pack;
  pack.inTensors = {Tensor({4, 3}, a.data()), Tensor({4, 3}, b.data())};
  pack.outTensors = {Tensor({6}, nullptr)};
  atb::SVector<atb::TensorDesc> in, out;
  for (const auto &tensor : pack.inTensors) in.push_back(tensor.desc);
  EXPECT(operation->InferShape(in, out) == 0 && out.size() == 1 && out.at(0).shape.dims[0] == 6);
  uint64_t size = 0;
  EXPECT(operation->Setup(pack, size, context) == 0 && size >= 12 * 4 + 6 * 4);
  void *workspace = nullptr;
  EXPECT(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_NORMAL_ONLY) == 0);
  EXPECT(operation->Execute(pack, nullptr, size, context) == atb::ERROR_INVALID_WORKSPACE_ADDR);
  EXPECT(operation->Execute(pack, static_cast<uint8_t *>(workspace), size - 1, context) == atb::ERROR_INVALID_WORKSPACE_SIZE);
  EXPECT(operation->Execute(pack, static_cast<uint8_t *>(workspace), size, context) == 0);
  EXPECT(atb::DestroyOperation(operation) == 0);
  EXPECT(aclrtSynchronizeStream(stream) == 0 && counted.calls == 1);
  EXPECT(aclrtMemcpy(y.data(), 24, pack.outTensors.at(0).deviceData, 24, ACL_MEMCPY_DEVICE_TO_HOST) == 0);
  for (int i = 0; i < 6; ++i) {
    const double wanted = std::pow(std::cos(double(a[6 + i]) + double(b[6 + i])), 2);
    EXPECT(std::fabs(y[i] - wanted) < 1e-6);
  }
  // The graph destroyed the nodes that are operations of the library.
  EXPECT(atb::DestroyOperation(graph.nodes[0].operation) == atb::ERROR_INVALID_OPERATION_ADDR);

  const auto refused = [&](const char *word) {
    atb::Operation *none = &counted;
    const bool right = atb::CreateOperation(graph, &none) == atb::ERROR_INVALID_GRAPH && none == nullptr;
    return right && std::strstr(aclGetRecentErrMsg(), word) != nullptr;
  };
  graph.nodes.resize(1);
  graph.nodes[0].operation = Elewise(Param::ELEWISE_ADD);
  EXPECT(refused("no node writes tensor 2"));
  graph.nodes[0].inTensorIds = {0, 9};
  EXPECT(refused("reads tensor 9"));
  graph.nodes[0].inTensorIds = {0};
  EXPECT(refused("has 1 inputs"));
  graph.name = "no spaces";
  EXPECT(refused("underscore"));
  EXPECT(atb::DestroyOperation(graph.nodes[0].operation) == 0);
  EXPECT(atb::DestroyContext(context) == 0);
  std::puts("ok");
  return 0;
}
