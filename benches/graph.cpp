// ResNet-50 through the Graph Engine, built by operators and parsed from ONNX, beside the same model through aclmdlExecute.
// `cargo xtask bench graph` runs it.
//
// Arguments: the ONNX model, its weights in the order of its nodes, an image, the side of the image, the compiled model.
//
// Each turn measures all of them, one after the other, in one process, on one stream, with everything in device memory: a run is queued
// and waited for. The model is loaded twice: how far its two copies differ is what the position of memory does. Prints the medians in
// milliseconds: of the graph that was built, of the one that was parsed, of the model, of its second copy, of adding and building a graph
// of operators, and of that with the first run.
#include <algorithm>
#include <chrono>
#include <functional>

#include "../tests/ge/resnet50.h"
#include "parser/onnx_parser.h"

namespace {

const int kTurns = 24;
const int kBuilds = 3;

double Milliseconds(const std::function<void()> &run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int, char **argv) {
  weights = ReadFile(argv[2]);
  const std::vector<char> image = ReadFile(argv[3]);
  const int64_t side = std::atoi(argv[4]);
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  {
    ge::Session session((Options()));
    ge::Graph parsed("parsed");
    CHECK(ge::aclgrphParseONNX(argv[1], Options(), parsed) == ge::GRAPH_SUCCESS);
    CHECK(session.AddGraph(1, Network(side)) == ge::SUCCESS && session.AddGraph(2, parsed) == ge::SUCCESS);
    const std::vector<float> pixels(reinterpret_cast<const float *>(image.data()),
                                    reinterpret_cast<const float *>(image.data() + image.size()));
    Block input(pixels), built(1000 * sizeof(float)), imported(1000 * sizeof(float)), executed(1000 * sizeof(float));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    const std::vector<ge::Tensor> inputs = {OnDevice(input, {1, 3, side, side})};
    const auto run = [&](uint32_t id, const Block &output) {
      std::vector<ge::Tensor> outputs = {OnDevice(output, {1, 1000})};
      CHECK(session.RunGraphWithStreamAsync(id, stream, inputs, outputs) == ge::SUCCESS);
      CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    };
    for (uint32_t id = 1; id <= 2; ++id) {
      CHECK(session.BuildGraph(id, inputs) == ge::SUCCESS);
    }
    std::vector<double> builds, firsts;
    for (int turn = -1; turn < kBuilds; ++turn) {
      const ge::Graph graph = Network(side);
      const double time = Milliseconds([&] {
        CHECK(session.AddGraph(3, graph) == ge::SUCCESS && session.BuildGraph(3, inputs) == ge::SUCCESS);
      });
      const double first = Milliseconds([&] { run(3, built); });
      if (turn >= 0) {
        builds.push_back(time);
        firsts.push_back(time + first);
      }
      CHECK(session.RemoveGraph(3) == ge::SUCCESS);
    }
    uint32_t models[2] = {};
    for (uint32_t &model : models) {
      CHECK(aclmdlLoadFromFile(argv[5], &model) == ACL_SUCCESS);
    }
    aclmdlDataset *given = aclmdlCreateDataset(), *made = aclmdlCreateDataset();
    aclDataBuffer *from = aclCreateDataBuffer(input.address(), input.bytes());
    aclDataBuffer *to = aclCreateDataBuffer(executed.address(), executed.bytes());
    CHECK(aclmdlAddDatasetBuffer(given, from) == ACL_SUCCESS && aclmdlAddDatasetBuffer(made, to) == ACL_SUCCESS);
    const auto execute = [&](uint32_t model) {
      CHECK(aclmdlExecuteAsync(model, given, made, stream) == ACL_SUCCESS);
      CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    };
    const std::function<void()> runs[4] = {[&] { run(1, built); }, [&] { run(2, imported); }, [&] { execute(models[0]); },
                                           [&] { execute(models[1]); }};
    std::vector<double> times[4];
    /* Each is as often the first of its turn as the others. */
    for (int turn = -4; turn < kTurns; ++turn) {
      for (int position = 0; position < 4; ++position) {
        const int which = (turn + 4 + position) % 4;
        const double time = Milliseconds(runs[which]);
        if (turn >= 0) {
          times[which].push_back(time);
        }
      }
    }
    CHECK(Near(built.Get(), executed.Get(), 1e-3f) && Near(imported.Get(), executed.Get(), 1e-3f));
    std::printf("%f %f %f %f %f %f\n", Median(times[0]), Median(times[1]), Median(times[2]), Median(times[3]), Median(builds),
                Median(firsts));
    for (const uint32_t model : models) {
      CHECK(aclmdlUnload(model) == ACL_SUCCESS);
    }
    CHECK(aclDestroyDataBuffer(from) == ACL_SUCCESS && aclDestroyDataBuffer(to) == ACL_SUCCESS);
    CHECK(aclmdlDestroyDataset(given) == ACL_SUCCESS && aclmdlDestroyDataset(made) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS);
  return 0;
}
