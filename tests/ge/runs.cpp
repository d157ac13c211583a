// Every way to run a graph: what it takes, what it answers, and in which order things happen.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ge/ge_api_v2.h"
#include "support.h"

namespace {

// y = x * 2 + k
ge::Graph Line(const char *name, const std::vector<int64_t> &dims, float k) {
  ge::op::Data x = Input("x", 0, dims);
  ge::op::Const two = Constant("two", {1}, {2}), constant = Constant("k", {1}, {k});
  ge::op::Mul product("product");
  product.set_input_x1(x).set_input_x2(two);
  ge::op::Add sum("sum");
  sum.set_input_x1(product).set_input_x2(constant);
  ge::Graph graph(name);
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{sum});
  return graph;
}

gert::Tensor Runtime(void *memory, size_t bytes, gert::TensorPlacement placement, int64_t count) {
  gert::Tensor tensor({{count}, {count}}, {ge::FORMAT_ND, ge::FORMAT_ND, {}}, placement, ge::DT_FLOAT, memory);
  tensor.SetSize(bytes);
  return tensor;
}

std::vector<gert::Tensor> One(gert::Tensor tensor) {
  std::vector<gert::Tensor> list;
  list.push_back(std::move(tensor));
  return list;
}

std::vector<float> OnHost(const gert::Tensor &tensor) {
  const float *data = tensor.GetData<float>();
  return std::vector<float>(data, data + tensor.GetSize() / sizeof(float));
}

// A door on a stream: what comes behind it waits until it is opened.
struct Door {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  static void Wait(void *user) {
    Door *self = static_cast<Door *>(user);
    std::unique_lock<std::mutex> lock(self->mutex);
    self->changed.wait(lock, [self] { return self->open; });
  }
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex);
    open = true;
    changed.notify_all();
  }
};

void ReturnsBeforeTheWorkIsDone(aclrtStream stream) {
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS);
  CHECK(session.BuildGraph(1, std::vector<ge::Tensor>()) == ge::SUCCESS);
  Block x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>{0, 0, 0, 0});
  Door door;
  CHECK(aclrtLaunchHostFunc(stream, &Door::Wait, &door) == ACL_SUCCESS);
  std::vector<ge::Tensor> outputs = {OnDevice(y, {4})};
  CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(x, {4})}, outputs) == ge::SUCCESS);
  // The input is read when the run's turn comes, not before: this copy is ahead of it in no stream, but in time.
  CHECK(Near(y.Get(), {0, 0, 0, 0}));
  x.Set({10, 20, 30, 40});
  // What is taken out of the session while it runs is taken out when it is done.
  CHECK(session.RemoveGraph(1) == ge::SUCCESS && session.IsGraphNeedRebuild(1));
  door.Open();
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(Near(y.Get(), {21, 41, 61, 81}));
  CHECK(outputs[0].GetData() == y.address());
}

void OrderHoldsAcrossStreams(aclrtStream first, aclrtStream second) {
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS);
  Block x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>(4)), z(std::vector<float>(4));
  aclrtEvent event = nullptr;
  CHECK(aclrtCreateEvent(&event) == ACL_SUCCESS);
  std::vector<ge::Tensor> a = {OnDevice(y, {4})}, b = {OnDevice(z, {4})};
  for (int turn = 0; turn < 50; ++turn) {
    y.Set({0, 0, 0, 0});
    CHECK(session.RunGraphWithStreamAsync(1, first, {OnDevice(x, {4})}, a) == ge::SUCCESS);
    CHECK(aclrtRecordEvent(event, first) == ACL_SUCCESS);
    CHECK(aclrtStreamWaitEvent(second, event) == ACL_SUCCESS);
    // The same graph again, on another stream, on what the first run wrote.
    CHECK(session.RunGraphWithStreamAsync(1, second, {OnDevice(y, {4})}, b) == ge::SUCCESS);
    CHECK(aclrtSynchronizeStream(second) == ACL_SUCCESS);
    CHECK(Near(z.Get(), {7, 11, 15, 19}));
  }
  // And at once on both streams, without an event: each has its own results.
  Block v(std::vector<float>{5, 6, 7, 8});
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<ge::Tensor> c = {OnDevice(y, {4})}, d = {OnDevice(z, {4})};
    CHECK(session.RunGraphWithStreamAsync(1, first, {OnDevice(x, {4})}, c) == ge::SUCCESS);
    CHECK(session.RunGraphWithStreamAsync(1, second, {OnDevice(v, {4})}, d) == ge::SUCCESS);
    CHECK(aclrtSynchronizeStream(first) == ACL_SUCCESS && aclrtSynchronizeStream(second) == ACL_SUCCESS);
    CHECK(Near(y.Get(), {3, 5, 7, 9}) && Near(z.Get(), {11, 13, 15, 17}));
  }
  CHECK(aclrtDestroyEvent(event) == ACL_SUCCESS);
}

void OutputsOfBuiltAndUnbuiltGraphs(aclrtStream stream) {
  ge::Session session((Options()));
  Block x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>(4));
  const std::vector<ge::Tensor> inputs = {OnDevice(x, {4})};
  std::vector<ge::Tensor> none, two = {OnDevice(y, {4}), OnDevice(y, {4})}, one = {OnDevice(y, {4})};
  // Before it is built, a graph takes exactly as many outputs as it has.
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS);
  CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, none) == ge::FAILED && Contains(Error(), "1 outputs"));
  CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, two) == ge::FAILED && Contains(Error(), "2 are given"));
  CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, one) == ge::SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS && Near(y.Get(), {3, 5, 7, 9}));
  // Once it is, none are allowed as well: the memory is the session's, and lives as long as the tensor does.
  CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, none) == ge::SUCCESS && none.size() == 1);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(none[0].GetTensorDesc().GetPlacement() == ge::kPlacementDevice && none[0].GetSize() == 16);
  std::vector<float> host(4);
  CHECK(aclrtMemcpy(host.data(), 16, none[0].GetData(), 16, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  CHECK(Near(host, {3, 5, 7, 9}));
  CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, two) == ge::FAILED);
  // One without memory is given some.
  std::vector<ge::Tensor> empty = {ge::Tensor(Desc({4}))};
  CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, empty) == ge::SUCCESS && empty[0].GetData() != nullptr);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  // After BuildGraph, after CompileGraph, and after neither: this call takes all three.
  CHECK(session.AddGraph(2, Line("two", {4}, 2)) == ge::SUCCESS && session.AddGraph(3, Line("three", {4}, 3)) == ge::SUCCESS);
  CHECK(session.BuildGraph(2, std::vector<ge::Tensor>()) == ge::SUCCESS && session.CompileGraph(3) == ge::SUCCESS);
  for (uint32_t graph = 2; graph <= 3; ++graph) {
    std::vector<ge::Tensor> given;
    CHECK(session.RunGraphWithStreamAsync(graph, stream, inputs, given) == ge::SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(aclrtMemcpy(host.data(), 16, given[0].GetData(), 16, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    CHECK(std::fabs(host[0] - (2 + static_cast<float>(graph))) < 1e-6f);
  }
  CHECK(session.RunGraphWithStreamAsync(9, stream, inputs, one) == ge::FAILED && Contains(Error(), "no graph 9"));
}

void TheTwoFamiliesOfCalls(aclrtStream stream) {
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  const uint32_t not_exist = 1343242242, unsupported = 1343225956, not_built = 1343242295, invalid = 1343225857;
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS && session.AddGraph(2, Line("other", {4}, 5)) == ge::SUCCESS);
  // Ids that were not added.
  CHECK(session.RunGraph(9, {}, outputs) == not_exist && session.BuildGraph(9, std::vector<ge::Tensor>()) == not_exist);
  uint32_t heard = 0;
  CHECK(session.RunGraphAsync(9, {}, [&heard](ge::Status status, std::vector<ge::Tensor> &) { heard = status; }) == not_exist);
  CHECK(heard == not_exist);
  CHECK(session.CompileGraph(9) == invalid && session.RemoveGraph(9) == ge::FAILED);
  CHECK(session.SetGraphConstMemoryBase(9, nullptr, 0) == not_exist);
  CHECK(session.LoadGraph(9, Options(), nullptr) == ge::FAILED && session.IsGraphNeedRebuild(9));
  // Before CompileGraph.
  CHECK(session.GetCompiledGraphSummary(1) == nullptr);
  CHECK(session.SetGraphConstMemoryBase(1, nullptr, 0) == not_built);
  CHECK(session.UpdateGraphFeatureMemoryBase(1, nullptr, 0) == not_built);
  CHECK(session.SetGraphFixedFeatureMemoryBase(1, nullptr, 0) == not_built);
  CHECK(session.UpdateGraphRefreshableFeatureMemoryBase(1, nullptr, 0) == not_built);
  CHECK(session.LoadGraph(1, Options(), nullptr) == ge::FAILED && Contains(Error(), "CompileGraph"));
  std::vector<gert::Tensor> runtime_outputs;
  Block x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>(4));
  const std::vector<gert::Tensor> inputs = One(Runtime(x.address(), 16, gert::kOnDeviceHbm, 4));
  CHECK(session.ExecuteGraphWithStreamAsync(1, stream, inputs, runtime_outputs) == ge::FAILED && Contains(Error(), "LoadGraph"));
  // And after it.
  CHECK(session.CompileGraph(1) == ge::SUCCESS && session.CompileGraph(1) == ge::SUCCESS && Contains(Warning(), "already"));
  const ge::CompiledGraphSummaryPtr summary = session.GetCompiledGraphSummary(1);
  CHECK(summary != nullptr && summary->IsStatic());
  size_t constant = 0, feature = 0, streams = 0, events = 9;
  CHECK(summary->GetConstMemorySize(constant) == ge::SUCCESS && summary->GetFeatureMemorySize(feature) == ge::SUCCESS);
  CHECK(summary->GetStreamNum(streams) == ge::SUCCESS && summary->GetEventNum(events) == ge::SUCCESS && streams == 1 && events == 0);
  std::vector<ge::Shape> shapes;
  std::vector<ge::DataType> types;
  CHECK(summary->GetOutputShapes(shapes) == ge::SUCCESS && shapes.size() == 1 && shapes[0].GetDims() == std::vector<int64_t>{4});
  CHECK(summary->GetOutputDtypes(types) == ge::SUCCESS && types == std::vector<ge::DataType>{ge::DT_FLOAT});
  CHECK(summary->GetAllFeatureMemoryTypeSize().size() == 1);
  Block constants(constant + 64), between(feature + 64);
  CHECK(session.SetGraphConstMemoryBase(1, constants.address(), constant) == ge::SUCCESS);
  CHECK(session.UpdateGraphFeatureMemoryBase(1, between.address(), feature) == ge::SUCCESS);
  CHECK(session.SetGraphFixedFeatureMemoryBaseWithType(1, ge::MEMORY_TYPE_DEFAULT, between.address(), 0) == ge::SUCCESS);
  CHECK(session.RunGraph(1, {Floats({4}, {1, 2, 3, 4})}, outputs) == unsupported && Contains(Error(), "CompileGraph"));
  CHECK(session.BuildGraph(1, std::vector<ge::Tensor>()) == unsupported);
  CHECK(session.RunGraphAsync(1, {}, [](ge::Status, std::vector<ge::Tensor> &) {}) == unsupported);
  CHECK(session.LoadGraph(1, Options(), stream) == ge::SUCCESS && session.LoadGraph(1, Options(), stream) == ge::FAILED);
  CHECK(session.ExecuteGraphWithStreamAsync(1, stream, inputs, runtime_outputs) == ge::SUCCESS && runtime_outputs.size() == 1);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  std::vector<float> host(4);
  CHECK(runtime_outputs[0].GetPlacement() == gert::kOnDeviceHbm && runtime_outputs[0].GetSize() == 16);
  CHECK(aclrtMemcpy(host.data(), 16, runtime_outputs[0].GetAddr(), 16, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  CHECK(Near(host, {3, 5, 7, 9}));
  runtime_outputs = One(Runtime(y.address(), 16, gert::kOnDeviceHbm, 4));
  CHECK(ge::GeSessionExecuteGraphWithStreamAsync(session, 1, stream, inputs, runtime_outputs) == ge::SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS && Near(y.Get(), {3, 5, 7, 9}));
  CHECK(runtime_outputs[0].GetAddr() == y.address());
  // The other family.
  CHECK(session.RunGraph(2, {Floats({4}, {1, 2, 3, 4})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {7, 9, 11, 13}));
  CHECK(!session.IsGraphNeedRebuild(2) && session.BuildGraph(2, std::vector<ge::Tensor>()) == ge::SUCCESS);
  CHECK(session.CompileGraph(2) == unsupported);
  // A number that is taken keeps its graph; the graph may not have two numbers; a copy may.
  ge::Graph graph = Line("third", {4}, 100);
  CHECK(session.AddGraph(2, graph) == ge::SUCCESS && Contains(Warning(), "already"));
  CHECK(session.RunGraph(2, {Floats({4}, {0, 0, 0, 0})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {5, 5, 5, 5}));
  CHECK(session.AddGraph(3, graph) == ge::SUCCESS && session.AddGraph(4, graph) == ge::FAILED);
  CHECK(session.AddGraphWithCopy(3, graph) == ge::FAILED && session.AddGraphWithCopy(5, graph) == ge::SUCCESS);
  CHECK(session.RunGraph(5, {Floats({4}, {0, 0, 0, 0})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {100, 100, 100, 100}));
  CHECK(session.RemoveGraph(2) == ge::SUCCESS && session.RunGraph(2, {}, outputs) == not_exist);
  // A model of what was compiled is a file as others are.
  ge::GeSession newer((Options()));
  CHECK(newer.AddGraphClone(1, graph) == ge::SUCCESS && newer.CompileGraph(1) == ge::SUCCESS);
  ge::ModelBufferData model;
  CHECK(newer.GetCompiledModel(1, model) == ge::SUCCESS);
  uint32_t id = 0;
  CHECK(aclmdlLoadFromMem(model.data.get(), model.length, &id) == ACL_SUCCESS && aclmdlUnload(id) == ACL_SUCCESS);
}

void TheNewerSession(aclrtStream stream) {
  CHECK(ge::GEInitializeV2(Options()) == ge::SUCCESS);
  ge::GeSession session((Options()));
  for (uint32_t graph = 1; graph <= 3; ++graph) {
    CHECK(session.AddGraph(graph, Line("line", {-1}, 1), Options()) == ge::SUCCESS);
  }
  CHECK(session.IsGraphNeedRebuild(1) && session.GetSessionId() != 0);
  CHECK(session.CompileGraph(1, {ge::Tensor(Desc({4}))}) == ge::SUCCESS && session.GetCompiledGraphSummary(1) != nullptr);
  std::vector<float> host = {1, 2, 3, 4};
  std::vector<gert::Tensor> outputs;
  const std::vector<gert::Tensor> inputs = One(Runtime(host.data(), 16, gert::kOnHost, 4));
  // From host memory: what was compiled runs here.
  CHECK(session.RunGraph(1, inputs, outputs) == ge::SUCCESS && outputs.size() == 1);
  CHECK(outputs[0].GetPlacement() == gert::kOnHost && outputs[0].GetStorageShape() == gert::Shape({4}));
  CHECK(Near(OnHost(outputs[0]), {3, 5, 7, 9}));
  // Into memory that the program brought, and refused where that is too small.
  std::vector<float> own(4);
  outputs = One(Runtime(own.data(), 16, gert::kOnHost, 4));
  CHECK(session.RunGraph(1, inputs, outputs) == ge::SUCCESS && Near(own, {3, 5, 7, 9}) && outputs[0].GetAddr() == own.data());
  outputs = One(Runtime(own.data(), 8, gert::kOnHost, 2));
  CHECK(session.RunGraph(1, inputs, outputs) == ge::FAILED && Contains(Error(), "smaller"));
  // Results outlive the session, and memory is shared by count.
  outputs.clear();
  CHECK(session.RunGraph(1, inputs, outputs) == ge::SUCCESS);
  gert::TensorData shared;
  CHECK(shared.ShareFrom(outputs[0].GetTensorData()) == ge::GRAPH_SUCCESS && shared.IsSharedWith(outputs[0].GetTensorData()));
  outputs.clear();
  CHECK(static_cast<float *>(shared.GetAddr())[3] == 9);
  // By a queue.
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<float>> heard;
  for (float turn = 0; turn < 3; ++turn) {
    std::vector<float> mine = {turn};
    CHECK(session.RunGraphAsync(2, One(Runtime(mine.data(), 4, gert::kOnHost, 1)), [&](ge::Status status, std::vector<gert::Tensor> &results) {
      CHECK(status == ge::SUCCESS && results.size() == 1);
      const std::lock_guard<std::mutex> lock(mutex);
      heard.push_back(OnHost(results[0]));
      changed.notify_all();
    }) == ge::SUCCESS);
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return heard.size() == 3; });
  CHECK(heard[0][0] == 1 && heard[1][0] == 3 && heard[2][0] == 5);
  // On a stream; the shape differs each time and is reported.
  for (int64_t count = 1; count <= 3; ++count) {
    Block x(std::vector<float>(static_cast<size_t>(count), 5)), y(std::vector<float>(8));
    outputs = One(Runtime(y.address(), 32, gert::kOnDeviceHbm, 8));
    CHECK(session.RunGraphWithStreamAsync(3, stream, One(Runtime(x.address(), 0, gert::kOnDeviceHbm, count)), outputs) == ge::SUCCESS);
    CHECK(outputs[0].GetStorageShape() == gert::Shape({count}));
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(y.Get()[static_cast<size_t>(count) - 1] == 11 && y.Get()[static_cast<size_t>(count)] == 0);
  }
  // One way for each graph.
  CHECK(session.RunGraph(3, inputs, outputs) == ge::FAILED && Contains(Error(), "do not mix"));
  CHECK(session.RemoveGraph(3) == ge::SUCCESS);
}

// Hands out memory of one block.
class Own : public ge::Allocator {
 public:
  explicit Own(size_t bytes) : all_(bytes) {}
  ge::MemBlock *Malloc(size_t size) override {
    ++given;
    last = size;
    return new ge::MemBlock(*this, all_.address(), size);
  }
  void Free(ge::MemBlock *block) override {
    ++taken;
    delete block;
  }
  void *address() const { return all_.address(); }
  int given = 0, taken = 0;
  size_t last = 0;

 private:
  Block all_;
};

void OutputsFromAnAllocator(aclrtStream stream) {
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS);
  std::shared_ptr<Own> allocator = std::make_shared<Own>(1024);
  CHECK(session.RegisterExternalAllocator(stream, nullptr) != ge::SUCCESS);
  CHECK(session.RegisterExternalAllocator(stream, allocator) == ge::SUCCESS);
  Block x(std::vector<float>{1, 2, 3, 4});
  {
    // Not built before, and no outputs: with an allocator that is allowed.
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(x, {4})}, outputs) == ge::SUCCESS);
    CHECK(outputs.size() == 1 && outputs[0].GetData() == allocator->address() && allocator->last == 16);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    std::vector<float> host(4);
    CHECK(aclrtMemcpy(host.data(), 16, outputs[0].GetData(), 16, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    CHECK(Near(host, {3, 5, 7, 9}) && allocator->taken == 0);
  }
  CHECK(allocator->given == 1 && allocator->taken == 1);
  CHECK(session.UnregisterExternalAllocator(stream) == ge::SUCCESS);
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(x, {4})}, outputs) == ge::SUCCESS && allocator->given == 1);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

// Returns null.
class Empty : public ge::Allocator {
 public:
  ge::MemBlock *Malloc(size_t) override { return nullptr; }
  void Free(ge::MemBlock *) override {}
};

// Where a size depends on the data, it is known behind the run: the memory is the allocator's all the same.
void OutputsOfSizesThatDataDecideFromAnAllocator(aclrtStream stream) {
  ge::Session session((Options()));
  ge::op::Data x = Input("x", 0, {6});
  ge::op::NonZero found("found");
  found.set_input_x(x);
  ge::op::Adds more("more");
  more.set_input_x(x).set_attr_value(1.0f);
  ge::Graph graph("found");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{found, more});
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
  std::shared_ptr<Own> allocator = std::make_shared<Own>(1024);
  CHECK(session.RegisterExternalAllocator(stream, allocator) == ge::SUCCESS);
  Block device(std::vector<float>{1, 0, 0, 0, 0, 1}), sums(std::vector<float>(6));
  int given = 0;
  for (int round = 1; round <= 3; ++round) {
    // The second one is the program's own memory.
    std::vector<ge::Tensor> outputs = {ge::Tensor(), OnDevice(sums, {6})};
    CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(device, {6})}, outputs) == ge::SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(outputs.size() == 2 && outputs[0].GetTensorDesc().GetShape().GetDims() == (std::vector<int64_t>{2, 1}));
    CHECK(outputs[0].GetData() == allocator->address() && outputs[0].GetSize() == 16 && allocator->last == 16);
    CHECK(allocator->given == ++given && allocator->taken == given - 1);
    int64_t positions[2] = {9, 9};
    CHECK(aclrtMemcpy(positions, 16, outputs[0].GetData(), 16, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    CHECK(positions[0] == 0 && positions[1] == 5 && Near(sums.Get(), {2, 1, 1, 1, 1, 2}));
  }
  CHECK(allocator->taken == 3);
  {
    // Nothing is found: a block of the allocator's, without an element.
    device.Set({0, 0, 0, 0, 0, 0});
    std::vector<ge::Tensor> outputs = {ge::Tensor(), OnDevice(sums, {6})};
    CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(device, {6})}, outputs) == ge::SUCCESS);
    CHECK(outputs[0].GetTensorDesc().GetShape().GetDims() == (std::vector<int64_t>{0, 1}) && outputs[0].GetSize() == 0);
  }
  device.Set({1, 0, 0, 0, 0, 1});
  CHECK(session.RegisterExternalAllocator(stream, std::make_shared<Empty>()) == ge::SUCCESS);
  std::vector<ge::Tensor> outputs = {ge::Tensor(), OnDevice(sums, {6})};
  CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(device, {6})}, outputs) == ge::FAILED);
  CHECK(Contains(Error(), "returned no memory"));
  CHECK(session.UnregisterExternalAllocator(stream) == ge::SUCCESS);
}

// An allocator that returns nothing costs no memory of the session: neither for its output nor for those behind it.
void OutputsThatAnAllocatorRefusesAreFreed(aclrtStream stream) {
  const int64_t count = 1 << 17;
  ge::Session session((Options()));
  ge::op::Data x = Input("x", 0, {count});
  ge::op::NonZero found("found"), again("again");
  found.set_input_x(x);
  again.set_input_x(x);
  ge::Graph graph("found");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{found, again});
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS);
  CHECK(session.RegisterExternalAllocator(stream, std::make_shared<Empty>()) == ge::SUCCESS);
  Block ones(std::vector<float>(static_cast<size_t>(count), 1.0f));
  size_t before = 0;
  for (int run = 0; run < 12; ++run) {
    std::vector<ge::Tensor> outputs(2);
    CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(ones, {count})}, outputs) == ge::FAILED);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    size_t free = 0, total = 0;
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS);
    if (run == 1) {
      before = free;
    }
    CHECK(run < 2 || free + (1 << 20) > before);
  }
  CHECK(session.UnregisterExternalAllocator(stream) == ge::SUCCESS);
}

bool Untouched(const Block &block) {
  for (float value : block.Get()) {
    unsigned char bytes[4];
    std::memcpy(bytes, &value, 4);
    if (bytes[0] != 0xEE || bytes[1] != 0xEE || bytes[2] != 0xEE || bytes[3] != 0xEE) {
      return false;
    }
  }
  return true;
}

// The constants of a compiled graph, and what lies between its nodes, lie where the program says.
void MemoryThatTheProgramGives(aclrtStream stream) {
  ge::Session session((Options()));
  std::vector<float> twice(64), thrice(64);
  for (size_t at = 0; at < 8; ++at) {
    twice[at * 9] = 2;
    thrice[at * 9] = 3;
  }
  ge::op::Data x = Input("x", 0, {8, 8});
  ge::op::Const first = Constant("first", {8, 8}, twice), second = Constant("second", {8, 8}, thrice);
  ge::op::MatMul a("a"), b("b");
  ge::op::Abs middle("middle");
  a.set_input_x1(x).set_input_x2(first);
  middle.set_input_x(a);
  b.set_input_x1(middle).set_input_x2(second);
  ge::Graph graph("given");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{b});
  CHECK(session.AddGraph(1, graph) == ge::SUCCESS && session.CompileGraph(1) == ge::SUCCESS);
  const ge::CompiledGraphSummaryPtr summary = session.GetCompiledGraphSummary(1);
  size_t constant = 0, feature = 0;
  CHECK(summary->GetConstMemorySize(constant) == ge::SUCCESS && constant >= 512);
  CHECK(summary->GetFeatureMemorySize(feature) == ge::SUCCESS && feature >= 256);
  Block constants(constant), between(feature), later(feature);
  for (const Block *block : {&constants, &between, &later}) {
    CHECK(aclrtMemset(block->address(), block->bytes(), 0xEE, block->bytes()) == ACL_SUCCESS);
  }
  char *const address = static_cast<char *>(constants.address());
  CHECK(session.SetGraphConstMemoryBase(1, address, constant - 1) == ge::FAILED && Contains(Error(), "needs"));
  CHECK(session.SetGraphConstMemoryBase(1, address + 4, constant) == ge::FAILED && Contains(Error(), "multiple of 64"));
  alignas(64) static char host[64];
  CHECK(session.UpdateGraphFeatureMemoryBase(1, host, feature) == ge::FAILED && Contains(Error(), "live device memory"));
  CHECK(session.SetGraphConstMemoryBase(1, address, constant) == ge::SUCCESS);
  CHECK(session.UpdateGraphFeatureMemoryBase(1, between.address(), feature) == ge::SUCCESS);
  CHECK(session.UpdateGraphRefreshableFeatureMemoryBase(1, between.address(), feature) == ge::FAILED && Contains(Error(), "together"));
  CHECK(session.SetGraphFixedFeatureMemoryBase(1, later.address(), feature) == ge::SUCCESS && Contains(Warning(), "not used"));
  std::vector<float> values(64), wanted(64);
  for (size_t at = 0; at < 64; ++at) {
    values[at] = static_cast<float>(at) - 20;
    wanted[at] = 6 * std::fabs(values[at]);
  }
  Block in(values), out(std::vector<float>(64));
  const auto Run = [&] {
    std::vector<ge::Tensor> outputs = {OnDevice(out, {8, 8})};
    CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(in, {8, 8})}, outputs) == ge::SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  };
  Run();
  CHECK(Near(out.Get(), wanted) && !Untouched(constants) && !Untouched(between) && Untouched(later));
  // Feature memory may be given anew, constant memory not.
  CHECK(session.UpdateGraphFeatureMemoryBase(1, later.address(), feature) == ge::SUCCESS);
  CHECK(session.SetGraphConstMemoryBase(1, address, constant) == ge::FAILED && Contains(Error(), "in place"));
  Run();
  CHECK(Near(out.Get(), wanted) && !Untouched(later));
  // The constants really are those of the program's memory.
  CHECK(aclrtMemset(constants.address(), constant, 0, constant) == ACL_SUCCESS);
  Run();
  CHECK(Near(out.Get(), std::vector<float>(64)));
}

void InputsOnTheHostWhereTheyAreNamed(aclrtStream stream) {
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1), Options({{"ge.exec.hostInputIndexes", "0"}})) == ge::SUCCESS);
  Block y(std::vector<float>(4));
  std::vector<ge::Tensor> outputs = {OnDevice(y, {4})};
  CHECK(session.RunGraphWithStreamAsync(1, stream, {Floats({4}, {1, 2, 3, 4})}, outputs) == ge::SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS && Near(y.Get(), {3, 5, 7, 9}));
}

void TheOptionOfTheGraphThatRunsSaysWhichInputsAreOnTheHost(aclrtStream stream) {
  ge::op::Data x = Input("x", 0, {4}), z = Input("z", 1, {4});
  ge::op::Add sum("sum");
  sum.set_input_x1(x).set_input_x2(z);
  ge::Graph graph("sum");
  graph.SetInputs({x, z}).SetOutputs(std::vector<ge::Operator>{sum});
  ge::Session session((Options()));
  Block y(std::vector<float>(4)), ones(std::vector<float>(4, 1.0f));
  std::vector<ge::Tensor> outputs = {OnDevice(y, {4})};
  const ge::Tensor host = Floats({4}, {1, 2, 3, 4}), device = OnDevice(ones, {4});
  const auto Adds = [&](const char *indices, const std::vector<ge::Tensor> &inputs, const std::vector<float> &wanted) {
    CHECK(session.AddGraph(1, graph, Options({{"ge.exec.hostInputIndexes", indices}})) == ge::SUCCESS);
    CHECK(session.RunGraphWithStreamAsync(1, stream, inputs, outputs) == ge::SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS && Near(y.Get(), wanted));
    CHECK(session.RemoveGraph(1) == ge::SUCCESS);
  };
  // A graph that was removed leaves nothing behind.
  Adds("1", {device, host}, {2, 3, 4, 5});
  Adds("0", {host, device}, {2, 3, 4, 5});
  Adds("0,1", {host, host}, {2, 4, 6, 8});
  Adds("0;1", {host, host}, {2, 4, 6, 8});
  Adds(" 0, 1 ", {host, host}, {2, 4, 6, 8});
  Adds("", {device, device}, {2, 2, 2, 2});
  CHECK(session.AddGraph(1, graph, Options({{"ge.exec.hostInputIndexes", "0,x"}})) != ge::SUCCESS);
  CHECK(Contains(Error(), "ge.exec.hostInputIndexes"));
}

// x[i]: which element is asked for is known when the graph runs.
ge::Graph Pick() {
  ge::op::Data x = Input("x", 0, {4}), which = Input("which", 1, {1}, ge::DT_INT32);
  ge::op::Const axis = Constant("axis", {1}, ge::DT_INT32, std::vector<int32_t>{0});
  ge::op::GatherV2 gather("gather");
  gather.set_input_x(x).set_input_indices(which).set_input_axis(axis);
  ge::Graph graph("pick");
  graph.SetInputs({x, which}).SetOutputs(std::vector<ge::Operator>{gather});
  return graph;
}

void ErrorsOfTheRunComeAtTheSynchronise() {
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Pick()) == ge::SUCCESS);
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  Block x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>(1)), which(4);
  int32_t number = 2;
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(aclrtMemcpy(which.address(), 4, &number, 4, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    std::vector<ge::Tensor> outputs = {OnDevice(y, {1})};
    CHECK(session.RunGraphWithStreamAsync(1, stream, {OnDevice(x, {4}), OnDevice(which.address(), 4, {1}, ge::DT_INT32)}, outputs) == ge::SUCCESS);
    const aclError ended = aclrtSynchronizeStream(stream);
    CHECK(turn == 0 ? ended == ACL_SUCCESS && y.Get()[0] == 3 : ended != ACL_SUCCESS);
    number = 1000;
  }
  CHECK(Contains(aclGetRecentErrMsg(), "gather"));
  // From host memory the same is the status of the run, and of the callback.
  std::vector<ge::Tensor> outputs;
  CHECK(session.AddGraph(2, Pick()) == ge::SUCCESS);
  const std::vector<ge::Tensor> bad = {Floats({4}, {1, 2, 3, 4}), Filled({1}, ge::DT_INT32, std::vector<int32_t>{77})};
  CHECK(session.RunGraph(2, bad, outputs) == ge::FAILED && Contains(Error(), "77"));
  (void)aclrtDestroyStreamForce(stream);
}

void Queued() {
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS && session.AddGraph(2, Pick()) == ge::SUCCESS);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<ge::Status, std::vector<float>>> heard;
  const auto hear = [&](ge::Status status, std::vector<ge::Tensor> &results) {
    const std::lock_guard<std::mutex> lock(mutex);
    heard.push_back(std::make_pair(status, results.empty() ? std::vector<float>() : Values<float>(results[0])));
    changed.notify_all();
  };
  for (float turn = 0; turn < 20; ++turn) {
    CHECK(session.RunGraphAsync(1, {Floats({4}, {turn, 0, 0, 0})}, hear) == ge::SUCCESS);
  }
  const std::vector<ge::Tensor> bad = {Floats({4}, {1, 2, 3, 4}), Filled({1}, ge::DT_INT32, std::vector<int32_t>{99})};
  CHECK(session.RunGraphAsync(2, bad, hear) == ge::SUCCESS);
  CHECK(session.RunGraphAsync(1, {}, hear) == ge::SUCCESS);
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return heard.size() == 22; });
  for (size_t turn = 0; turn < 20; ++turn) {
    CHECK(heard[turn].first == ge::SUCCESS && Near(heard[turn].second, {2.0f * static_cast<float>(turn) + 1, 1, 1, 1}));
  }
  CHECK(heard[20].first == ge::FAILED && heard[20].second.empty() && heard[21].first == ge::FAILED);
}

void DynamicShapes(aclrtStream stream) {
  ge::Session session((Options()));
  std::vector<ge::Tensor> outputs;
  // Dynamic dimensions, and a dynamic rank.
  CHECK(session.AddGraph(1, Line("open", {-1, 2}, 1)) == ge::SUCCESS && session.AddGraph(2, Line("any", {-2}, 1)) == ge::SUCCESS);
  for (int64_t rows = 1; rows <= 12; ++rows) {
    const std::vector<float> x(static_cast<size_t>(rows) * 2, static_cast<float>(rows));
    for (uint32_t graph = 1; graph <= 2; ++graph) {
      CHECK(session.RunGraph(graph, {Floats({rows, 2}, x)}, outputs) == ge::SUCCESS);
      CHECK(outputs[0].GetTensorDesc().GetShape().GetDims() == (std::vector<int64_t>{rows, 2}));
      CHECK(Values<float>(outputs[0]).back() == 2 * static_cast<float>(rows) + 1);
    }
  }
  CHECK(session.RunGraph(2, {Floats({3}, {1, 2, 3})}, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {3, 5, 7}));
  // How many there are is known when the graph has run.
  ge::op::Data x = Input("x", 0, {6});
  ge::op::NonZero found("found");
  found.set_input_x(x);
  ge::Graph graph("found");
  graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{found});
  CHECK(session.AddGraph(3, graph) == ge::SUCCESS && session.BuildGraph(3, std::vector<ge::Tensor>()) == ge::SUCCESS);
  CHECK(session.RunGraph(3, {Floats({6}, {0, 1, 0, 2, 3, 0})}, outputs) == ge::SUCCESS);
  CHECK(Values<int64_t>(outputs[0]) == (std::vector<int64_t>{1, 3, 4}));
  Block device(std::vector<float>{1, 0, 0, 0, 0, 1});
  outputs.clear();
  CHECK(session.RunGraphWithStreamAsync(3, stream, {OnDevice(device, {6})}, outputs) == ge::SUCCESS);
  CHECK(outputs[0].GetTensorDesc().GetShape().GetShapeSize() == 2);
  int64_t positions[2] = {9, 9};
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(aclrtMemcpy(positions, 16, outputs[0].GetData(), 16, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  CHECK(positions[0] == 0 && positions[1] == 5);
}

void EightThreads() {
  std::atomic<int> good(0);
  std::vector<std::thread> threads;
  for (int own = 0; own < 8; ++own) {
    threads.push_back(std::thread([own, &good] {
      CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
      aclrtStream stream = nullptr;
      CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
      ge::Session session((Options()));
      const float k = static_cast<float>(own);
      Block x(std::vector<float>{1, 2, 3, 4}), y(std::vector<float>(4));
      for (int turn = 0; turn < 10; ++turn) {
        const uint32_t graph = static_cast<uint32_t>(turn);
        CHECK(session.AddGraph(graph, Line("line", {4}, k)) == ge::SUCCESS);
        std::vector<ge::Tensor> outputs;
        CHECK(session.RunGraph(graph, {Floats({4}, {1, 2, 3, 4})}, outputs) == ge::SUCCESS);
        CHECK(Near(Values<float>(outputs[0]), {2 + k, 4 + k, 6 + k, 8 + k}));
        std::vector<ge::Tensor> on_device = {OnDevice(y, {4})};
        CHECK(session.RunGraphWithStreamAsync(graph, stream, {OnDevice(x, {4})}, on_device) == ge::SUCCESS);
        CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS && Near(y.Get(), {2 + k, 4 + k, 6 + k, 8 + k}));
        // The text of an error is the thread's own.
        CHECK(session.RunGraph(1000 + graph, {}, outputs) == 1343242242);
        CHECK(Contains(Error(), std::to_string(1000 + graph).c_str()));
        CHECK(session.RemoveGraph(graph) == ge::SUCCESS);
        ++good;
      }
      CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
    }));
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK(good == 80);
  // One session has one run at a time from host memory; a second run is refused, and the results stay separate.
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS && session.BuildGraph(1, std::vector<ge::Tensor>()) == ge::SUCCESS);
  threads.clear();
  std::atomic<int> done(0);
  for (int own = 0; own < 8; ++own) {
    threads.push_back(std::thread([&session, &done] {
      for (int turn = 0; turn < 50; ++turn) {
        std::vector<ge::Tensor> outputs;
        const ge::Status status = session.RunGraph(1, {Floats({4}, {1, 2, 3, 4})}, outputs);
        CHECK(status == ge::SUCCESS ? Near(Values<float>(outputs[0]), {3, 5, 7, 9}) : status == ge::FAILED && Contains(Error(), "running"));
        done += status == ge::SUCCESS;
      }
    }));
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK(done > 0);
}

void LastingOneBlock() {
  ge::ContinuousTensorList list({Desc({4})});
  CHECK(list.Initialize() == ge::GRAPH_SUCCESS && list.GetTensorList().size() == 1 && list.GetSizeList()[0] == 16);
  const float values[4] = {1, 2, 3, 4};
  std::memcpy(list.GetDataList()[0], values, 16);
  ge::Session session((Options()));
  CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS);
  std::vector<ge::Tensor> outputs;
  CHECK(session.RunGraph(1, list, outputs) == ge::SUCCESS && Near(Values<float>(outputs[0]), {3, 5, 7, 9}));
  CHECK(list.GetBufferSize() >= 16 && list.GetBuffer() != nullptr && list.Finalize() == ge::GRAPH_SUCCESS);
}

// The weights of a graph that was built are written to the device by its first run. The program changes them, and drops the graph, before.
void ABuiltGraphKeepsItsWeights() {
  ge::Session session((Options()));
  const std::vector<ge::Tensor> inputs = {Filled({1, 16, 1, 2}, ge::DT_FLOAT, std::vector<float>(32, 1), ge::FORMAT_NCHW)};
  {
    ge::op::Data x = Input("x", 0, {1, 16, 1, 2}, ge::DT_FLOAT, ge::FORMAT_NCHW);
    ge::op::Const filter = Constant("filter", {32, 16, 1, 1}, ge::DT_FLOAT, std::vector<float>(512, 0.5f), ge::FORMAT_NCHW);
    ge::op::Conv2D convolution("convolution");
    convolution.set_input_x(x, 0u).set_input_filter(filter).set_attr_strides({1, 1, 1, 1}).set_attr_pads({0, 0, 0, 0});
    convolution.set_attr_data_format("NCHW");
    const auto numbers = [](const char *name, float value) { return Constant(name, {32}, std::vector<float>(32, value)); };
    ge::op::Const scale = numbers("scale", 3), offset = numbers("offset", 1), mean = numbers("mean", 2), variance = numbers("variance", 4);
    ge::op::BatchNorm norm("norm");
    norm.set_input_x(convolution).set_input_scale(scale).set_input_offset(offset).set_input_mean(mean);
    norm.set_input_variance(variance).set_attr_epsilon(0.0f).set_attr_data_format("NCHW").set_attr_is_training(false);
    ge::op::Relu relu("relu");
    relu.set_input_x(norm, 0u);
    ge::Graph graph("weights");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{relu});
    CHECK(session.AddGraph(1, graph) == ge::SUCCESS && session.BuildGraph(1, inputs) == ge::SUCCESS);
    for (ge::op::Const *constant : {&filter, &scale, &offset}) {
      constant->set_attr_value(Floats({1}, {9}));
    }
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<ge::Tensor> outputs;
    CHECK(session.RunGraph(1, inputs, outputs) == ge::SUCCESS && outputs.size() == 1);
    // (16 * 0.5 - 2) / sqrt(4) * 3 + 1
    CHECK(Near(Values<float>(outputs[0]), std::vector<float>(64, 10)));
  }
}

}  // namespace

int main() {
  std::vector<ge::Tensor> kept;
  ge::Session early((Options()));
  CHECK(early.AddGraph(1, Line("line", {4}, 1)) == ge::FAILED && Contains(Error(), "E10062"));
  ge::GeSession waiting((Options()));
  CHECK(waiting.AddGraph(1, Line("line", {4}, 1)) == ge::FAILED && !Error().empty());
  CHECK(ge::GEInitialize(Options()) == ge::SUCCESS);
  CHECK(waiting.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS && waiting.GetSessionId() != 0);
  CHECK(early.GetSessionId() == 0 && early.AddGraph(1, Line("line", {4}, 1)) == ge::FAILED);
  CHECK(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtStream first = nullptr, second = nullptr;
  CHECK(aclrtCreateStream(&first) == ACL_SUCCESS && aclrtCreateStream(&second) == ACL_SUCCESS);
  ReturnsBeforeTheWorkIsDone(first);
  OrderHoldsAcrossStreams(first, second);
  OutputsOfBuiltAndUnbuiltGraphs(first);
  ABuiltGraphKeepsItsWeights();
  TheTwoFamiliesOfCalls(first);
  TheNewerSession(first);
  OutputsFromAnAllocator(first);
  OutputsOfSizesThatDataDecideFromAnAllocator(first);
  OutputsThatAnAllocatorRefusesAreFreed(first);
  MemoryThatTheProgramGives(first);
  InputsOnTheHostWhereTheyAreNamed(first);
  TheOptionOfTheGraphThatRunsSaysWhichInputsAreOnTheHost(first);
  ErrorsOfTheRunComeAtTheSynchronise();
  Queued();
  DynamicShapes(first);
  EightThreads();
  LastingOneBlock();
  {
    ge::Session session((Options()));
    CHECK(session.AddGraph(1, Line("line", {4}, 1)) == ge::SUCCESS);
    CHECK(session.RunGraph(1, {Floats({4}, {1, 2, 3, 4})}, kept) == ge::SUCCESS);
  }
  CHECK(aclrtDestroyStream(first) == ACL_SUCCESS && aclrtDestroyStream(second) == ACL_SUCCESS);
  CHECK(ge::GEFinalizeV2() == ge::SUCCESS && ge::GEFinalize() == ge::SUCCESS);
  CHECK(Near(Values<float>(kept[0]), {3, 5, 7, 9}));
  CHECK(aclFinalize() == ACL_SUCCESS);
  std::printf("runs: ok\n");
  return 0;
}
