// A child builds a model while its parent's runtime is at work and its threads build models and graphs and run one in a session;
// the parent takes the bytes and runs them. The child also saves the model, stores and loads a graph, reads an ONNX file, infers shapes and queries
// versions; what needs a device is refused with a sentence, and `exit` does not block. And a process that builds starts no threads and
// needs no aclInit.
#include <dirent.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "ge/ge_ir_build.h"
#include "parser/onnx_parser.h"
#include "support.h"

namespace {

ge::Graph Layer() {
  ge::op::Data x = Input("x", 0, {1, 3, 8, 8}, ge::DT_FLOAT, ge::FORMAT_NCHW);
  ge::op::Const filter = Constant("filter", {4, 3, 3, 3}, std::vector<float>(108, 0.5f));
  ge::op::Conv2D convolution("convolution");
  convolution.set_input_x(x).set_input_filter(filter).set_attr_strides({1, 1, 1, 1}).set_attr_pads({1, 1, 1, 1});
  convolution.set_attr_data_format("NCHW");
  ge::op::Relu relu("relu");
  relu.set_input_x(convolution);
  ge::Graph graph("layer");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{relu});
  return graph;
}

size_t Threads() {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/task");
  while (readdir(folder) != nullptr) {
    ++count;
  }
  closedir(folder);
  return count - 2;
}

ge::Tensor Ones() {
  return Filled({1, 3, 8, 8}, ge::DT_FLOAT, std::vector<float>(192, 1), ge::FORMAT_NCHW);
}

// The size of a model in its first eight bytes, then the model.
void Build(char *to, size_t capacity) {
  Options global = {{"ge.socVersion", "Ascend910B1"}};
  CHECK(ge::aclgrphBuildInitialize(global) == ge::GRAPH_SUCCESS);
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(Layer(), Options({{"input_format", "NCHW"}}), model) == ge::GRAPH_SUCCESS);
  ge::aclgrphBuildFinalize();
  CHECK(model.length + 8 <= capacity);
  std::memcpy(to, &model.length, 8);
  std::memcpy(to + 8, model.data.get(), model.length);
}

// What a process that was forked off a running one may do, and what it is refused.
void InChild(char *shared, size_t capacity, ge::Session &parents, const std::string &folder, const char *onnx) {
  alarm(60);  // a child that hangs is killed, and the parent notices
  Build(shared, capacity);

  ge::ModelBufferData model;
  std::memcpy(&model.length, shared, 8);
  model.data.reset(new uint8_t[model.length], std::default_delete<uint8_t[]>());
  std::memcpy(model.data.get(), shared + 8, model.length);
  CHECK(ge::aclgrphSaveModel((folder + "/child").c_str(), model) == ge::GRAPH_SUCCESS);
  std::ifstream saved(folder + "/child.om", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(saved)), std::istreambuf_iterator<char>());
  CHECK(bytes.size() == model.length && std::memcmp(bytes.data(), model.data.get(), bytes.size()) == 0);

  const std::string stored = folder + "/child.graph";
  CHECK(Layer().SaveToFile(stored.c_str()) == ge::GRAPH_SUCCESS);
  ge::Graph loaded("loaded");
  CHECK(loaded.LoadFromFile(stored.c_str()) == ge::GRAPH_SUCCESS && loaded.IsValid());
  ge::Graph parsed("parsed");
  CHECK(ge::aclgrphParseONNX(onnx, Options(), parsed) == ge::GRAPH_SUCCESS);
  ge::op::Relu relu("shape");
  relu.update_input_desc_x(Desc({3, 5}));
  CHECK(relu.InferShapeAndType() == ge::GRAPH_SUCCESS);
  CHECK(relu.GetOutputDescByName("y").GetShape().GetDims() == std::vector<int64_t>({3, 5}));
  int32_t major = 0, minor = 0, patch = 0;
  CHECK(aclrtGetVersion(&major, &minor, &patch) == ACL_SUCCESS);
  CHECK(ge::aclgrphGetIRVersion(&major, &minor, &patch) == ge::GRAPH_SUCCESS);

  // The parent's session lives in the parent; one of the child's own has no device either.
  std::vector<ge::Tensor> outputs;
  CHECK(parents.RunGraph(1, {Ones()}, outputs) != ge::SUCCESS);
  CHECK(std::strstr(ge::GEGetErrorMsgV2().GetString(), "fork") != nullptr);
  {
    ge::Session own((Options()));
    CHECK(own.AddGraph(1, Layer()) == ge::SUCCESS);
    CHECK(own.RunGraph(1, {Ones()}, outputs) != ge::SUCCESS);
    CHECK(std::strstr(ge::GEGetErrorMsgV2().GetString(), "fork") != nullptr);
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  CHECK(aclrtSetDevice(0) == 507033);
  CHECK(std::strstr(aclGetRecentErrMsg(), "fork") != nullptr);
}

}  // namespace

int main(int argc, char **argv) {
  CHECK(argc == 3);
  // Before anything of the runtime: one thread before, one thread after.
  std::vector<char> own(1 << 20);
  CHECK(Threads() == 1);
  Build(own.data(), own.size());
  CHECK(Threads() == 1);

  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  Block x(std::vector<float>(192, 1)), y(std::vector<float>(256));
  const size_t capacity = 1 << 20;
  char *shared = static_cast<char *>(mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(shared != MAP_FAILED);
  CHECK(ge::GEInitialize(Options({{"ge.exec.deviceId", "0"}})) == ge::SUCCESS);
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Layer()) == ge::SUCCESS);
  // Other threads of the parent are at it all the while: the child must not find their locks held.
  std::atomic<bool> stop(false);
  std::vector<std::thread> busy;
  busy.emplace_back([&stop] {
    while (!stop) {
      CHECK(Layer().IsValid());
    }
  });
  busy.emplace_back([&stop, &own] {
    std::vector<char> again(1 << 20);
    while (!stop) {
      Build(again.data(), again.size());
      CHECK(std::memcmp(own.data(), again.data(), 64) == 0);
    }
  });
  busy.emplace_back([&stop, &session] {
    while (!stop) {
      std::vector<ge::Tensor> outputs;
      CHECK(session.RunGraph(1, {Ones()}, outputs) == ge::SUCCESS && outputs.size() == 1);
    }
  });
  for (int turn = 0; turn < 20; ++turn) {
    std::memset(shared, 0, 8);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      InChild(shared, capacity, session, argv[1], argv[2]);
      std::exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t length = 0;
    std::memcpy(&length, shared, 8);
    CHECK(std::memcmp(own.data(), shared, length + 8) == 0);
  }
  stop = true;
  for (std::thread &one : busy) {
    one.join();
  }
  uint64_t length = 0;
  std::memcpy(&length, shared, 8);
  uint32_t id = 0;
  CHECK(aclmdlLoadFromMem(shared + 8, length, &id) == ACL_SUCCESS);
  aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
  CHECK(aclmdlAddDatasetBuffer(inputs, aclCreateDataBuffer(x.address(), x.bytes())) == ACL_SUCCESS);
  CHECK(aclmdlAddDatasetBuffer(outputs, aclCreateDataBuffer(y.address(), y.bytes())) == ACL_SUCCESS);
  CHECK(aclmdlExecute(id, inputs, outputs) == ACL_SUCCESS);
  const std::vector<float> found = y.Get();
  CHECK(found[0] == 6 && found[9] == 13.5f);
  std::printf("fork: ok\n");
  return 0;
}
