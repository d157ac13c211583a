// ResNet-50, operator by operator, as a test and a benchmark build it.
#ifndef TESTS_GE_RESNET50_H_
#define TESTS_GE_RESNET50_H_

#include "support.h"

namespace {

std::vector<char> weights;
size_t used = 0;
std::vector<ge::Operator> all;

std::vector<float> Next(size_t count) {
  std::vector<float> values(count);
  CHECK(used + count * sizeof(float) <= weights.size());
  std::memcpy(values.data(), weights.data() + used, count * sizeof(float));
  used += count * sizeof(float);
  return values;
}

std::string Fresh(const char *kind) { return std::string(kind) + std::to_string(all.size()); }

ge::op::Const Weight(const std::vector<int64_t> &dims) {
  size_t count = 1;
  for (int64_t dim : dims) {
    count *= static_cast<size_t>(dim);
  }
  ge::op::Const constant = Constant(Fresh("weight").c_str(), dims, ge::DT_FLOAT, Next(count), ge::FORMAT_NCHW);
  all.push_back(constant);
  return constant;
}

// A convolution and its normalisation.
ge::Operator Normed(ge::Operator x, int64_t in, int64_t out, int64_t side, int64_t stride, int64_t pad) {
  ge::op::Const filter = Weight({out, in, side, side});
  ge::op::Conv2D convolution(Fresh("conv").c_str());
  convolution.set_input_x(x, 0u).set_input_filter(filter).set_attr_strides({1, 1, stride, stride});
  convolution.set_attr_pads({pad, pad, pad, pad}).set_attr_data_format("NCHW");
  all.push_back(convolution);
  ge::op::Const scale = Weight({out}), offset = Weight({out}), mean = Weight({out}), variance = Weight({out});
  ge::op::BatchNorm norm(Fresh("norm").c_str());
  norm.set_input_x(convolution).set_input_scale(scale).set_input_offset(offset).set_input_mean(mean);
  norm.set_input_variance(variance).set_attr_epsilon(1e-5f).set_attr_data_format("NCHW").set_attr_is_training(false);
  all.push_back(norm);
  return norm;
}

ge::Operator Relu(ge::Operator x) {
  ge::op::Relu relu(Fresh("relu").c_str());
  relu.set_input_x(x, 0u);
  all.push_back(relu);
  return relu;
}

ge::Graph Network(int64_t side) {
  used = 0;
  ge::op::Data input = Input("input", 0, {1, 3, side, side}, ge::DT_FLOAT, ge::FORMAT_NCHW);
  ge::Operator x = Relu(Normed(input, 3, 64, 7, 2, 3));
  ge::op::MaxPoolV3 pool("pool");
  pool.set_input_x(x, 0u).set_attr_ksize({1, 1, 3, 3}).set_attr_strides({1, 1, 2, 2}).set_attr_pads({1, 1, 1, 1});
  x = pool;
  int64_t channels = 64;
  const int blocks[4] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t middle = 64 << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      ge::Operator y = Relu(Normed(x, channels, middle, 1, 1, 0));
      y = Relu(Normed(y, middle, middle, 3, stride, 1));
      y = Normed(y, middle, 4 * middle, 1, 1, 0);
      if (stride != 1 || channels != 4 * middle) {
        x = Normed(x, channels, 4 * middle, 1, stride, 0);
      }
      ge::op::Add sum(Fresh("sum").c_str());
      sum.set_input_x1(y, 0u).set_input_x2(x, 0u);
      x = Relu(sum);
      channels = 4 * middle;
    }
  }
  ge::op::GlobalAveragePool average("average");
  average.set_input_x(x, 0u);
  ge::op::FlattenV2 flat("flat");
  flat.set_input_x(average);
  ge::op::Const head = Weight({1000, channels}), bias = Weight({1000});
  ge::op::MatMulV2 product("product");
  product.set_input_x1(flat).set_input_x2(head).set_input_bias(bias).set_attr_transpose_x2(true);
  CHECK(used == weights.size());
  ge::Graph graph("resnet50");
  graph.SetInputs({input}).SetOutputs(std::vector<ge::Operator>{product});
  return graph;
}

}  // namespace

#endif
