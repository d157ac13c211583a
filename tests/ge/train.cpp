// A small network learns the handwritten digits: variables, gradients by operators, two kinds of steps, all in graphs.
//
// Arguments: the folder with images.u8 and labels.u8 (the test digits), and the one with train_images.u8 and
// train_labels.u8.
#include <algorithm>

#include "support.h"

namespace {

const int64_t kBatch = 32;
const int kEpochs = 20;

// The same numbers on every machine.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33);
  }
  // About normal, with a deviation of 1.
  float Normal() {
    float sum = 0;
    for (int at = 0; at < 12; ++at) {
      sum += static_cast<float>(Next() & 0xffff) / 65536.0f;
    }
    return sum - 6.0f;
  }

 private:
  uint64_t state_;
};

struct Variable {
  const char *name;
  std::vector<int64_t> dims;
  float deviation;
};
const std::vector<Variable> kVariables = {
    {"w1", {32, 1, 3, 3}, 0.45f}, {"w2", {64, 32, 3, 3}, 0.085f},  {"w3", {1024, 10}, 0.04f},  {"b3", {10}, 0},
    {"a1", {32, 1, 3, 3}, 0},     {"a2", {64, 32, 3, 3}, 0},      {"m3", {1024, 10}, 0},      {"v3", {1024, 10}, 0},
    {"mb", {10}, 0},              {"vb", {10}, 0},
};

ge::op::Variable Get(const char *name) {
  for (const Variable &one : kVariables) {
    if (std::string(one.name) == name) {
      ge::op::Variable variable(name);
      const ge::Format format = one.dims.size() == 4 ? ge::FORMAT_NCHW : ge::FORMAT_ND;
      variable.update_output_desc_y(Desc(one.dims, ge::DT_FLOAT, format));
      return variable;
    }
  }
  std::abort();
}

ge::Graph First() {
  Numbers numbers(7);
  std::vector<ge::Operator> inputs;
  for (const Variable &one : kVariables) {
    size_t count = 1;
    for (int64_t dim : one.dims) {
      count *= static_cast<size_t>(dim);
    }
    std::vector<float> values(count);
    for (float &value : values) {
      value = one.deviation * numbers.Normal();
    }
    ge::op::Variable variable = Get(one.name);
    ge::op::Const first = Constant((std::string(one.name) + "_first").c_str(), one.dims, values);
    ge::op::Assign((std::string(one.name) + "_assign").c_str()).set_input_ref(variable).set_input_value(first);
    inputs.push_back(variable);
  }
  ge::Graph graph("first");
  graph.SetInputs(inputs);
  return graph;
}

template <typename T>
T Convolution(T op, std::vector<int64_t> strides) {
  op.set_attr_strides(strides);
  op.set_attr_pads({1, 1, 1, 1});
  op.set_attr_data_format("NCHW");
  return op;
}

// What is before each layer's weights, and the scores.
struct Forward {
  ge::op::Data x;
  ge::op::Variable w1 = Get("w1"), w2 = Get("w2"), w3 = Get("w3"), b3 = Get("b3");
  ge::op::Conv2D c1 = Convolution(ge::op::Conv2D("c1"), {1, 1, 1, 1});
  ge::op::Relu r1 = ge::op::Relu("r1");
  ge::op::Conv2D c2 = Convolution(ge::op::Conv2D("c2"), {1, 1, 2, 2});
  ge::op::Relu r2 = ge::op::Relu("r2");
  ge::op::FlattenV2 flat = ge::op::FlattenV2("flat");
  ge::op::MatMul product = ge::op::MatMul("product");
  ge::op::BiasAdd scores = ge::op::BiasAdd("scores");
  explicit Forward(int64_t batch) : x(Input("x", 0, {batch, 1, 8, 8}, ge::DT_FLOAT, ge::FORMAT_NCHW)) {
    c1.set_input_x(x).set_input_filter(w1);
    r1.set_input_x(c1);
    c2.set_input_x(r1).set_input_filter(w2);
    r2.set_input_x(c2);
    flat.set_input_x(r2);
    product.set_input_x1(flat).set_input_x2(w3);
    scores.set_input_x(product).set_input_bias(b3);
  }
};

// The gradient through a relu: what comes from above, where its output is above zero.
ge::op::Mul Through(const char *name, ge::Operator &above, ge::Operator &output) {
  ge::op::Const zero = Constant((std::string(name) + "_zero").c_str(), {1}, {0});
  ge::op::Greater on((std::string(name) + "_on").c_str());
  on.set_input_x1(output).set_input_x2(zero);
  ge::op::Cast number((std::string(name) + "_number").c_str());
  number.set_input_x(on).set_attr_dst_type(ge::DT_FLOAT);
  ge::op::Mul product(name);
  product.set_input_x1(above).set_input_x2(number);
  return product;
}

ge::op::Const Sizes(const char *name, const std::vector<int32_t> &sizes) {
  return Constant(name, {static_cast<int64_t>(sizes.size())}, ge::DT_INT32, sizes);
}

ge::op::ApplyMomentum Momentum(const char *name, ge::Operator &variable, const char *sum, ge::Operator &rate,
                               ge::Operator &gradient, ge::Operator &behind) {
  ge::op::Variable accumulated = Get(sum);
  ge::op::Const momentum = Constant((std::string(name) + "_momentum").c_str(), {}, {0.9f});
  ge::op::ApplyMomentum step(name);
  step.set_input_var(variable).set_input_accum(accumulated).set_input_lr(rate).set_input_grad(gradient);
  step.set_input_momentum(momentum);
  step.AddControlInput(behind);
  return step;
}

ge::op::ApplyAdam Adam(const char *name, ge::Operator &variable, const char *m, const char *v, ge::Operator &power1,
                       ge::Operator &power2, ge::Operator &gradient, ge::Operator &behind) {
  ge::op::Variable first = Get(m), second = Get(v);
  const std::string own(name);
  ge::op::Const rate = Constant((own + "_rate").c_str(), {}, {0.002f});
  ge::op::Const beta1 = Constant((own + "_beta1").c_str(), {}, {0.9f});
  ge::op::Const beta2 = Constant((own + "_beta2").c_str(), {}, {0.999f});
  ge::op::Const epsilon = Constant((own + "_epsilon").c_str(), {}, {1e-8f});
  ge::op::ApplyAdam step(name);
  step.set_input_var(variable).set_input_m(first).set_input_v(second).set_input_beta1_power(power1);
  step.set_input_beta2_power(power2).set_input_lr(rate).set_input_beta1(beta1).set_input_beta2(beta2);
  step.set_input_epsilon(epsilon).set_input_grad(gradient);
  step.AddControlInput(behind);
  return step;
}

ge::Graph Step() {
  const int32_t batch = static_cast<int32_t>(kBatch);
  Forward f(kBatch);
  ge::op::Data labels = Input("labels", 1, {kBatch, 10});
  ge::op::Data rate = Input("rate", 2, {});
  ge::op::Data power1 = Input("power1", 3, {});
  ge::op::Data power2 = Input("power2", 4, {});
  ge::op::SoftmaxCrossEntropyWithLogits loss("loss");
  loss.set_input_features(f.scores).set_input_labels(labels);
  ge::op::Const axes = Sizes("axes", {0});
  ge::op::ReduceMean mean("mean");
  mean.set_input_x(loss, "loss").set_input_axes(axes).set_attr_keep_dims(false);

  ge::op::Muls g("g");
  g.set_input_x(loss, "backprop").set_attr_value(1.0f / static_cast<float>(kBatch));
  ge::op::ReduceSum db("db");
  db.set_input_x(g).set_input_axes(axes).set_attr_keep_dims(false);
  ge::op::MatMul d3("d3");
  d3.set_input_x1(f.flat).set_input_x2(g).set_attr_transpose_x1(true);
  ge::op::MatMul below("below");
  below.set_input_x1(g).set_input_x2(f.w3).set_attr_transpose_x2(true);
  ge::op::Const image = Sizes("image", {batch, 64, 4, 4});
  ge::op::Reshape shaped("shaped");
  shaped.set_input_x(below).set_input_shape(image);
  ge::op::Mul g2 = Through("g2", shaped, f.r2);
  ge::op::Const size2 = Sizes("size2", {64, 32, 3, 3});
  ge::op::Conv2DBackpropFilter d2 = Convolution(ge::op::Conv2DBackpropFilter("d2"), {1, 1, 2, 2});
  d2.set_input_x(f.r1).set_input_filter_size(size2).set_input_out_backprop(g2);
  ge::op::Const size1 = Sizes("size1", {batch, 32, 8, 8});
  ge::op::Conv2DBackpropInput b1 = Convolution(ge::op::Conv2DBackpropInput("b1"), {1, 1, 2, 2});
  b1.set_input_input_size(size1).set_input_filter(f.w2).set_input_out_backprop(g2);
  ge::op::Mul g1 = Through("g1", b1, f.r1);
  ge::op::Const filter1 = Sizes("filter1", {32, 1, 3, 3});
  ge::op::Conv2DBackpropFilter d1 = Convolution(ge::op::Conv2DBackpropFilter("d1"), {1, 1, 1, 1});
  d1.set_input_x(f.x).set_input_filter_size(filter1).set_input_out_backprop(g1);

  // Each step comes after everything that reads the weights as they were.
  Momentum("step1", f.w1, "a1", rate, d1, d1);
  Momentum("step2", f.w2, "a2", rate, d2, b1);
  Adam("step3", f.w3, "m3", "v3", power1, power2, d3, below);
  Adam("stepb", f.b3, "mb", "vb", power1, power2, db, f.scores);

  ge::Graph graph("step");
  graph.SetInputs({f.x, labels, rate, power1, power2, f.w1, f.w2, f.w3, f.b3});
  graph.SetOutputs(std::vector<ge::Operator>{mean});
  return graph;
}

ge::Graph Ask(int64_t count) {
  Forward f(count);
  ge::Graph graph("ask");
  graph.SetInputs({f.x, f.w1, f.w2, f.w3, f.b3}).SetOutputs(std::vector<ge::Operator>{f.scores});
  return graph;
}

// Writes a copy of an image that is rotated, slanted, stretched and moved a little, against overfitting of the small training set.
void Bent(const float *image, Numbers &numbers, std::vector<float> &to) {
  const auto some = [&numbers](float most) { return most * (static_cast<float>(numbers.Next() & 0xffff) / 32768.0f - 1.0f); };
  const auto pixel = [image](int row, int column) {
    return row >= 0 && row < 8 && column >= 0 && column < 8 ? image[row * 8 + column] : 0.0f;
  };
  const float turned = some(0.2f), slanted = some(0.2f), wide = 1 + some(0.1f), high = 1 + some(0.1f);
  const float right = some(1), down = some(1);
  for (int at = 0; at < 64; ++at) {
    const float v = static_cast<float>(at / 8) - 3.5f, u = static_cast<float>(at % 8) - 3.5f;
    const float y = 3.5f + down + high * (v + turned * u), x = 3.5f + right + wide * (u - turned * v + slanted * v);
    const int row = static_cast<int>(std::floor(y)), column = static_cast<int>(std::floor(x));
    const float below = y - static_cast<float>(row), beside = x - static_cast<float>(column);
    to.push_back((1 - below) * ((1 - beside) * pixel(row, column) + beside * pixel(row, column + 1)) +
                 below * ((1 - beside) * pixel(row + 1, column) + beside * pixel(row + 1, column + 1)));
  }
}

std::vector<float> Images(const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size());
  for (size_t at = 0; at < bytes.size(); ++at) {
    values[at] = static_cast<float>(static_cast<unsigned char>(bytes[at])) / 16.0f;
  }
  return values;
}

}  // namespace

int main(int, char **argv) {
  const std::string held(argv[1]), own(argv[2]);
  const std::vector<float> images = Images(ReadFile(own + "/train_images.u8"));
  const std::vector<char> labels = ReadFile(own + "/train_labels.u8");
  const std::vector<float> asked = Images(ReadFile(held + "/images.u8"));
  const std::vector<char> answers = ReadFile(held + "/labels.u8");
  CHECK(images.size() == labels.size() * 64 && asked.size() == answers.size() * 64);

  CHECK(ge::GEInitialize(Options({{"ge.graphRunMode", "1"}})) == ge::SUCCESS);
  double sum_of_bits = 0;
  {
    ge::Session session((Options()));
    std::vector<ge::Tensor> outputs;
    CHECK(session.AddGraph(1, First()) == ge::SUCCESS);
    CHECK(session.RunGraph(1, {}, outputs) == ge::SUCCESS);
    CHECK(session.AddGraph(2, Step()) == ge::SUCCESS);
    Numbers numbers(5);
    std::vector<size_t> order(labels.size());
    for (size_t at = 0; at < order.size(); ++at) {
      order[at] = at;
    }
    float power1 = 1, power2 = 1, first_loss = 0, loss = 0;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      const float rate = 0.04f * static_cast<float>(kEpochs - epoch) / static_cast<float>(kEpochs);
      for (size_t at = order.size() - 1; at > 0; --at) {
        std::swap(order[at], order[numbers.Next() % (at + 1)]);
      }
      for (size_t start = 0; start + kBatch <= order.size(); start += kBatch) {
        // A label is not quite certain.
        std::vector<float> x, y(static_cast<size_t>(kBatch * 10), 0.01f);
        for (size_t one = 0; one < static_cast<size_t>(kBatch); ++one) {
          const size_t index = order[start + one];
          Bent(images.data() + index * 64, numbers, x);
          y[one * 10 + static_cast<size_t>(labels[index])] = 0.91f;
        }
        power1 *= 0.9f;
        power2 *= 0.999f;
        CHECK(session.RunGraph(2, {Floats({kBatch, 1, 8, 8}, x), Floats({kBatch, 10}, y), Floats({}, {rate}),
                                   Floats({}, {power1}), Floats({}, {power2})},
                               outputs) == ge::SUCCESS);
        loss = Values<float>(outputs[0])[0];
        first_loss = first_loss == 0 ? loss : first_loss;
        CHECK(std::isfinite(loss));
        sum_of_bits += loss;
      }
    }
    const int64_t count = static_cast<int64_t>(answers.size());
    CHECK(session.AddGraph(3, Ask(count)) == ge::SUCCESS);
    CHECK(session.RunGraph(3, {Floats({count, 1, 8, 8}, asked)}, outputs) == ge::SUCCESS);
    const std::vector<float> scores = Values<float>(outputs[0]);
    int right = 0;
    for (size_t one = 0; one < answers.size(); ++one) {
      const float *own_scores = scores.data() + one * 10;
      right += std::max_element(own_scores, own_scores + 10) - own_scores == answers[one];
    }
    std::vector<ge::Tensor> variables;
    CHECK(session.GetVariables(std::vector<ge::AscendString>{"b3", "w1"}, variables) == ge::SUCCESS);
    CHECK(variables.size() == 2 && variables[1].GetSize() == 32 * 9 * sizeof(float));
    std::printf("train: loss %.4f to %.4f, %d of %zu right, sum %.17g\n", static_cast<double>(first_loss),
                static_cast<double>(loss), right, answers.size(), sum_of_bits);
    CHECK(right * 100 >= static_cast<int>(answers.size()) * 95);
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("train: ok\n");
  return 0;
}
