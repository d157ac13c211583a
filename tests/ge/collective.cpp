// Collectives in graphs: two ranks, each with a session on a device of its own, run graphs with HcomAllReduce,
// HcomAllGather and HcomReduceScatter.
#include "support.h"

#include <functional>
#include <memory>
#include <thread>

#include "ge/ge_ir_build.h"
#include "hccl/hccl.h"

namespace {

const uint32_t kRanks = 2;
const size_t kLength = 6;
HcclComm comms[kRanks];
char group[COMM_NAME_MAX_LENGTH];

ge::Graph Made(const char *name, const std::vector<ge::Operator> &inputs, const std::vector<ge::Operator> &outputs) {
  ge::Graph graph(name);
  graph.SetInputs(inputs).SetOutputs(outputs);
  return graph;
}

ge::op::HcomAllReduce Reduced(const char *name, ge::Operator x, const char *how, const char *of = group) {
  ge::op::HcomAllReduce reduced(name);
  reduced.set_input_x(x).set_attr_reduction(how).set_attr_group(of);
  return reduced;
}

ge::op::HcomAllGather Gathered(const char *name, ge::Operator x, int64_t ranks = kRanks, const char *of = group) {
  ge::op::HcomAllGather gathered(name);
  gathered.set_input_x(x).set_attr_rank_size(ranks).set_attr_group(of);
  return gathered;
}

ge::op::HcomReduceScatter Shared(const char *name, ge::Operator x, const char *how, int64_t ranks = kRanks) {
  ge::op::HcomReduceScatter shared(name);
  shared.set_input_x(x).set_attr_reduction(how).set_attr_rank_size(ranks).set_attr_group(group);
  return shared;
}

// Runs a function on a thread for each rank, with a session on the rank's device.
void OnRanks(const std::function<void(uint32_t rank, ge::Session &session)> &work) {
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([rank, &work] {
      CHECK(aclrtSetDevice(static_cast<int32_t>(rank)) == ACL_SUCCESS);
      ge::Session session(Options{{"ge.session_device_id", std::to_string(rank).c_str()}});
      work(rank, session);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

float Own(uint32_t rank, size_t at) { return 1.5f * static_cast<float>(at) - 2.0f + 10.0f * static_cast<float>(rank); }

std::vector<float> Owns(uint32_t rank) {
  std::vector<float> values;
  for (size_t at = 0; at < kLength; ++at) {
    values.push_back(Own(rank, at));
  }
  return values;
}

// Two collectives, with operators before, between and behind.
ge::Graph Chain(const char *name, const std::vector<int64_t> &dims) {
  ge::op::Data x = Input("x", 0, dims);
  ge::op::Muls twice("twice");
  twice.set_input_x(x).set_attr_value(2.0f);
  ge::op::HcomAllReduce sum = Reduced("sum", twice, "sum");
  ge::op::Add added("added");
  added.set_input_x1(sum).set_input_x2(x);
  ge::op::HcomAllGather all = Gathered("all", added);
  ge::op::Neg turned("turned");
  turned.set_input_x(all);
  return Made(name, {x}, {turned, sum});
}

void CheckChain(const std::vector<float> &turned, const std::vector<float> &sum) {
  CHECK(turned.size() == kRanks * kLength && sum.size() == kLength);
  for (size_t at = 0; at < kLength; ++at) {
    const float total = 2 * (Own(0, at) + Own(1, at));
    CHECK(std::fabs(sum[at] - total) < 1e-5f);
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      CHECK(std::fabs(turned[rank * kLength + at] + total + Own(rank, at)) < 1e-5f);
    }
  }
}

void Chains() {
  OnRanks([](uint32_t rank, ge::Session &session) {
    CHECK(session.AddGraph(1, Chain("fixed", {2, 3})) == ge::SUCCESS);
    CHECK(session.AddGraph(2, Chain("open", {-1, 3})) == ge::SUCCESS);
    for (uint32_t graph : {1, 2, 1}) {
      std::vector<ge::Tensor> outputs;
      CHECK(session.RunGraph(graph, {Floats({2, 3}, Owns(rank))}, outputs) == ge::SUCCESS);
      CheckChain(Values<float>(outputs[0]), Values<float>(outputs[1]));
      CHECK((outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>{4, 3}));
    }
    // On a stream, whose runs follow each other.
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    {
      const std::vector<float> twelve(2 * kLength), six(kLength);
      Block x(Owns(rank)), turned(twelve), sum(six);
      for (int time = 0; time < 3; ++time) {
        std::vector<ge::Tensor> outputs = {OnDevice(turned, {4, 3}), OnDevice(sum, {2, 3})};
        CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(x, {2, 3})}, outputs) == ge::SUCCESS);
      }
      CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
      CheckChain(turned.Get(), sum.Get());
    }
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  });
}

void Summary() {
  ge::Session session(Options{{"ge.session_device_id", "0"}});
  CHECK(session.AddGraph(1, Chain("summary", {2, 3})) == ge::SUCCESS && session.CompileGraph(1) == ge::SUCCESS);
  std::vector<ge::Shape> shapes;
  CHECK(session.GetCompiledGraphSummary(1)->GetOutputShapes(shapes) == ge::SUCCESS);
  CHECK((shapes[0].GetDims() == std::vector<int64_t>{4, 3} && shapes[1].GetDims() == std::vector<int64_t>{2, 3}));
}

// The bits of a float16: an integer from -2048 to 2048.
uint16_t Half(int value) {
  if (value == 0) {
    return 0;
  }
  int exponent = 0;
  for (int rest = std::abs(value); rest > 1; rest /= 2) {
    ++exponent;
  }
  const int mantissa = (std::abs(value) << 10 >> exponent) & 0x3ff;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | mantissa);
}

template <typename T>
T Element(ge::DataType type, int value) {
  return type == ge::DT_FLOAT16 ? static_cast<T>(Half(value)) : static_cast<T>(value);
}

// None is 0, whose products have two signs.
int Operand(uint32_t rank, size_t at) {
  const int number = static_cast<int>(at);
  return rank == 0 ? number - (number < 3 ? 3 : 2) : 3 - 2 * number;
}

template <typename T>
void Reduce(ge::DataType type, const char *how, const std::function<int(int, int)> &by) {
  OnRanks([&](uint32_t rank, ge::Session &session) {
    std::vector<T> own, wanted;
    for (size_t at = 0; at < kLength; ++at) {
      own.push_back(Element<T>(type, Operand(rank, at)));
      wanted.push_back(Element<T>(type, by(Operand(0, at), Operand(1, at))));
    }
    ge::op::Data x = Input("x", 0, {6}, type);
    CHECK(session.AddGraph(1, Made("reduce", {x}, {Reduced("reduced", x, how), Shared("shared", x, how)})) == ge::SUCCESS);
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(1, {Filled({6}, type, own)}, outputs) == ge::SUCCESS);
    CHECK(Values<T>(outputs[0]) == wanted && outputs[0].GetTensorDesc().GetDataType() == type);
    // Each rank has its own half.
    const std::vector<T> half(wanted.begin() + 3 * rank, wanted.begin() + 3 * rank + 3);
    CHECK(Values<T>(outputs[1]) == half && outputs[1].GetTensorDesc().GetDataType() == type);
  });
}

template <typename T>
void ReduceAll(ge::DataType type, bool product = true) {
  Reduce<T>(type, "sum", [](int a, int b) { return a + b; });
  Reduce<T>(type, "max", [](int a, int b) { return a > b ? a : b; });
  Reduce<T>(type, "min", [](int a, int b) { return a < b ? a : b; });
  if (product) {
    Reduce<T>(type, "prod", [](int a, int b) { return a * b; });
  }
}

template <typename T>
void Gather(ge::DataType type) {
  OnRanks([&](uint32_t rank, ge::Session &session) {
    std::vector<T> own, wanted;
    for (uint32_t from = 0; from < kRanks; ++from) {
      for (size_t at = 0; at < kLength; ++at) {
        const T value = static_cast<T>(20 * from + at + 1);
        wanted.push_back(value);
        if (from == rank) {
          own.push_back(value);
        }
      }
    }
    ge::op::Data x = Input("x", 0, {3, 2}, type);
    CHECK(session.AddGraph(1, Made("gather", {x}, {Gathered("gathered", x)})) == ge::SUCCESS);
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(1, {Filled({3, 2}, type, own)}, outputs) == ge::SUCCESS);
    CHECK(Values<T>(outputs[0]) == wanted);
    CHECK((outputs[0].GetTensorDesc().GetShape().GetDims() == std::vector<int64_t>{6, 2}));
  });
}

void Types() {
  ReduceAll<float>(ge::DT_FLOAT);
  ReduceAll<int32_t>(ge::DT_INT32);
  ReduceAll<int8_t>(ge::DT_INT8);
  ReduceAll<int16_t>(ge::DT_INT16, false);
  ReduceAll<uint16_t>(ge::DT_FLOAT16);
  ReduceAll<int64_t>(ge::DT_INT64);
  Gather<float>(ge::DT_FLOAT);
  Gather<int32_t>(ge::DT_INT32);
  Gather<int8_t>(ge::DT_INT8);
  Gather<int16_t>(ge::DT_INT16);
  // The bits of the elements, whatever they stand for.
  Gather<uint16_t>(ge::DT_FLOAT16);
  Gather<uint16_t>(ge::DT_BF16);
  Gather<int64_t>(ge::DT_INT64);
  Gather<uint64_t>(ge::DT_UINT64);
  Gather<uint8_t>(ge::DT_UINT8);
  Gather<uint16_t>(ge::DT_UINT16);
  Gather<uint32_t>(ge::DT_UINT32);
  Gather<double>(ge::DT_DOUBLE);
}

// What a build refuses.
void Refused(const ge::Graph &graph, const char *what) {
  ge::Session session(Options{{"ge.session_device_id", "0"}});
  (void)ge::GEGetErrorMsgV2();
  const bool added = session.AddGraph(1, graph) == ge::SUCCESS;
  CHECK(!added || session.BuildGraph(1, std::vector<ge::Tensor>()) != ge::SUCCESS);
  CHECK(Contains(Error(), what));
}

// What a run refuses.
void Fails(const ge::Graph &graph, const ge::Tensor &input, const char *what) {
  ge::Session session(Options{{"ge.session_device_id", "0"}});
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraph(1, {input}, outputs) != ge::SUCCESS);
  CHECK(Contains(Error(), what));
}

// A graph of one operator on an input of its own: a graph has all that its inputs lead to.
ge::Graph One(const char *name, const std::function<ge::Operator(ge::Operator x)> &made, const std::vector<int64_t> &dims = {6},
              ge::DataType type = ge::DT_FLOAT) {
  ge::op::Data x = Input("x", 0, dims, type);
  return Made(name, {x}, {made(x)});
}

void Misuse() {
  typedef ge::Operator Op;
  const auto reduced = [](const char *name, const char *how, const std::string &of) {
    return [=](Op x) -> Op { return Reduced(name, x, how, of.c_str()); };
  };
  const auto gathered = [](int64_t ranks) { return [ranks](Op x) -> Op { return Gathered("all", x, ranks); }; };
  Refused(One("how", reduced("bad", "mean", group)),
          "node bad (HcomAllReduce): its attribute reduction is \"mean\"; \"sum\", \"prod\", \"max\" or \"min\" is required");
  Refused(One("nameless", reduced("bad", "sum", "")), "its attribute group has 0 bytes; the name of a communicator, of 1 to 128");
  Refused(One("long", reduced("bad", "sum", std::string(129, 'g'))), "its attribute group has 129 bytes");
  Refused(One("none", gathered(0)), "node all (HcomAllGather): its attribute rank_size is 0; 1 or more are required");
  Refused(One("type", reduced("bad", "sum", group), {6}, ge::DT_UINT8),
          "its input x is uint8; float32, int32, int8, int16, float16, int64 are supported");
  Refused(One("scalar", gathered(kRanks), {}), "its input x has no dimension along which the parts of ranks could lie");
  Refused(One("odd", [](Op x) -> Op { return Shared("share", x, "sum"); }, {5, 2}),
          "node share (HcomReduceScatter): its input x is float32[5, 2], whose first dimension 2 ranks cannot share equally");
  Refused(One("loose", [](Op x) -> Op {
            ge::op::HcomAllReduce loose("loose");
            loose.set_attr_reduction("sum").set_attr_group(group);
            ge::op::Add both("both");
            both.set_input_x1(x).set_input_x2(loose);
            return both;
          }), "node loose (HcomAllReduce): its input x is missing");
  const ge::Tensor six = Floats({6}, std::vector<float>(kLength, 1));
  Fails(One("unknown", reduced("lost", "sum", "strangers")), six,
        (std::string("node lost (HcomAllReduce): device 0 has no communicator \"strangers\", but [\"") + group + "\"]").c_str());
  Fails(One("three", gathered(3)), six, "its attribute rank_size is 3; communicator");
  Fails(One("product", reduced("product", "prod", group), {6}, ge::DT_INT16),
        Filled({6}, ge::DT_INT16, std::vector<int16_t>(kLength, 1)), "no product supports");
  // Offline models and bodies of control flow cannot hold them.
  ge::ModelBufferData model;
  CHECK(ge::aclgrphBuildModel(One("offline", reduced("sum", "sum", group)), Options(), model) != ge::GRAPH_SUCCESS);
  CHECK(Contains(Error(), "node sum (HcomAllReduce): a collective, which an offline model cannot hold"));
  ge::op::Data x = Input("x", 0, {6}), yes = Input("yes", 1, {1}, ge::DT_BOOL);
  ge::op::If branch("branch");
  branch.set_input_cond(yes).create_dynamic_input_input(1);
  branch.set_dynamic_input_input(0, x);
  branch.create_dynamic_output_output(1);
  const auto body = [&reduced] { return One("body", reduced("within", "sum", group)); };
  branch.set_subgraph_builder_then_branch(body).set_subgraph_builder_else_branch(body);
  Refused(Made("branches", {x, yes}, {branch}),
          "node within (HcomAllReduce): a collective, which is in a graph inside If (node branch): call it outside of control flow");
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr) == ACL_SUCCESS);
  int32_t devices[kRanks];
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    devices[rank] = static_cast<int32_t>(rank);
    CHECK(aclrtSetDevice(devices[rank]) == ACL_SUCCESS);
  }
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  CHECK(ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}}) == ge::SUCCESS);
  CHECK(HcclCommInitAll(kRanks, devices, comms) == HCCL_SUCCESS);
  CHECK(HcclGetCommName(comms[0], group) == HCCL_SUCCESS);
  Chains();
  Summary();
  Types();
  Misuse();
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    CHECK(HcclCommDestroy(comms[rank]) == HCCL_SUCCESS);
  }
  CHECK(ge::GEFinalize() == ge::SUCCESS);
  std::printf("collective: ok\n");
  return 0;
}
