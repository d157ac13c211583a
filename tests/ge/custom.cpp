// Custom operators: classes of the program run nodes of a graph, by single operators and by copies, between operators of the engine.
#include "graph/custom_op.h"
#include "graph/operator_reg.h"
#include "register/op_impl_registry.h"

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"
#include "ge/ge_ir_build.h"
#include "support.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace ge {
REG_OP(OwnAdd)
    .INPUT(x1, TensorType::ALL())
    .OPTIONAL_INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axes, ListInt)
    .ATTR(alpha, Float, 1.0)
    .ATTR(label, String, "plain")
    .OP_END_FACTORY_REG(OwnAdd)
REG_OP(OwnRange)
    .INPUT(n, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(OwnRange)
REG_OP(OwnJoin)
    .OPTIONAL_INPUT(before, TensorType::ALL())
    .DYNAMIC_INPUT(x, TensorType::ALL())
    .INPUT(last, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(count, TensorType::ALL())
    .OP_END_FACTORY_REG(OwnJoin)
REG_OP(OwnScale)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(OwnScale)
REG_OP(OwnTwice)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(OwnTwice)
REG_OP(OwnFail)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(z, TensorType::ALL())
    .ATTR(how, Int, 0)
    .OP_END_FACTORY_REG(OwnFail)
REG_OP(OwnUnknown)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(OwnUnknown)
}  // namespace ge

namespace {

const gert::StorageFormat ND;

std::vector<int64_t> Dims(const gert::Tensor *tensor) {
  std::vector<int64_t> dims;
  for (size_t at = 0; at < tensor->GetStorageShape().GetDimNum(); ++at) {
    dims.push_back(tensor->GetStorageShape().GetDim(at));
  }
  return dims;
}

gert::StorageShape Shaped(const std::vector<int64_t> &dims) {
  gert::StorageShape shape;
  for (int64_t dim : dims) {
    shape.MutableStorageShape().AppendDim(dim);
    shape.MutableOriginShape().AppendDim(dim);
  }
  return shape;
}

// A tensor of single operators over the memory of a tensor of the graph.
struct Single {
  explicit Single(const gert::Tensor *tensor) {
    const std::vector<int64_t> dims = Dims(tensor);
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t at = dims.size(); at-- > 1;) {
      strides[at - 1] = strides[at] * dims[at];
    }
    const aclDataType type = static_cast<aclDataType>(static_cast<int>(tensor->GetDataType()));
    all = aclCreateTensor(dims.data(), dims.size(), type, strides.data(), 0, ACL_FORMAT_ND, dims.data(), dims.size(),
                          const_cast<void *>(tensor->GetAddr()));
    CHECK(all != nullptr);
  }
  ~Single() { (void)aclDestroyTensor(all); }
  aclTensor *all;
};

// The device of the thread has to be that of the graph, also on threads that never chose one.
void CheckContext() {
  aclrtContext context = nullptr;
  CHECK(aclrtGetCurrentContext(&context) == ACL_SUCCESS && context != nullptr);
}

}  // namespace

// y = x1 + alpha * x2, by aclnnAdd; a copy of x1 where x2 is absent.
class OwnAdd : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    CheckContext();
    const gert::Tensor *x1 = ctx->GetRequiredInputTensor(0);
    const gert::Tensor *x2 = ctx->GetOptionalInputTensor(1);
    CHECK(x1 != nullptr && ctx->GetInputTensor(0) == x1 && ctx->GetInputTensor(2) == nullptr);
    CHECK(ctx->GetComputeNodeInputNum() == (x2 == nullptr ? 1u : 2u) && ctx->GetComputeNodeOutputNum() == 1);
    const gert::RuntimeAttrs *attrs = ctx->GetAttrs();
    CHECK(attrs->GetAttrNum() == 3 && attrs->GetInt(7) == nullptr);
    CHECK(attrs->GetListInt(0)->GetSize() == 2 && attrs->GetListInt(0)->GetData()[1] == 5);
    CHECK(std::string(attrs->GetStr(2)) == "plain" && std::string(ctx->GetNodeType()) == "OwnAdd");
    gert::Tensor *y = ctx->MallocOutputTensor(0, x1->GetShape(), ND, x1->GetDataType());
    CHECK(y != nullptr && ctx->GetOutputTensor(0) == y);
    aclrtStream stream = static_cast<aclrtStream>(ctx->GetStream());
    if (x2 == nullptr) {
      return aclrtMemcpyAsync(y->GetAddr(), y->GetSize(), x1->GetAddr(), x1->GetSize(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                              stream) == ACL_SUCCESS ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
    }
    float alpha = *attrs->GetFloat(1);
    aclScalar *factor = aclCreateScalar(&alpha, ACL_FLOAT);
    Single a(x1), b(x2), out(y);
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    CHECK(aclnnAddGetWorkspaceSize(a.all, b.all, factor, out.all, &bytes, &executor) == 0);
    void *workspace = ctx->MallocWorkSpace(static_cast<size_t>(bytes) + 64);
    CHECK(workspace != nullptr && aclnnAdd(workspace, bytes, executor, stream) == 0);
    (void)aclDestroyScalar(factor);
    return ge::GRAPH_SUCCESS;
  }
};
REG_AUTO_MAPPING_OP(OwnAdd);

// y = 0, 1, ... n - 1: its shape is the value of an input, which was computed before.
class OwnRange : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    const gert::Tensor *n = ctx->GetInputTensor(0);
    int64_t count = -1;
    CHECK(n->GetSize() == 8 && n->GetDataType() == ge::DT_INT64);
    CHECK(aclrtMemcpy(&count, 8, n->GetAddr(), 8, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    gert::Tensor *y = ctx->MallocOutputTensor(0, Shaped({count}), ND, ge::DT_FLOAT);
    std::vector<float> values;
    for (int64_t at = 0; at < count; ++at) {
      values.push_back(static_cast<float>(at));
    }
    CHECK(y != nullptr && y->GetSize() == values.size() * 4);
    return values.empty() || aclrtMemcpy(y->GetAddr(), y->GetSize(), values.data(), y->GetSize(),
                                         ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
  }
};
IMPL_OP(OwnRange).InputsDataDependency({0});
REG_AUTO_MAPPING_OP(OwnRange);

// y: all elements of the inputs one after the other; count: how many of x there are.
class OwnJoin : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    std::vector<const gert::Tensor *> all;
    if (ctx->GetOptionalInputTensor(0) != nullptr) {
      all.push_back(ctx->GetOptionalInputTensor(0));
    }
    int64_t count = 0;
    while (const gert::Tensor *one = ctx->GetDynamicInputTensor(1, static_cast<size_t>(count))) {
      all.push_back(one);
      ++count;
    }
    CHECK(ctx->GetIrInputInstanceInfo(1)->GetInstanceNum() == static_cast<size_t>(count));
    CHECK(ctx->GetIrOutputInstanceInfo(1)->GetInstanceStart() == 1 && ctx->GetIrOutputInstanceInfo(2) == nullptr);
    all.push_back(ctx->GetRequiredInputTensor(2));
    CHECK(all.back() == ctx->GetInputTensor(all.size() - 1));
    int64_t elements = 0;
    for (const gert::Tensor *one : all) {
      elements += one->GetShapeSize();
    }
    gert::Tensor *y = ctx->MallocOutputTensor(0, Shaped({elements}), ND, ge::DT_FLOAT);
    gert::Tensor *number = ctx->MallocOutputTensor(1, gert::StorageShape(), ND, ge::DT_INT64);
    CHECK(y != nullptr && number != nullptr && number->GetSize() == 8);
    char *to = static_cast<char *>(y->GetAddr());
    for (const gert::Tensor *one : all) {
      CHECK(aclrtMemcpyAsync(to, one->GetSize(), one->GetAddr(), one->GetSize(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                             ctx->GetStream()) == ACL_SUCCESS);
      to += one->GetSize();
    }
    return aclrtMemcpy(number->GetAddr(), 8, &count, 8, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS ? ge::GRAPH_SUCCESS
                                                                                                  : ge::GRAPH_FAILED;
  }
};
REG_AUTO_MAPPING_OP(OwnJoin);

// Doubles its input in place.
class OwnScale : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    const gert::Tensor *x = ctx->GetInputTensor(0);
    float two = 2;
    aclScalar *factor = aclCreateScalar(&two, ACL_FLOAT);
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    Single own(x);
    CHECK(aclnnInplaceMulsGetWorkspaceSize(own.all, factor, &bytes, &executor) == 0);
    CHECK(aclnnInplaceMuls(ctx->MallocWorkSpace(static_cast<size_t>(bytes)), bytes, executor, ctx->GetStream()) == 0);
    (void)aclDestroyScalar(factor);
    const gert::Tensor *y = ctx->MakeOutputRefInput(0, 0);
    CHECK(y != nullptr && y->GetAddr() == x->GetAddr() && ctx->MakeOutputRefInput(1, 0) == nullptr);
    return ge::GRAPH_SUCCESS;
  }
};
REG_AUTO_MAPPING_OP(OwnScale);

namespace {
std::vector<std::vector<int64_t>> inferred;
uint32_t InferTwice(gert::InferShapeContext *context) {
  const gert::Shape *x = context->GetRequiredInputShape(0);
  gert::Shape *y = context->GetOutputShape(0);
  if (x->GetDimNum() != 2) {
    return ge::GRAPH_FAILED;
  }
  *y = gert::Shape({x->GetDim(0) * 2, x->GetDim(1)});
  inferred.push_back({y->GetDim(0), y->GetDim(1)});
  return ge::GRAPH_SUCCESS;
}
}  // namespace

// y: x twice, below each other. Its shape and type are inferred when the graph is built.
class OwnTwice : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    const gert::Tensor *x = ctx->GetInputTensor(0);
    const gert::Tensor *known = ctx->GetOutputTensor(0);
    CHECK(known->GetAddr() == nullptr && known->GetDataType() == x->GetDataType());
    gert::Tensor *y = ctx->MallocOutputTensor(0, known->GetShape(), known->GetFormat(), known->GetDataType());
    CHECK(y != nullptr && y->GetSize() == 2 * x->GetSize());
    for (size_t part = 0; part < 2; ++part) {
      CHECK(aclrtMemcpyAsync(static_cast<char *>(y->GetAddr()) + part * x->GetSize(), x->GetSize(), x->GetAddr(),
                             x->GetSize(), ACL_MEMCPY_DEVICE_TO_DEVICE, ctx->GetStream()) == ACL_SUCCESS);
    }
    return ge::GRAPH_SUCCESS;
  }
};
IMPL_OP(OwnTwice).InferShape(InferTwice).InferOutDataTypeSameWithFirstInput();
REG_AUTO_MAPPING_OP(OwnTwice);

class OwnFail : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *ctx) override {
    const gert::Tensor *x = ctx->GetInputTensor(0);
    CHECK(ctx->MallocOutputTensor(0, x->GetShape(), ND, x->GetDataType()) != nullptr);
    CHECK(ctx->MallocWorkSpace(1 << 20) != nullptr);
    switch (*ctx->GetAttrs()->GetInt(0)) {
      case 1: throw std::runtime_error("no kernel for this shape");
      case 2: return ge::GRAPH_SUCCESS;
      case 3: return ctx->MallocOutputTensor(2, x->GetShape(), ND, x->GetDataType()) == nullptr ? 5 : 0;
      case 4: throw 3;
      default: return 7;
    }
  }
};
REG_AUTO_MAPPING_OP(OwnFail);

namespace {

ge::op::OwnAdd Added(const char *name, ge::Operator x1, ge::Operator *x2, float alpha) {
  ge::op::OwnAdd add(name);
  add.set_input_x1(x1).set_attr_axes({4, 5}).set_attr_alpha(alpha);
  if (x2 != nullptr) {
    add.set_input_x2(*x2);
  }
  return add;
}

ge::Graph Made(const char *name, std::vector<ge::Operator> inputs, std::vector<ge::Operator> outputs) {
  ge::Graph graph(name);
  graph.SetInputs(inputs).SetOutputs(outputs);
  return graph;
}

// relu(x) -> OwnAdd(relu, y) -> neg -> OwnAdd(neg) -> square, and the first sum as well.
ge::Graph Chain(const char *name, const std::vector<int64_t> &dims) {
  ge::op::Data x = Input("x", 0, dims), y = Input("y", 1, dims);
  ge::op::Relu relu("relu");
  relu.set_input_x(x);
  ge::op::OwnAdd sum = Added("sum", relu, &y, 0.5f);
  ge::op::Neg neg("neg");
  neg.set_input_x(sum);
  ge::op::OwnAdd copied = Added("copied", neg, nullptr, 1);
  ge::op::Square square("square");
  square.set_input_x(copied);
  return Made(name, {x, y}, {square, sum});
}

std::vector<float> Sum(const std::vector<float> &x, const std::vector<float> &y) {
  std::vector<float> sum;
  for (size_t at = 0; at < x.size(); ++at) {
    sum.push_back((x[at] > 0 ? x[at] : 0) + 0.5f * y[at]);
  }
  return sum;
}

std::vector<float> Squares(std::vector<float> values) {
  for (float &value : values) {
    value *= value;
  }
  return values;
}

void Definitions() {
  std::vector<std::pair<ge::AscendString, ge::AscendString>> inputs, outputs, attrs;
  CHECK(GetRegisteredIrDef("OwnJoin", inputs, outputs, attrs) == ge::SUCCESS);
  CHECK(inputs.size() == 3 && inputs[0].second == "optional" && inputs[1].first == "x" && inputs[1].second == "dynamic");
  CHECK(outputs.size() == 2 && outputs[1].first == "count" && attrs.empty());
  CHECK(GetRegisteredIrDef("OwnAdd", inputs, outputs, attrs) == ge::SUCCESS);
  CHECK(attrs.size() == 3 && attrs[0].second == "VT_LIST_INT" && attrs[1].second == "VT_FLOAT" && attrs[2].second == "VT_STRING");
  CHECK(ge::OperatorFactory::IsExistOp("OwnAdd") && !ge::OperatorFactory::IsExistOp("OwnNothing"));
}

void HostRuns(ge::Session &session) {
  const std::vector<float> x = {-1, 2, 3, -4}, y = {10, 20, -30, 40};
  CHECK(session.AddGraph(1, Chain("chain", {2, 2})) == ge::SUCCESS);
  CHECK(session.BuildGraph(1, std::vector<ge::Tensor>{Floats({2, 2}, x), Floats({2, 2}, y)}) == ge::SUCCESS);
  for (int run = 0; run < 3; ++run) {
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(1, {Floats({2, 2}, x), Floats({2, 2}, y)}, outputs) == ge::SUCCESS && outputs.size() == 2);
    CHECK(Near(Values<float>(outputs[1]), Sum(x, y)));
    CHECK(Near(Values<float>(outputs[0]), Squares(Sum(x, y))));
    CHECK((outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>{2, 2}));
  }
  // On the thread of the session.
  aclrtEvent done = nullptr;
  CHECK(aclrtCreateEvent(&done) == ACL_SUCCESS);
  std::mutex lock;
  std::condition_variable changed;
  int ended = 0;
  for (int run = 0; run < 4; ++run) {
    CHECK(session.RunGraphAsync(1, {Floats({2, 2}, x), Floats({2, 2}, y)},
                                [&](ge::Status status, std::vector<ge::Tensor> &outputs) {
                                  CHECK(status == ge::SUCCESS && Near(Values<float>(outputs[1]), Sum(x, y)));
                                  const std::lock_guard<std::mutex> guard(lock);
                                  ++ended;
                                  changed.notify_one();
                                }) == ge::SUCCESS);
  }
  std::unique_lock<std::mutex> guard(lock);
  changed.wait(guard, [&]() { return ended == 4; });
  (void)aclrtDestroyEvent(done);
}

void DynamicShapes(ge::Session &session) {
  CHECK(session.AddGraph(2, Chain("open", {-1, 3})) == ge::SUCCESS);
  for (int64_t rows : {4, 1, 9, 4}) {
    std::vector<float> x, y;
    for (int64_t at = 0; at < rows * 3; ++at) {
      x.push_back(static_cast<float>(at % 5 - 2));
      y.push_back(static_cast<float>(at));
    }
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(2, {Floats({rows, 3}, x), Floats({rows, 3}, y)}, outputs) == ge::SUCCESS);
    CHECK(Near(Values<float>(outputs[0]), Squares(Sum(x, y)), 1e-3f));
    CHECK((outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>{rows, 3}));
  }
}

// The number of elements is computed by the graph, and the next operators get the shape that Execute chose.
void ValuesDecideShapes(ge::Session &session) {
  ge::op::Data n = Input("n", 0, {}, ge::DT_INT64), m = Input("m", 1, {}, ge::DT_INT64);
  ge::op::Add total("total");
  total.set_input_x1(n).set_input_x2(m);
  ge::op::OwnRange range("range");
  range.set_input_n(total);
  ge::op::Neg neg("neg");
  neg.set_input_x(range);
  CHECK(session.AddGraph(3, Made("range", {n, m}, {neg})) == ge::SUCCESS);
  for (int64_t count : {5, 0, 2}) {
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(3, {Filled<int64_t>({}, ge::DT_INT64, {count}), Filled<int64_t>({}, ge::DT_INT64, {1})}, outputs) ==
          ge::SUCCESS);
    std::vector<float> wanted;
    for (int64_t at = 0; at <= count; ++at) {
      wanted.push_back(static_cast<float>(-at));
    }
    CHECK(Near(Values<float>(outputs[0]), wanted));
  }
  // A constant is read without waiting for anything.
  ge::op::Data x = Input("x", 0, {3});
  ge::op::Const three = Constant<int64_t>("three", {}, ge::DT_INT64, {3});
  ge::op::OwnRange fixed("fixed");
  fixed.set_input_n(three);
  ge::op::Mul product("product");
  product.set_input_x1(x).set_input_x2(fixed);
  CHECK(session.AddGraph(4, Made("fixed", {x}, {product})) == ge::SUCCESS);
  for (int run = 0; run < 2; ++run) {
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(4, {Floats({3}, {7, 8, 9})}, outputs) == ge::SUCCESS);
    CHECK(Near(Values<float>(outputs[0]), {0, 8, 18}));
  }
}

void ListsAndAbsentInputs(ge::Session &session) {
  uint32_t number = 10;
  for (unsigned members : {0u, 1u, 3u}) {
    for (bool has_before : {false, true}) {
      ge::op::Data x = Input("x", 0, {2});
      ge::op::Abs abs("abs");
      abs.set_input_x(x);
      ge::op::OwnJoin join("join");
      if (has_before) {
        ge::op::Const before = Constant("before", {1}, {100});
        join.set_input_before(before);
      }
      join.create_dynamic_input_x(members);
      std::vector<float> wanted;
      if (has_before) {
        wanted.push_back(100);
      }
      for (unsigned at = 0; at < members; ++at) {
        join.set_dynamic_input_x(at, x);
        wanted.insert(wanted.end(), {-1, 2});
      }
      wanted.insert(wanted.end(), {1, 2});
      join.set_input_last(abs);
      ge::Graph graph("join");
      graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{join});
      CHECK(session.AddGraph(++number, graph) == ge::SUCCESS);
      std::vector<ge::Tensor> outputs;
      CHECK(session.RunGraph(number, {Floats({2}, {-1, 2})}, outputs) == ge::SUCCESS && outputs.size() == 2);
      CHECK(Near(Values<float>(outputs[0]), wanted));
      CHECK(Values<int64_t>(outputs[1])[0] == static_cast<int64_t>(members));
    }
  }
}

void InPlace(ge::Session &session) {
  ge::op::Data x = Input("x", 0, {3});
  ge::op::OwnScale first("first"), second("second");
  ge::op::Neg neg("neg");
  neg.set_input_x(x);
  first.set_input_x(neg);
  second.set_input_x(first);
  CHECK(session.AddGraph(5, Made("in_place", {x}, {second, first})) == ge::SUCCESS);
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraph(5, {Floats({3}, {1, 2, 3})}, outputs) == ge::SUCCESS);
  CHECK(Near(Values<float>(outputs[0]), {-4, -8, -12}));
  // The memory of an input of the graph is the program's own on a stream.
  ge::op::OwnScale direct("direct");
  ge::op::Data own = Input("own", 0, {3});
  direct.set_input_x(own);
  CHECK(session.AddGraph(6, Made("direct", {own}, {direct})) == ge::SUCCESS);
  Block memory(std::vector<float>{1, 2, 3}), result(std::vector<float>{0, 0, 0});
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  outputs = {OnDevice(result, {3})};
  CHECK(session.RunGraphWithStreamAsync(6, stream, {OnDevice(memory, {3})}, outputs) == ge::SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(Near(memory.Get(), {2, 4, 6}) && Near(result.Get(), {2, 4, 6}));
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

void Inference(ge::Session &session) {
  ge::op::Data x = Input("x", 0, {2, 3});
  ge::op::OwnTwice twice("twice");
  twice.set_input_x(x);
  ge::op::OwnTwice again("again");
  again.set_input_x(twice);
  CHECK(session.AddGraph(7, Made("twice", {x}, {again})) == ge::SUCCESS);
  inferred.clear();
  CHECK(session.CompileGraph(7) == ge::SUCCESS);
  CHECK((inferred == std::vector<std::vector<int64_t>>{{4, 3}, {8, 3}}));
  const ge::CompiledGraphSummaryPtr summary = session.GetCompiledGraphSummary(7);
  std::vector<ge::Shape> shapes;
  CHECK(summary != nullptr && summary->GetOutputShapes(shapes) == ge::SUCCESS && !summary->IsStatic());
  CHECK((shapes[0].GetDims() == std::vector<int64_t>{8, 3}));
  // A shape that the function refuses.
  ge::op::Data flat = Input("flat", 0, {4});
  ge::op::OwnTwice refused("refused");
  refused.set_input_x(flat);
  CHECK(session.AddGraph(8, Made("refused", {flat}, {refused})) == ge::SUCCESS);
  CHECK(session.BuildGraph(8, std::vector<ge::Tensor>()) != ge::SUCCESS);
  CHECK(Contains(Error(), "InferShape of the custom operator OwnTwice (node refused) returned the status"));
}

void Failures(ge::Session &session) {
  const char *wanted[] = {
      "Execute of the custom operator OwnFail (node fail) returned the status 7",
      "Execute of the custom operator OwnFail (node fail) threw an exception: no kernel for this shape",
      "Execute of the custom operator OwnFail (node fail) left output 1 (z) without memory",
      "the operator has 2 outputs",
      "Execute of the custom operator OwnFail (node fail) threw an exception",
  };
  for (int64_t how = 0; how < 5; ++how) {
    ge::op::Data x = Input("x", 0, {1024});
    ge::op::Relu relu("relu");
    relu.set_input_x(x);
    ge::op::OwnFail fail("fail");
    fail.set_input_x(relu).set_attr_how(how);
    ge::Graph graph("fail");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{fail});
    const uint32_t number = 20 + static_cast<uint32_t>(how);
    CHECK(session.AddGraph(number, graph) == ge::SUCCESS);
    size_t free_before = 0, free_after = 0, total = 0;
    for (int run = 0; run < 5; ++run) {
      std::vector<ge::Tensor> outputs;
      CHECK(session.RunGraph(number, {Floats({1024}, std::vector<float>(1024, 1))}, outputs) == ge::FAILED);
      CHECK(Contains(Error(), wanted[how]));
      CHECK(aclrtGetMemInfo(ACL_HBM_MEM, run == 0 ? &free_before : &free_after, &total) == ACL_SUCCESS);
    }
    CHECK(free_after == free_before);
  }
}

void Refused(ge::Session &session) {
  ge::op::Data x = Input("x", 0, {2});
  ge::op::OwnUnknown unknown("unknown");
  unknown.set_input_x(x);
  CHECK(session.AddGraph(30, Made("unknown", {x}, {unknown})) == ge::SUCCESS);
  CHECK(session.BuildGraph(30, std::vector<ge::Tensor>()) != ge::SUCCESS && Contains(Error(), "OwnUnknown (node unknown)"));
  // Behind a custom operator, too.
  ge::op::OwnAdd add = Added("add", x, nullptr, 1);
  ge::op::OwnUnknown behind("behind");
  behind.set_input_x(add);
  CHECK(session.AddGraph(31, Made("behind", {x}, {behind})) == ge::SUCCESS);
  CHECK(session.BuildGraph(31, std::vector<ge::Tensor>()) != ge::SUCCESS && Contains(Error(), "OwnUnknown (node behind)"));
  // Inside control flow.
  ge::op::Const condition = Constant<int32_t>("condition", {}, ge::DT_INT32, {1});
  ge::op::If branch("branch");
  branch.set_input_cond(condition);
  branch.create_dynamic_input_input(1).set_dynamic_input_input(0, x);
  branch.create_dynamic_output_output(1);
  const auto body = []() {
    ge::op::Data own = Input("own", 0, {2});
    ge::op::OwnAdd inside = Added("inside", own, nullptr, 1);
    return Made("body", {own}, {inside});
  };
  branch.set_subgraph_builder_then_branch(body).set_subgraph_builder_else_branch(body);
  CHECK(session.AddGraph(32, Made("branch", {x, condition}, {branch})) != ge::SUCCESS);
  CHECK(Contains(Error(), "the custom operator OwnAdd (node inside) is in a graph inside If (node branch)"));
  // A model file has no functions of the program.
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(Chain("file", {2}), Options(), model) != ge::GRAPH_SUCCESS && Contains(Error(), "OwnAdd"));
}

// Allocates each block for itself, and fills it with numbers that no run computes.
class Blocks : public ge::Allocator {
 public:
  ge::MemBlock *Malloc(size_t size) override {
    void *address = nullptr;
    CHECK(aclrtMalloc(&address, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    CHECK(aclrtMemset(address, size, 0x3f, size) == ACL_SUCCESS);
    ++blocks;
    return new ge::MemBlock(*this, address, size);
  }
  void Free(ge::MemBlock *block) override {
    CHECK(aclrtFree(block->GetAddr()) == ACL_SUCCESS);
    --blocks;
    delete block;
  }
  int blocks = 0;
};

std::vector<float> OfDevice(const ge::Tensor &tensor) {
  std::vector<float> values(tensor.GetSize() / sizeof(float));
  CHECK(aclrtMemcpy(values.data(), tensor.GetSize(), tensor.GetData(), tensor.GetSize(), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  return values;
}

// Runs are queued behind what blocks their stream. The calls return, and the values are there when the stream has passed them: in memory
// of the program, of the session and of the program's allocator.
void ABlockedStreamDoesNotBlockTheCall(ge::Session &session) {
  CHECK(session.AddGraph(41, Chain("blocked", {-1})) == ge::SUCCESS);
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  std::promise<void> opened;
  std::shared_future<void> open = opened.get_future().share();
  CHECK(aclrtLaunchHostFunc(stream, [](void *future) { static_cast<std::shared_future<void> *>(future)->wait(); }, &open) ==
        ACL_SUCCESS);
  {
    Block a({1, 2}), b({3, 5}), squares({0, 0}), sum({0, 0});
    const std::vector<ge::Tensor> inputs = {OnDevice(a, {2}), OnDevice(b, {2})};
    std::vector<ge::Tensor> outputs = {OnDevice(squares, {2}), OnDevice(sum, {2})}, own, allocated;
    CHECK(session.BuildGraph(41, inputs) == ge::SUCCESS);
    CHECK(session.RunGraphWithStreamAsync(41, stream, inputs, outputs) == ge::SUCCESS);
    CHECK(session.RunGraphWithStreamAsync(41, stream, inputs, own) == ge::SUCCESS);
    const std::shared_ptr<Blocks> allocator = std::make_shared<Blocks>();
    CHECK(session.RegisterExternalAllocator(stream, allocator) == ge::SUCCESS);
    CHECK(session.RunGraphWithStreamAsync(41, stream, inputs, allocated) == ge::SUCCESS && allocator->blocks == 2);
    {
      // Outputs that the program drops before the run has written them.
      std::vector<ge::Tensor> dropped;
      CHECK(session.UnregisterExternalAllocator(stream) == ge::SUCCESS);
      CHECK(session.RunGraphWithStreamAsync(41, stream, inputs, dropped) == ge::SUCCESS);
    }
    Block next({7, 7}), other({7, 7});
    CHECK(Near(sum.Get(), {0, 0}));
    opened.set_value();
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(Near(sum.Get(), {2.5f, 4.5f}) && Near(squares.Get(), {6.25f, 20.25f}));
    for (const std::vector<ge::Tensor> &found : {own, allocated}) {
      CHECK(found.size() == 2 && Near(OfDevice(found[0]), {6.25f, 20.25f}) && Near(OfDevice(found[1]), {2.5f, 4.5f}));
    }
    CHECK(Near(next.Get(), {7, 7}) && Near(other.Get(), {7, 7}));
    own.clear();
    allocated.clear();
    CHECK(allocator->blocks == 0);
  }
  CHECK(session.RemoveGraph(41) == ge::SUCCESS);
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
}

// Runs on two streams at once, with memory for the outputs and without.
void Streams(ge::Session &session) {
  CHECK(session.AddGraph(40, Chain("streams", {-1})) == ge::SUCCESS);
  const auto run = [&session](float start, int64_t count) {
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    std::vector<float> x, y;
    for (int64_t at = 0; at < count; ++at) {
      x.push_back(start + static_cast<float>(at % 7) - 3);
      y.push_back(static_cast<float>(at % 11));
    }
    {
      Block a(x), b(y), squares(x), sum(x);
      for (int times = 0; times < 10; ++times) {
        std::vector<ge::Tensor> outputs = {OnDevice(squares, {count}), OnDevice(sum, {count})};
        CHECK(session.RunGraphWithStreamAsync(40, stream, {OnDevice(a, {count}), OnDevice(b, {count})}, outputs) == ge::SUCCESS);
        std::vector<ge::Tensor> own;
        CHECK(session.RunGraphWithStreamAsync(40, stream, {OnDevice(a, {count}), OnDevice(b, {count})}, own) == ge::SUCCESS);
        CHECK(own.size() == 2 && own[1].GetSize() == static_cast<size_t>(count) * 4);
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
        std::vector<float> found(static_cast<size_t>(count));
        CHECK(aclrtMemcpy(found.data(), found.size() * 4, own[1].GetData(), found.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST) ==
              ACL_SUCCESS);
        CHECK(Near(found, Sum(x, y)));
        CHECK(Near(sum.Get(), Sum(x, y)) && Near(squares.Get(), Squares(Sum(x, y)), 1e-2f));
        squares.Set(x);
        sum.Set(x);
      }
    }
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  };
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraph(40, {Floats({2}, {1, 2}), Floats({2}, {1, 2})}, outputs) == ge::SUCCESS);
  std::thread other(run, 1.0f, 5000);
  run(-2.0f, 700);
  other.join();
}

}  // namespace

// The class that is registered last runs the operator.
namespace second {
class OwnScale : public ge::EagerExecuteOp {
 public:
  ge::graphStatus Execute(gert::EagerOpExecutionContext *) override { return 99; }
};
}  // namespace second

namespace {
void Replaced(ge::Session &session) {
  (void)Warning();
  {
    const ge::CustomOpCreatorRegister registered("OwnScale", []() {
      return std::unique_ptr<ge::BaseCustomOp>(new second::OwnScale());
    });
    CHECK(Contains(Warning(), "the custom operator OwnScale was registered again"));
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(5, {Floats({3}, {1, 2, 3})}, outputs) != ge::SUCCESS && Contains(Error(), "returned the status 99"));
  }
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraph(5, {Floats({3}, {1, 2, 3})}, outputs) == ge::SUCCESS);
}
}  // namespace

int main() {
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  Definitions();
  size_t before = 0, after = 0, total = 0;
  for (int round = 0; round < 3; ++round) {
    {
      ge::Session session((Options()));
      HostRuns(session);
      DynamicShapes(session);
      ValuesDecideShapes(session);
      ListsAndAbsentInputs(session);
      InPlace(session);
      Inference(session);
      Failures(session);
      Refused(session);
      ABlockedStreamDoesNotBlockTheCall(session);
      Streams(session);
      Replaced(session);
      CHECK(session.RemoveGraph(1) == ge::SUCCESS);
    }
    // A session releases all of its memory.
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, round == 0 ? &before : &after, &total) == ACL_SUCCESS);
  }
  CHECK(after == before);
  CHECK(ge::GEFinalize() == ge::SUCCESS && aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS);
  std::printf("custom: ok\n");
  return 0;
}
