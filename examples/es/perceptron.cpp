// A network of two layers, built by function calls: es_<Operator>.h has a function for each operator. The result is compared
// with plain loops.
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "es_all_ops.h"
#include "ge/es_graph_builder.h"
#include "ge/ge_api.h"

namespace {

const int kBatch = 2, kInputs = 4, kHidden = 3, kClasses = 2;

std::vector<float> Numbers(int count, float first, float step) {
  std::vector<float> all(count);
  for (int at = 0; at < count; ++at) {
    all[at] = std::sin(first + step * static_cast<float>(at));
  }
  return all;
}

// rows of x times w, plus b.
std::vector<float> Layer(const std::vector<float> &x, const std::vector<float> &w, const std::vector<float> &b, int from,
                         int to) {
  std::vector<float> y(kBatch * to);
  for (int row = 0; row < kBatch; ++row) {
    for (int column = 0; column < to; ++column) {
      float sum = b[column];
      for (int at = 0; at < from; ++at) {
        sum += x[row * from + at] * w[at * to + column];
      }
      y[row * to + column] = sum;
    }
  }
  return y;
}

int Failed(const char *what) {
  std::printf("%s: %s\n", what, ge::GEGetErrorMsgV2().GetString());
  return 1;
}

}  // namespace

int main() {
  const std::vector<float> x = Numbers(kBatch * kInputs, 0.3f, 0.9f);
  const std::vector<float> w1 = Numbers(kInputs * kHidden, 0.2f, 0.7f), b1 = Numbers(kHidden, 0.1f, 0.2f);
  const std::vector<float> w2 = Numbers(kHidden * kClasses, -0.4f, 0.8f), b2 = Numbers(kClasses, 0.0f, 0.1f);

  // The graph: softmax(relu(x * w1 + b1) * w2 + b2).
  ge::es::EsGraphBuilder builder("perceptron");
  const ge::es::EsTensorHolder input = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, {kBatch, kInputs});
  const ge::es::EsTensorHolder hidden =
      ge::es::Relu(ge::es::MatMul(input, builder.CreateConst(w1, {kInputs, kHidden})) + builder.CreateVector(b1));
  const ge::es::EsTensorHolder scores =
      ge::es::MatMul(hidden, builder.CreateConst(w2, {kHidden, kClasses})) + builder.CreateVector(b2);
  const std::unique_ptr<ge::Graph> graph = builder.BuildAndReset({ge::es::SoftmaxV2(scores, {-1})});
  if (graph == nullptr) {
    return Failed("building the graph");
  }

  const std::map<ge::AscendString, ge::AscendString> options;
  if (ge::GEInitialize(options) != ge::SUCCESS) {
    return Failed("GEInitialize");
  }
  std::vector<ge::Tensor> outputs;
  {
    ge::Session session(options);
    const ge::TensorDesc desc(ge::Shape({kBatch, kInputs}), ge::FORMAT_ND, ge::DT_FLOAT);
    const ge::Tensor tensor(desc, reinterpret_cast<const uint8_t *>(x.data()), x.size() * sizeof(float));
    if (session.AddGraph(0, *graph) != ge::SUCCESS || session.RunGraph(0, {tensor}, outputs) != ge::SUCCESS) {
      return Failed("running the graph");
    }
  }

  std::vector<float> wanted = Layer(x, w1, b1, kInputs, kHidden);
  for (float &one : wanted) {
    one = one > 0 ? one : 0;
  }
  wanted = Layer(wanted, w2, b2, kHidden, kClasses);
  const float *found = reinterpret_cast<const float *>(outputs[0].GetData());
  for (int row = 0; row < kBatch; ++row) {
    const float a = std::exp(wanted[row * kClasses]), b = std::exp(wanted[row * kClasses + 1]);
    std::printf("row %d: %.6f %.6f, by loops %.6f %.6f\n", row, found[row * 2], found[row * 2 + 1], a / (a + b), b / (a + b));
    if (std::fabs(found[row * 2] - a / (a + b)) > 1e-6f || std::fabs(found[row * 2 + 1] - b / (a + b)) > 1e-6f) {
      std::printf("the results differ\n");
      return 1;
    }
  }
  if (ge::GEFinalize() != ge::SUCCESS) {
    return Failed("GEFinalize");
  }
  std::printf("the results agree\n");
  return 0;
}
