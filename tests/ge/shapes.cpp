// Inputs that decide shapes and axes are inputs of the graph, or computed in it: the test prints the outputs, for NumPy to compare.
#include <functional>

#include "es_all_ops.h"
#include "support.h"

namespace es = ge::es;
typedef es::EsTensorHolder Tensor;
typedef std::vector<Tensor> Tensors;

namespace {

struct List {
  std::vector<int32_t> values;
  std::vector<int64_t> dims;
};
List Vector(const std::vector<int32_t> &values) { return {values, {static_cast<int64_t>(values.size())}}; }
List Scalar(int32_t value) { return {{value}, {}}; }
List Pairs(const std::vector<int32_t> &values) { return {values, {static_cast<int64_t>(values.size()) / 2, 2}}; }

// Runs an operator of x, which is 0, 1, 2 and so on, and of lists.
void Show(const char *name, const std::vector<int64_t> &dims, const std::vector<List> &lists,
          const std::function<Tensor(es::EsGraphBuilder &, const Tensor &, const Tensors &)> &make) {
  for (const bool computed : {false, true}) {
    es::EsGraphBuilder builder(name);
    const Tensor x = builder.CreateInput(0, "x", ge::DT_FLOAT, ge::FORMAT_ND, dims);
    int64_t count = 1;
    for (const int64_t dim : dims) {
      count *= dim;
    }
    std::vector<float> values;
    for (int64_t at = 0; at < count; ++at) {
      values.push_back(static_cast<float>(at));
    }
    std::vector<ge::Tensor> inputs = {Floats(dims, values)};
    Tensors all;
    for (const List &list : lists) {
      const int64_t index = static_cast<int64_t>(inputs.size());
      const Tensor own = builder.CreateInput(index, std::to_string(index).c_str(), ge::DT_INT32, ge::FORMAT_ND, list.dims);
      const Tensor one = builder.CreateScalar(static_cast<int32_t>(1));
      all.push_back(computed ? own + one - one : own);
      inputs.push_back(Filled(list.dims, ge::DT_INT32, list.values));
    }
    const std::unique_ptr<ge::Graph> graph = builder.BuildAndReset({make(builder, x, all)});
    CHECK(graph != nullptr);
    ge::Session session(Options{});
    std::vector<ge::Tensor> outputs;
    CHECK(session.AddGraph(1, *graph) == ge::SUCCESS && session.RunGraph(1, inputs, outputs) == ge::SUCCESS);
    std::printf("%s %d |", name, computed ? 1 : 0);
    for (const int64_t dim : outputs[0].GetTensorDesc().GetShape().GetDims()) {
      std::printf(" %lld", static_cast<long long>(dim));
    }
    std::printf(" |");
    for (const float value : Values<float>(outputs[0])) {
      std::printf(" %.9g", static_cast<double>(value));
    }
    std::printf("\n");
  }
}

}  // namespace

#define MAKE [](es::EsGraphBuilder & b, const Tensor &x, const Tensors &l) -> Tensor
#define UNUSED (void)b, (void)x, (void)l

int main() {
  CHECK(ge::GEInitialize(Options{}) == ge::SUCCESS);
  Show("Reshape", {2, 3}, {Vector({3, -1})}, MAKE { return UNUSED, es::Reshape(x, l[0]); });
  Show("Tile", {2, 2}, {Vector({1, 3})}, MAKE { return UNUSED, es::Tile(x, l[0]); });
  Show("Slice", {4, 5}, {Vector({1, 2}), Vector({2, -1})}, MAKE { return UNUSED, es::Slice(x, l[0], l[1]); });
  Show("StridedSlice", {4, 4}, {Vector({0, 1}), Vector({4, 3}), Vector({2, 1})},
       MAKE { return UNUSED, es::StridedSlice(x, l[0], l[1], l[2]); });
  Show("StridedSliceV2", {4, 4}, {Vector({0, 1}), Vector({4, 3})}, MAKE { return UNUSED, es::StridedSliceV2(x, l[0], l[1]); });
  Show("Pad", {2, 2}, {Pairs({1, 0, 0, 2})}, MAKE { return UNUSED, es::Pad(x, l[0]); });
  Show("PadV3", {2, 2}, {Pairs({1, 0, 0, 2})}, MAKE { return UNUSED, es::PadV3(x, l[0]); });
  Show("Transpose", {2, 3, 4}, {Vector({2, 0, 1})}, MAKE { return UNUSED, es::Transpose(x, l[0]); });
  Show("ReduceSum", {2, 3}, {Vector({1})}, MAKE { return UNUSED, es::ReduceSum(x, l[0]); });
  Show("ReduceMean", {2, 3}, {Vector({0})}, MAKE { return UNUSED, es::ReduceMean(x, l[0], true); });
  Show("ReduceMax", {2, 3}, {Scalar(1)}, MAKE { return UNUSED, es::ReduceMax(x, l[0]); });
  Show("ReduceMin", {2, 3}, {Vector({0, 1})}, MAKE { return UNUSED, es::ReduceMin(x, l[0]); });
  Show("ReduceProd", {2, 3}, {Vector({1})}, MAKE { return UNUSED, es::ReduceProd(x, l[0]); });
  Show("GatherV2", {2, 3}, {Vector({1, 0}), Scalar(1)}, MAKE { return UNUSED, es::GatherV2(x, l[0], l[1]); });
  Show("Fill", {1}, {Vector({2, 3})}, MAKE { return UNUSED, es::Fill(l[0], b.CreateScalar(5.0f)); });
  Show("Range", {1}, {Scalar(1), Scalar(8), Scalar(3)},
       MAKE { return UNUSED, es::Cast(es::Range(l[0], l[1], l[2]), ge::DT_FLOAT); });
  Show("ResizeBilinearV2", {1, 2, 2, 1}, {Vector({3, 4})}, MAKE {
    UNUSED;
    Tensor image = x + b.CreateScalar(0.0f);
    image.SetFormat(ge::FORMAT_NHWC);
    return es::ResizeBilinearV2(image, l[0], true);
  });
  Show("ResizeNearestNeighborV2", {1, 1, 2, 2}, {Vector({4, 6})}, MAKE { return UNUSED, es::ResizeNearestNeighborV2(x, l[0]); });
  Show("Resize", {1, 1, 2, 2}, {Vector({1, 1, 4, 4})},
       MAKE { return UNUSED, es::Resize(x, nullptr, nullptr, l[0], "half_pixel", -0.75f, 0, 0.0f, "nearest"); });
  Show("Expand", {1, 2}, {Vector({3, 2})}, MAKE { return UNUSED, es::Expand(x, l[0]); });
  Show("BroadcastTo", {1, 2}, {Vector({3, 2})}, MAKE { return UNUSED, es::BroadcastTo(x, l[0]); });
  Show("TopK", {5}, {Scalar(2)}, MAKE { return UNUSED, es::TopK(x, l[0]).values; });
  Show("TopKV2", {5}, {Scalar(3)}, MAKE { return UNUSED, es::TopKV2(x, l[0]).values; });
  Show("OneHot", {1}, {Vector({1, 0}), Scalar(3)},
       MAKE { return UNUSED, es::OneHot(l[0], l[1], b.CreateScalar(1.0f), b.CreateScalar(0.0f)); });
  Show("Cumsum", {2, 3}, {Scalar(1)}, MAKE { return UNUSED, es::Cumsum(x, l[0]); });
  Show("Split", {2, 4}, {Scalar(1)}, MAKE { return UNUSED, es::Split(l[0], x, 2, 2)[1]; });
  Show("SplitV", {2, 4}, {Vector({1, 3}), Scalar(1)}, MAKE { return UNUSED, es::SplitV(x, l[0], l[1], 2, 2)[1]; });
  Show("ExpandDims", {2, 2}, {Scalar(1)}, MAKE { return UNUSED, es::ExpandDims(x, l[0]); });
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  return 0;
}
