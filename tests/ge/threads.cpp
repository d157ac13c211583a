// Threads that share a session: one adds and removes graphs and registers functions, others run graphs.
#include "support.h"

#include <atomic>
#include <memory>
#include <thread>

namespace {

// x * 2 + k
ge::Graph Line(float k) {
  ge::op::Data x("x");
  x.update_input_desc_x(ge::TensorDesc(ge::Shape({4})));
  x.update_output_desc_y(ge::TensorDesc(ge::Shape({4})));
  ge::op::Muls twice("twice");
  twice.set_input_x(x).set_attr_value(2.0f);
  ge::op::Adds more("more");
  more.set_input_x(twice).set_attr_value(k);
  ge::Graph graph("line");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{more});
  return graph;
}

uint32_t Saved(uint32_t, const std::map<ge::AscendString, ge::Tensor> &) { return 0; }

}  // namespace

int main() {
  CHECK(aclInit(nullptr) == ACL_SUCCESS && ge::GEInitialize(Options()) == ge::SUCCESS);
  {
    ge::Session session((Options()));
    std::atomic<int> rounds(0);
    const int wanted = 40;
    std::vector<std::thread> threads;
    // Added with and without inputs on the host, while others run.
    threads.emplace_back([&] {
      for (uint32_t number = 100; rounds < 3 * wanted; ++number) {
        const bool host = number % 2 == 0;
        CHECK(session.AddGraph(number, Line(1), host ? Options({{"ge.exec.hostInputIndexes", "0"}}) : Options()) == ge::SUCCESS);
        CHECK(session.RegisterCallBackFunc("Save", Saved) == ge::SUCCESS);
        CHECK(session.RemoveGraph(number) == ge::SUCCESS);
      }
    });
    for (uint32_t own = 0; own < 3; ++own) {
      CHECK(session.AddGraph(own, Line(static_cast<float>(own)), Options({{"ge.exec.hostInputIndexes", "0"}})) == ge::SUCCESS);
      threads.emplace_back([&, own] {
        CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
        aclrtStream stream = nullptr;
        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
        for (int turn = 0; turn < wanted; ++turn) {
          std::vector<ge::Tensor> outputs;
          if (own == 2) {
            CHECK(session.RunGraph(own, {Floats({4}, {1, 2, 3, 4})}, outputs) == ge::SUCCESS);
          } else {
            CHECK(session.BuildGraph(own, std::vector<ge::Tensor>()) == ge::SUCCESS);
            CHECK(session.RunGraphWithStreamAsync(own, stream, {Floats({4}, {1, 2, 3, 4})}, outputs) == ge::SUCCESS);
            CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
          }
          ++rounds;
        }
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS && aclFinalize() == ACL_SUCCESS);
  std::printf("threads: ok\n");
  return 0;
}
