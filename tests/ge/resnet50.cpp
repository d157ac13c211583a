// ResNet-50, operator by operator, and the same network parsed from ONNX: the results are the same.
//
// Arguments: the ONNX model, its weights in the order of its nodes, a image, and the side of the image.
#include "parser/onnx_parser.h"
#include "resnet50.h"

int main(int, char **argv) {
  weights = ReadFile(argv[2]);
  const std::vector<char> image = ReadFile(argv[3]);
  const int64_t side = std::atoi(argv[4]);
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  {
    ge::Session session((Options()));
    ge::Graph parsed("parsed");
    CHECK(ge::aclgrphParseONNX(argv[1], Options(), parsed) == ge::GRAPH_SUCCESS);
    CHECK(session.AddGraph(1, Network(side)) == ge::SUCCESS && session.AddGraph(2, parsed) == ge::SUCCESS);
    const std::vector<ge::Tensor> inputs = {Filled({1, 3, side, side}, ge::DT_FLOAT, image)};
    std::vector<ge::Tensor> built, imported;
    CHECK(session.RunGraph(1, inputs, built) == ge::SUCCESS && session.RunGraph(2, inputs, imported) == ge::SUCCESS);
    const std::vector<float> first = Values<float>(built[0]), second = Values<float>(imported[0]);
    CHECK(first.size() == 1000 && second.size() == 1000);
    double distance = 0, size = 0;
    for (size_t at = 0; at < first.size(); ++at) {
      distance = std::fmax(distance, std::fabs(static_cast<double>(first[at]) - second[at]));
      size = std::fmax(size, std::fabs(static_cast<double>(second[at])));
    }
    std::printf("resnet50: largest %.4f, distance %.3g\n", size, distance);
    CHECK(size > 0.01 && distance <= 1e-5);
    WriteFile("built.bin", first.data(), first.size() * sizeof(float));
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("resnet50: ok\n");
  return 0;
}
