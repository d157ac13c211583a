// A program that ends with everything alive: sessions, graphs, streams with work on them, queued runs. It must not hang.
#include <thread>

#include "support.h"

int main(int, char **argv) {
  const std::string how = argv[1];
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  static ge::Session kept((Options()));
  ge::Session *lost = new ge::Session(Options());
  ge::op::Data x = Input("x", 0, {256, 256});
  ge::op::MatMul product("product");
  product.set_input_x1(x).set_input_x2(x);
  ge::Graph graph("graph");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{product});
  static ge::Graph lasting = graph;
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  const size_t bytes = 256 * 256 * 4;
  void *in = nullptr, *out = nullptr;
  CHECK(aclrtMalloc(&in, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  CHECK(aclrtMalloc(&out, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  for (ge::Session *session : {&kept, lost}) {
    CHECK(session->AddGraphWithCopy(1, graph) == ge::SUCCESS && session->AddGraphWithCopy(2, graph) == ge::SUCCESS);
    for (int turn = 0; turn < 50; ++turn) {
      std::vector<ge::Tensor> outputs = {OnDevice(out, bytes, {256, 256})};
      CHECK(session->RunGraphWithStreamAsync(1, stream, {OnDevice(in, bytes, {256, 256})}, outputs) == ge::SUCCESS);
      CHECK(session->RunGraphAsync(2, {Floats({256, 256}, std::vector<float>(65536, 1))},
                                   [](ge::Status, std::vector<ge::Tensor> &) {}) == ge::SUCCESS);
    }
  }
  std::printf("leave: ok\n");
  std::fflush(stdout);
  if (how == "exit") {
    std::exit(0);
  } else if (how == "finalize") {
    CHECK(ge::GEFinalize() == ge::SUCCESS);
  } else if (how == "acl") {
    CHECK(aclFinalize() == ACL_SUCCESS);
  } else if (how == "thread") {
    std::thread([] { std::exit(0); }).detach();
    for (;;) {
      std::this_thread::yield();
    }
  }
  return 0;
}
