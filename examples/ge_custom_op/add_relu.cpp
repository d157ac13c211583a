// A graph with an operator of the program's own: AddRelu, which runs two single operators. It stands between operators of the Graph
// Engine. The result is compared with plain loops.
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_relu.h"
#include "all_ops.h"
#include "ge/ge_api.h"
#include "graph/custom_op.h"
#include "graph/operator_reg.h"
#include "register/op_impl_registry.h"

// What a graph knows of the operator.
namespace ge {
REG_OP(AddRelu)
    .INPUT(x, TensorType::ALL())
    .INPUT(bias, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(AddRelu)
}  // namespace ge

namespace {

// The shape of the output is known when the graph is built.
uint32_t InferShape(gert::InferShapeContext *context) {
  *context->GetOutputShape(0) = *context->GetRequiredInputShape(0);
  return ge::GRAPH_SUCCESS;
}

aclTensor *Describe(const gert::Tensor *tensor) {
  const gert::Shape &shape = tensor->GetStorageShape();
  std::vector<int64_t> dims, strides(shape.GetDimNum(), 1);
  for (size_t at = 0; at < shape.GetDimNum(); ++at) {
    dims.push_back(shape.GetDim(at));
  }
  for (size_t at = dims.size(); at-- > 1;) {
    strides[at - 1] = strides[at] * dims[at];
  }
  return aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND, dims.data(), dims.size(),
                         const_cast<void *>(tensor->GetAddr()));
}

}  // namespace

IMPL_OP(AddRelu).InferShape(InferShape).InferOutDataTypeSameWithFirstInput();

class AddRelu : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    const gert::Tensor *x = ctx->GetRequiredInputTensor(0);
    const gert::Tensor *y = ctx->MallocOutputTensor(0, x->GetShape(), x->GetFormat(), x->GetDataType());
    if (y == nullptr) {
      return ge::GRAPH_FAILED;
    }
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclTensor *a = Describe(x), *b = Describe(ctx->GetRequiredInputTensor(1)), *out = Describe(y);
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    bool good = aclnnAddGetWorkspaceSize(a, b, alpha, out, &bytes, &executor) == 0 &&
                aclnnAdd(ctx->MallocWorkSpace(bytes), bytes, executor, ctx->GetStream()) == 0;
    good = good && aclnnInplaceReluGetWorkspaceSize(out, &bytes, &executor) == 0 &&
           aclnnInplaceRelu(ctx->MallocWorkSpace(bytes), bytes, executor, ctx->GetStream()) == 0;
    for (aclTensor *tensor : {a, b, out}) {
      aclDestroyTensor(tensor);
    }
    aclDestroyScalar(alpha);
    return good ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
  }
};
REG_AUTO_MAPPING_OP(AddRelu);

int main() {
  const int rows = 3, inner = 4, columns = 2;
  std::vector<float> x, w, bias = {0.5f, -0.5f};
  for (int at = 0; at < rows * inner; ++at) {
    x.push_back(std::sin(static_cast<float>(at)));
  }
  for (int at = 0; at < inner * columns; ++at) {
    w.push_back(std::cos(static_cast<float>(at)));
  }
  const auto tensor = [](const std::vector<float> &values, const std::vector<int64_t> &dims) {
    return ge::Tensor(ge::TensorDesc(ge::Shape(dims)), reinterpret_cast<const uint8_t *>(values.data()), values.size() * 4);
  };
  // x * w -> AddRelu -> Neg
  ge::op::Data data("x");
  data.update_output_desc_y(ge::TensorDesc(ge::Shape({rows, inner})));
  ge::op::Const weights("w"), addend("bias");
  weights.set_attr_value(tensor(w, {inner, columns}));
  addend.set_attr_value(tensor(bias, {columns}));
  ge::op::MatMulV2 product("product");
  product.set_input_x1(data).set_input_x2(weights);
  ge::op::AddRelu sum("sum");
  sum.set_input_x(product).set_input_bias(addend);
  ge::op::Neg neg("neg");
  neg.set_input_x(sum);
  ge::Graph graph("net");
  graph.SetInputs({data}).SetOutputs(std::vector<ge::Operator>{neg});

  std::map<ge::AscendString, ge::AscendString> none;
  if (aclInit(nullptr) != ACL_SUCCESS || ge::GEInitialize(none) != ge::SUCCESS) {
    return 2;
  }
  std::vector<ge::Tensor> outputs;
  {
    ge::Session session(none);
    if (session.AddGraph(1, graph) != ge::SUCCESS ||
        session.RunGraph(1, {tensor(x, {rows, inner})}, outputs) != ge::SUCCESS) {
      std::printf("%s\n", ge::GEGetErrorMsgV2().GetString());
      return 1;
    }
  }
  bool agrees = true;
  const float *found = reinterpret_cast<const float *>(outputs[0].GetData());
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      float wanted = bias[column];
      for (int at = 0; at < inner; ++at) {
        wanted += x[row * inner + at] * w[at * columns + column];
      }
      wanted = wanted > 0 ? -wanted : 0;
      std::printf("%s%.4f", column == 0 ? "" : " ", found[row * columns + column]);
      agrees = agrees && std::fabs(found[row * columns + column] - wanted) < 1e-5f;
    }
    std::printf("\n");
  }
  std::printf(agrees ? "the results agree\n" : "the results differ\n");
  return ge::GEFinalize() == ge::SUCCESS && aclFinalize() == ACL_SUCCESS && agrees ? 0 : 1;
}
