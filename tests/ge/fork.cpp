// A child builds a model while its parent's runtime is at work; the parent takes the bytes and runs them. And a process that
// builds starts no threads and needs no aclInit.
#include <dirent.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "ge/ge_ir_build.h"
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

// The size of a model in its first eight bytes, then the model.
void Build(char *to, size_t room) {
  Options global = {{"ge.socVersion", "Ascend910B1"}};
  CHECK(ge::aclgrphBuildInitialize(global) == ge::GRAPH_SUCCESS);
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(Layer(), Options({{"input_format", "NCHW"}}), model) == ge::GRAPH_SUCCESS);
  ge::aclgrphBuildFinalize();
  CHECK(model.length + 8 <= room);
  std::memcpy(to, &model.length, 8);
  std::memcpy(to + 8, model.data.get(), model.length);
}

}  // namespace

int main() {
  // Before anything of the runtime: one thread before, one thread after.
  std::vector<char> own(1 << 20);
  CHECK(Threads() == 1);
  Build(own.data(), own.size());
  CHECK(Threads() == 1);

  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  Block x(std::vector<float>(192, 1)), y(std::vector<float>(256));
  const size_t room = 1 << 20;
  char *shared = static_cast<char *>(mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(shared != MAP_FAILED);
  // Other threads of the parent build graphs all the while: the child must not find their locks held.
  volatile bool stop = false;
  std::thread busy([&stop] {
    while (!stop) {
      ge::Graph graph = Layer();
      CHECK(graph.IsValid());
    }
  });
  for (int turn = 0; turn < 10; ++turn) {
    std::memset(shared, 0, 8);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      Build(shared, room);
      std::exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint64_t length = 0;
    std::memcpy(&length, shared, 8);
    CHECK(std::memcmp(own.data(), shared, length + 8) == 0);
  }
  stop = true;
  busy.join();
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
