// Images in either order of axes, by the description of the input and by the attribute data_format. All sizes of the image are the
// same where that is possible, so that nothing but the values shows which order was taken.
#include <algorithm>

#include "support.h"

namespace {

// What the program says: FORMAT_ND and "" say nothing.
struct Said {
  ge::Format described;
  const char *attribute;
};

// The attribute decides if it is not the default; then the description decides if it names a format.
bool ChannelsFirst(const Said &said, const std::string &otherwise) {
  const std::string attribute = said.attribute;
  if (!attribute.empty() && attribute != otherwise) {
    return attribute == "NCHW";
  }
  return said.described == ge::FORMAT_ND ? otherwise == "NCHW" : said.described == ge::FORMAT_NCHW;
}

const Said kAll[] = {
    {ge::FORMAT_ND, ""},       {ge::FORMAT_NCHW, ""},     {ge::FORMAT_NHWC, ""},
    {ge::FORMAT_ND, "NCHW"},   {ge::FORMAT_NCHW, "NCHW"}, {ge::FORMAT_NHWC, "NCHW"},
    {ge::FORMAT_ND, "NHWC"},   {ge::FORMAT_NCHW, "NHWC"}, {ge::FORMAT_NHWC, "NHWC"},
};

std::vector<float> Counted(size_t count) {
  std::vector<float> values(count);
  for (size_t at = 0; at < count; ++at) {
    values[at] = static_cast<float>(at % 11) - 4.0f;
  }
  return values;
}

// Runs a graph of one image and returns the output.
ge::Tensor Run(const ge::Operator &input, const ge::Operator &output, const ge::Tensor &image) {
  static uint32_t number = 0;
  ge::Graph graph(("formats" + std::to_string(++number)).c_str());
  graph.SetInputs({input}).SetOutputs(std::vector<ge::Operator>{output});
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS && session.RunGraph(1, {image}, outputs) == ge::SUCCESS);
  return outputs[0];
}

bool Is(const ge::Tensor &found, const std::vector<int64_t> &dims, const std::vector<float> &values) {
  return found.GetTensorDesc().GetShape().GetDims() == dims && Near(Values<float>(found), values);
}

// Where an element of a [1, 3, 3, 3] image lies.
size_t At(bool first, size_t channel, size_t row, size_t column) {
  return first ? channel * 9 + row * 3 + column : row * 9 + column * 3 + channel;
}

template <typename Op>
void Say(Op &op, const Said &said) {
  if (*said.attribute != '\0') {
    op.set_attr_data_format(said.attribute);
  }
}

void Convolution(const Said &said) {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  ge::op::Const filter = Constant<float>("filter", {1, 3, 1, 1}, ge::DT_FLOAT, {1, 10, 100}, ge::FORMAT_NCHW);
  ge::op::Conv2D y("y");
  y.set_input_x(x).set_input_filter(filter).set_attr_strides({1, 1, 1, 1}).set_attr_pads({0, 0, 0, 0});
  Say(y, said);
  const std::vector<float> image = Counted(27);
  const bool first = ChannelsFirst(said, "NHWC");
  std::vector<float> wanted;
  for (size_t pixel = 0; pixel < 9; ++pixel) {
    float sum = 0;
    for (size_t channel = 0; channel < 3; ++channel) {
      sum += (channel == 0 ? 1.0f : channel == 1 ? 10.0f : 100.0f) * image[At(first, channel, pixel / 3, pixel % 3)];
    }
    wanted.push_back(sum);
  }
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 1, 3, 3} : std::vector<int64_t>{1, 3, 3, 1};
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), dims, wanted));
}

void Bias(const Said &said) {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  ge::op::Const bias = Constant("bias", {3}, {1, 10, 100});
  ge::op::BiasAdd y("y");
  y.set_input_x(x).set_input_bias(bias);
  Say(y, said);
  const std::vector<float> image = Counted(27), added = {1, 10, 100};
  std::vector<float> wanted(27);
  for (size_t at = 0; at < 27; ++at) {
    wanted[at] = image[at] + added[ChannelsFirst(said, "NHWC") ? at / 9 : at % 3];
  }
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), {1, 3, 3, 3}, wanted));
}

// The largest of each whole image, for a window of 3 by 3 over the spatial axes.
template <typename Op>
void Pooling(const Said &said, const char *otherwise, Op &y) {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  const bool first = ChannelsFirst(said, otherwise);
  const std::vector<int64_t> window = first ? std::vector<int64_t>{1, 1, 3, 3} : std::vector<int64_t>{1, 3, 3, 1};
  y.set_input_x(x).set_attr_ksize(window).set_attr_strides(window);
  Say(y, said);
  const std::vector<float> image = Counted(27);
  std::vector<float> wanted;
  for (size_t channel = 0; channel < 3; ++channel) {
    float largest = -1e9f;
    for (size_t pixel = 0; pixel < 9; ++pixel) {
      largest = std::max(largest, image[At(first, channel, pixel / 3, pixel % 3)]);
    }
    wanted.push_back(largest);
  }
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 3, 1, 1} : std::vector<int64_t>{1, 1, 1, 3};
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), dims, wanted));
}

void Normalisation(const Said &said) {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  ge::op::Const scale = Constant("scale", {3}, {1, 2, 3}), offset = Constant("offset", {3}, {1, 10, 100});
  ge::op::Const mean = Constant("mean", {3}, {0, 1, 2}), variance = Constant("variance", {3}, {1, 1, 1});
  ge::op::BatchNorm y("y");
  y.set_input_x(x).set_input_scale(scale).set_input_offset(offset).set_input_mean(mean).set_input_variance(variance);
  y.set_attr_is_training(false).set_attr_epsilon(0.0f);
  Say(y, said);
  const std::vector<float> image = Counted(27), added = {1, 10, 100};
  std::vector<float> wanted(27);
  for (size_t at = 0; at < 27; ++at) {
    const size_t channel = ChannelsFirst(said, "NHWC") ? at / 9 : at % 3;
    wanted[at] = (image[at] - static_cast<float>(channel)) * static_cast<float>(channel + 1) + added[channel];
  }
  ge::Graph graph("normalisation");
  graph.SetInputs({x}).SetOutputs(std::vector<std::pair<ge::Operator, std::vector<size_t>>>{{y, {0}}});
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
  CHECK(session.RunGraph(1, {Floats({1, 3, 3, 3}, image)}, outputs) == ge::SUCCESS);
  CHECK(Is(outputs[0], {1, 3, 3, 3}, wanted));
}

// The mean of each whole image.
template <typename Op>
void Averaging(const Said &said, const char *otherwise, Op &y) {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  const bool first = ChannelsFirst(said, otherwise);
  const std::vector<int64_t> window = first ? std::vector<int64_t>{1, 1, 3, 3} : std::vector<int64_t>{1, 3, 3, 1};
  y.set_input_x(x).set_attr_ksize(window).set_attr_strides(window);
  Say(y, said);
  const std::vector<float> image = Counted(27);
  std::vector<float> wanted(3);
  for (size_t at = 0; at < 27; ++at) {
    wanted[first ? at / 9 : at % 3] += image[at] / 9;
  }
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 3, 1, 1} : std::vector<int64_t>{1, 1, 1, 3};
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), dims, wanted));
}

// A transposed convolution by 1 x 1 is a multiple of its input for each channel.
void Transposed(const Said &said) {
  const bool first = ChannelsFirst(said, "NHWC");
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 1, 3, 3} : std::vector<int64_t>{1, 3, 3, 1};
  ge::op::Data x = Input("x", 0, dims, ge::DT_FLOAT, said.described);
  ge::op::Const filter = Constant<float>("filter", {1, 3, 1, 1}, ge::DT_FLOAT, {1, 10, 100}, ge::FORMAT_NCHW);
  ge::op::Conv2DTransposeD y("y");
  y.set_input_x(x).set_input_filter(filter).set_attr_input_size({1, 3, 3, 3});
  y.set_attr_strides({1, 1, 1, 1}).set_attr_pads({0, 0, 0, 0});
  Say(y, said);
  const std::vector<float> image = Counted(9), factors = {1, 10, 100};
  std::vector<float> wanted(27);
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t pixel = 0; pixel < 9; ++pixel) {
      wanted[At(first, channel, pixel / 3, pixel % 3)] = factors[channel] * image[pixel];
    }
  }
  CHECK(Is(Run(x, y, Floats(dims, image)), {1, 3, 3, 3}, wanted));
}

// The gradient of a filter of 1 x 1 is a sum over the pixels for each channel.
void GradientOfAFilter(const Said &said) {
  const bool first = ChannelsFirst(said, "NHWC");
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 1, 3, 3} : std::vector<int64_t>{1, 3, 3, 1};
  std::vector<float> slope, image = Counted(27);
  for (size_t pixel = 0; pixel < 9; ++pixel) {
    slope.push_back(static_cast<float>(pixel) - 3);
  }
  ge::op::Const grad = Constant<float>("grad", dims, ge::DT_FLOAT, slope, said.described);
  ge::op::Conv2DBackpropFilterD y("y");
  y.set_input_x(x).set_input_out_backprop(grad).set_attr_filter_size(first ? std::vector<int64_t>{1, 3, 1, 1} : std::vector<int64_t>{1, 1, 3, 1});
  y.set_attr_strides({1, 1, 1, 1}).set_attr_pads({0, 0, 0, 0});
  Say(y, said);
  std::vector<float> wanted(3);
  for (size_t at = 0; at < 27; ++at) {
    wanted[first ? at / 9 : at % 3] += image[at] * slope[first ? at % 9 : at / 3];
  }
  CHECK(Near(Values<float>(Run(x, y, Floats({1, 3, 3, 3}, image))), wanted));
}

void GradientOfABias(const Said &said) {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  ge::op::BiasAddGrad y("y");
  y.set_input_x(x);
  Say(y, said);
  const std::vector<float> image = Counted(27);
  std::vector<float> wanted(3);
  for (size_t at = 0; at < 27; ++at) {
    wanted[ChannelsFirst(said, "NHWC") ? at / 9 : at % 3] += image[at];
  }
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), {3}, wanted));
}

// The slope of the largest of a whole image goes to where it lies.
void GradientOfPooling(const Said &said) {
  const bool first = ChannelsFirst(said, "NCHW");
  std::vector<float> image(27), wanted(27), largest(3, -1);
  for (size_t at = 0; at < 27; ++at) {
    image[at] = static_cast<float>((at * 10 + 4) % 27);
  }
  std::vector<size_t> position(3);
  for (size_t at = 0; at < 27; ++at) {
    const size_t channel = first ? at / 9 : at % 3;
    if (image[at] > largest[channel]) {
      largest[channel] = image[at];
      position[channel] = at;
    }
  }
  for (size_t channel = 0; channel < 3; ++channel) {
    wanted[position[channel]] = static_cast<float>(channel + 1);
  }
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 3, 1, 1} : std::vector<int64_t>{1, 1, 1, 3};
  const std::vector<int64_t> window = first ? std::vector<int64_t>{1, 1, 3, 3} : std::vector<int64_t>{1, 3, 3, 1};
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  ge::op::Const output = Constant<float>("output", dims, ge::DT_FLOAT, largest, said.described);
  ge::op::Const grad = Constant<float>("grad", dims, ge::DT_FLOAT, {1, 2, 3}, said.described);
  ge::op::MaxPoolV3Grad y("y");
  y.set_input_orig_input(x).set_input_orig_output(output).set_input_grad(grad);
  y.set_attr_ksize(window).set_attr_strides(window).set_attr_padding_mode("VALID");
  Say(y, said);
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), {1, 3, 3, 3}, wanted));
}

// Each pixel becomes four. There is no attribute: the description alone decides.
void Resizing(const Said &said) {
  const bool first = said.described != ge::FORMAT_NHWC;
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, said.described);
  ge::op::Const size = Constant<int32_t>("size", {2}, ge::DT_INT32, {6, 6});
  ge::op::ResizeNearestNeighborV2 y("y");
  y.set_input_x(x).set_input_size(size);
  const std::vector<float> image = Counted(27);
  std::vector<float> wanted(108);
  for (size_t at = 0; at < 108; ++at) {
    const size_t channel = first ? at / 36 : at % 3, pixel = first ? at % 36 : at / 3;
    wanted[at] = image[At(first, channel, pixel / 12, pixel % 6 / 2)];
  }
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 3, 6, 6} : std::vector<int64_t>{1, 6, 6, 3};
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), dims, wanted));
}

// Three spatial axes, of two elements each.
struct Volume {
  explicit Volume(const Said &said)
      : format(said.described == ge::FORMAT_ND ? ge::FORMAT_ND : said.described == ge::FORMAT_NCHW ? ge::FORMAT_NCDHW : ge::FORMAT_NDHWC),
        attribute(*said.attribute == '\0' ? "" : *(said.attribute + 1) == 'C' ? "NCDHW" : "NDHWC"),
        first(ChannelsFirst(said, "NHWC")),
        dims({1, 2, 2, 2, 2}),
        window(first ? std::vector<int64_t>{1, 1, 2, 2, 2} : std::vector<int64_t>{1, 2, 2, 2, 1}),
        image(Counted(16)) {}
  size_t Channel(size_t at) const { return first ? at / 8 : at % 2; }
  size_t Voxel(size_t at) const { return first ? at % 8 : at / 2; }

  ge::Format format;
  std::string attribute;
  bool first;
  std::vector<int64_t> dims, window;
  std::vector<float> image;
};

void Volumes(const Said &said) {
  const Volume v(said);
  const auto say = [&v](ge::Operator &op) {
    if (!v.attribute.empty()) {
      op.SetAttr("data_format", v.attribute.c_str());
    }
  };
  ge::op::Data x = Input("x", 0, v.dims, ge::DT_FLOAT, v.format);
  ge::op::Const filter = Constant<float>("filter", {1, 2, 1, 1, 1}, ge::DT_FLOAT, {1, 100}, ge::FORMAT_NCDHW);
  ge::op::Conv3D conv("conv");
  conv.set_input_x(x).set_input_filter(filter).set_attr_strides({1, 1, 1, 1, 1}).set_attr_pads({0, 0, 0, 0, 0, 0});
  say(conv);
  std::vector<float> sums(8), largest(2, -1e9f), means(2);
  for (size_t at = 0; at < 16; ++at) {
    sums[v.Voxel(at)] += v.image[at] * (v.Channel(at) == 0 ? 1.0f : 100.0f);
    largest[v.Channel(at)] = std::max(largest[v.Channel(at)], v.image[at]);
    means[v.Channel(at)] += v.image[at] / 8;
  }
  const ge::Tensor image = Floats(v.dims, v.image);
  const std::vector<int64_t> whole = v.first ? std::vector<int64_t>{1, 1, 2, 2, 2} : std::vector<int64_t>{1, 2, 2, 2, 1};
  const std::vector<int64_t> pooled = v.first ? std::vector<int64_t>{1, 2, 1, 1, 1} : std::vector<int64_t>{1, 1, 1, 1, 2};
  CHECK(Is(Run(x, conv, image), whole, sums));
  ge::op::Data own = Input("own", 0, v.dims, ge::DT_FLOAT, v.format);
  ge::op::MaxPool3D most("most");
  most.set_input_x(own).set_attr_ksize(v.window).set_attr_strides(v.window).set_attr_padding("VALID");
  say(most);
  CHECK(Is(Run(own, most, image), pooled, largest));
  ge::op::Data other = Input("other", 0, v.dims, ge::DT_FLOAT, v.format);
  ge::op::AvgPool3D mean("mean");
  mean.set_input_x(other).set_attr_ksize(v.window).set_attr_strides(v.window).set_attr_pads({0, 0, 0, 0, 0, 0});
  say(mean);
  CHECK(Is(Run(other, mean, image), pooled, means));
}

void Blocks(const Said &said) {
  ge::op::Data x = Input("x", 0, {1, 2, 2, 4}, ge::DT_FLOAT, said.described);
  const bool first = ChannelsFirst(said, "NHWC");
  ge::op::SpaceToDepth y("y");
  y.set_input_x(x).set_attr_block_size(2);
  Say(y, said);
  const ge::Tensor found = Run(x, y, Floats({1, 2, 2, 4}, Counted(16)));
  const std::vector<int64_t> dims = first ? std::vector<int64_t>{1, 8, 1, 2} : std::vector<int64_t>{1, 1, 1, 16};
  CHECK(found.GetTensorDesc().GetShape().GetDims() == dims);
}

// Only the input is described: what comes after it has the same order.
void AChain() {
  ge::op::Data x = Input("x", 0, {1, 3, 3, 3}, ge::DT_FLOAT, ge::FORMAT_NCHW);
  ge::op::Const filter = Constant<float>("filter", {2, 3, 1, 1}, ge::DT_FLOAT, {1, 0, 0, 0, 1, 0}, ge::FORMAT_NCHW);
  ge::op::Const bias = Constant("bias", {2}, {10, 20});
  ge::op::Conv2D conv("conv");
  conv.set_input_x(x).set_input_filter(filter).set_attr_strides({1, 1, 1, 1}).set_attr_pads({0, 0, 0, 0});
  ge::op::BiasAdd added("added");
  added.set_input_x(conv).set_input_bias(bias);
  ge::op::Relu relu("relu");
  relu.set_input_x(added);
  ge::op::MaxPool y("y");
  y.set_input_x(relu).set_attr_ksize({1, 1, 3, 3}).set_attr_strides({1, 1, 3, 3}).set_attr_padding("VALID");
  const std::vector<float> image = Counted(27);
  const float one = *std::max_element(image.begin(), image.begin() + 9) + 10;
  const float two = *std::max_element(image.begin() + 9, image.begin() + 18) + 20;
  CHECK(Is(Run(x, y, Floats({1, 3, 3, 3}, image)), {1, 2, 1, 1}, {one, two}));
}

}  // namespace

int main() {
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  for (const Said &said : kAll) {
    Convolution(said);
    Bias(said);
    ge::op::MaxPool pool("y");
    pool.set_attr_padding("VALID");
    Pooling(said, "NHWC", pool);
    ge::op::MaxPoolV3 newer("y");
    newer.set_attr_padding_mode("VALID");
    Pooling(said, "NCHW", newer);
    ge::op::AvgPool mean("y");
    mean.set_attr_padding("VALID");
    Averaging(said, "NHWC", mean);
    ge::op::AvgPoolV2 average("y");
    average.set_attr_padding_mode("VALID");
    Averaging(said, "NCHW", average);
    Normalisation(said);
    Transposed(said);
    GradientOfAFilter(said);
    GradientOfABias(said);
    GradientOfPooling(said);
    Resizing(said);
    Volumes(said);
    Blocks(said);
  }
  AChain();
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("formats: ok\n");
  return 0;
}
