// The flow that graph programs follow, twice at once: two graphs on two streams, an event between them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "ge/ge_api.h"
#include "graph/graph.h"

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::printf("%s:%d: %s\n%s\n", __FILE__, __LINE__, #condition,                              \
                  ge::GEGetErrorMsgV2().GetString());                                             \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

namespace {

const int64_t kRows = 256;
const int64_t kColumns = 256;

ge::Operator Constant(const char *name, const std::vector<int64_t> &dims, const std::vector<float> &values) {
  const ge::TensorDesc desc(ge::Shape(dims), ge::FORMAT_ND, ge::DT_FLOAT);
  const ge::Tensor tensor(desc, reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(float));
  ge::op::Const constant(name);
  constant.set_attr_value(tensor);
  return constant;
}

// relu(x * w + b): the operators are locals, and the graph outlives them.
ge::Graph Layer(const char *name, float weight, float bias) {
  ge::op::Data data("x");
  data.set_attr_index(0);
  const ge::TensorDesc desc(ge::Shape({kRows, kColumns}), ge::FORMAT_ND, ge::DT_FLOAT);
  data.update_input_desc_x(desc);
  data.update_output_desc_y(desc);
  ge::Operator w = Constant("w", {kColumns, kColumns}, std::vector<float>(kColumns * kColumns, weight));
  ge::Operator b = Constant("b", {kColumns}, std::vector<float>(kColumns, bias));
  ge::op::MatMul product("product");
  product.set_input_x1(data).set_input_x2(w);
  ge::op::Add sum("sum");
  sum.set_input_x1(product).set_input_x2(b);
  ge::op::Relu relu("relu");
  relu.set_input_x(sum);
  ge::Graph graph(name);
  graph.SetInputs({data}).SetOutputs(std::vector<ge::Operator>{relu});
  return graph;
}

ge::Tensor OnDevice(void *memory, size_t bytes) {
  ge::TensorDesc desc(ge::Shape({kRows, kColumns}), ge::FORMAT_ND, ge::DT_FLOAT);
  desc.SetPlacement(ge::kPlacementDevice);
  ge::Tensor tensor(desc);
  CHECK(tensor.SetData(static_cast<uint8_t *>(memory), bytes, [](uint8_t *) {}) == ge::GRAPH_SUCCESS);
  return tensor;
}

}  // namespace

int main() {
  const std::map<ge::AscendString, ge::AscendString> options = {{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "0"}};
  CHECK(ge::GEInitialize(options) == ge::SUCCESS);
  ge::Session *session = new ge::Session(std::map<ge::AscendString, ge::AscendString>());
  CHECK(session->AddGraph(1, Layer("first", 0.5f, 1.0f)) == ge::SUCCESS);
  CHECK(session->AddGraph(2, Layer("second", -0.001f, 3000.0f)) == ge::SUCCESS);
  CHECK(aclInit(nullptr) == ACL_SUCCESS);

  const ge::TensorDesc desc(ge::Shape({kRows, kColumns}), ge::FORMAT_ND, ge::DT_FLOAT);
  CHECK(session->IsGraphNeedRebuild(1));
  CHECK(session->BuildGraph(1, std::vector<ge::Tensor>{ge::Tensor(desc)}) == ge::SUCCESS);
  CHECK(session->BuildGraph(2, std::vector<ge::Tensor>{ge::Tensor(desc)}) == ge::SUCCESS);
  CHECK(!session->IsGraphNeedRebuild(1));

  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtStream streams[2] = {nullptr, nullptr};
  CHECK(aclrtCreateStream(&streams[0]) == ACL_SUCCESS);
  CHECK(aclrtCreateStream(&streams[1]) == ACL_SUCCESS);
  aclrtEvent between = nullptr;
  CHECK(aclrtCreateEvent(&between) == ACL_SUCCESS);

  const size_t bytes = static_cast<size_t>(kRows * kColumns) * sizeof(float);
  void *host = nullptr;
  CHECK(aclrtMallocHost(&host, bytes) == ACL_SUCCESS);
  void *memory[3] = {nullptr, nullptr, nullptr};
  for (void *&one : memory) {
    CHECK(aclrtMalloc(&one, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  }
  float *numbers = static_cast<float *>(host);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      numbers[row * kColumns + column] = static_cast<float>(row % 7);
    }
  }
  CHECK(aclrtMemcpy(memory[0], bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);

  // The second graph reads what the first one writes, on another stream: the event orders them.
  std::vector<ge::Tensor> first = {OnDevice(memory[1], bytes)};
  std::vector<ge::Tensor> second = {OnDevice(memory[2], bytes)};
  CHECK(session->RunGraphWithStreamAsync(1, streams[0], {OnDevice(memory[0], bytes)}, first) == ge::SUCCESS);
  CHECK(aclrtRecordEvent(between, streams[0]) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(streams[1], between) == ACL_SUCCESS);
  CHECK(session->RunGraphWithStreamAsync(2, streams[1], {OnDevice(memory[1], bytes)}, second) == ge::SUCCESS);
  CHECK(first[0].GetData() == memory[1]);
  CHECK(aclrtSynchronizeStream(streams[1]) == ACL_SUCCESS);
  CHECK(aclrtMemcpy(host, bytes, memory[2], bytes, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  for (int64_t row = 0; row < kRows; ++row) {
    const double between_value = static_cast<double>(row % 7) * 0.5 * kColumns + 1.0;
    const double wanted = std::fmax(0.0, between_value * -0.001 * kColumns + 3000.0);
    CHECK(std::fabs(numbers[row * kColumns] - wanted) < 1e-3 * wanted);
  }

  // Memory that is not device memory, a buffer that is too short, too few outputs and an unknown graph are refused with a sentence.
  std::vector<ge::Tensor> outputs = {OnDevice(memory[2], bytes)};
  std::vector<float> own(static_cast<size_t>(kRows * kColumns));
  CHECK(session->RunGraphWithStreamAsync(1, streams[0], {OnDevice(own.data(), bytes)}, outputs) == ge::FAILED);
  CHECK(std::string(ge::GEGetErrorMsgV2().GetString()).find("device memory") != std::string::npos);
  CHECK(session->RunGraphWithStreamAsync(1, streams[0], {OnDevice(memory[0], bytes / 2)}, outputs) == ge::FAILED);
  CHECK(session->RunGraphWithStreamAsync(1, streams[0], {}, outputs) == ge::FAILED);
  CHECK(session->RunGraphWithStreamAsync(9, streams[0], {OnDevice(memory[0], bytes)}, outputs) == ge::FAILED);
  CHECK(session->BuildGraph(9, std::vector<ge::Tensor>()) == 1343242242);
  std::vector<ge::Tensor> none;
  CHECK(session->RunGraph(9, {}, none) == 1343242242);

  CHECK(aclrtDestroyEvent(between) == ACL_SUCCESS);
  for (aclrtStream stream : streams) {
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  }
  for (void *one : memory) {
    CHECK(aclrtFree(one) == ACL_SUCCESS);
  }
  CHECK(aclrtFreeHost(host) == ACL_SUCCESS);
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  CHECK(session->RunGraph(1, {}, none) == ge::FAILED);
  delete session;
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CHECK(aclFinalize() == ACL_SUCCESS);
  std::printf("seed: ok\n");
  return 0;
}
