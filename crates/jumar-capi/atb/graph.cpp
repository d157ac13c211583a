/* Graphs of operations. A graph calls its nodes as a program does: they may be operations of the library or of the program. */
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "objects.h"

namespace jumar {
namespace {

constexpr size_t kMostTensors = 256;
constexpr size_t kMostNodes = 1023;
constexpr size_t kLongestName = 128;
/* Tensors inside start at multiples of this many bytes. */
constexpr uint64_t kAlignment = 512;

atb::Status Refuse(atb::ErrorType code, const std::string &graph, const std::string &sentence) {
  return jumar::Refuse(code, (graph + ": " + sentence).c_str());
}

uint64_t Elements(const atb::Dims &dims) {
  uint64_t count = dims.dimNum == 0 ? 0 : 1;
  for (uint64_t i = 0; i < dims.dimNum && i < atb::MAX_DIM; ++i) {
    count *= static_cast<uint64_t>(dims.dims[i] < 0 ? 0 : dims.dims[i]);
  }
  return count;
}

uint64_t Bytes(const atb::TensorDesc &desc) { return Elements(desc.shape) * aclDataTypeSize(desc.dtype); }

uint64_t Aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/* A graph, independent of the layout of strings. */
struct Shape {
  std::string name;
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  uint32_t inside = 0;
  std::vector<atb::Node> nodes;
  atb::InferShapeFunc infer;

  size_t Tensors() const { return static_cast<size_t>(inputs) + outputs + inside; }
};

/* Where the members of atb::GraphParam lie that follow the name, in the two layouts of strings. */
struct Layout {
  size_t counts;
  size_t nodes;
  size_t infer;
};
constexpr Layout kOlder = {8, 24, 48};
constexpr Layout kNewer = {32, 48, 72};

template <class T>
const T &At(const void *param, size_t offset) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(param) + offset);
}

Shape Read(const void *param, bool older) {
  const Layout layout = older ? kOlder : kNewer;
  Shape shape;
  // Both layouts begin with the address of the characters, behind which there is a zero.
  const char *name = At<const char *>(param, 0);
  shape.name = name == nullptr ? "" : name;
  shape.inputs = At<uint32_t>(param, layout.counts);
  shape.outputs = At<uint32_t>(param, layout.counts + 4);
  shape.inside = At<uint32_t>(param, layout.counts + 8);
  shape.nodes = At<std::vector<atb::Node>>(param, layout.nodes);
  shape.infer = At<atb::InferShapeFunc>(param, layout.infer);
  return shape;
}

std::string Number(uint64_t number) { return std::to_string(number); }

/* Refuses a graph whose tensors are not all written once before they are read. */
atb::Status Check(const Shape &shape) {
  const auto refuse = [&](const std::string &sentence) {
    return Refuse(atb::ERROR_INVALID_GRAPH, shape.name, sentence);
  };
  if (shape.name.size() > kLongestName) {
    return refuse("the name has " + Number(shape.name.size()) + " letters; at most 128 are possible");
  }
  for (const char letter : shape.name) {
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '_') {
      return refuse("the name has a character that is not a letter, a digit or an underscore");
    }
  }
  if (shape.inputs > kMostTensors || shape.outputs > kMostTensors || shape.inside > kMostTensors) {
    return refuse("there are " + Number(shape.inputs) + " inputs, " + Number(shape.outputs) + " outputs and " +
                  Number(shape.inside) + " tensors inside; at most 256 of each are possible");
  }
  if (shape.nodes.empty() || shape.nodes.size() > kMostNodes) {
    return refuse("there are " + Number(shape.nodes.size()) + " nodes; between 1 and 1023 are possible");
  }
  std::vector<bool> written(shape.Tensors(), false);
  std::fill(written.begin(), written.begin() + shape.inputs, true);
  for (size_t index = 0; index < shape.nodes.size(); ++index) {
    const atb::Node &node = shape.nodes[index];
    const std::string which = "node " + Number(index);
    if (node.operation == nullptr) {
      return refuse(which + " has no operation");
    }
    if (node.inTensorIds.size() != node.operation->GetInputNum() ||
        node.outTensorIds.size() != node.operation->GetOutputNum()) {
      return refuse(which + " has " + Number(node.inTensorIds.size()) + " inputs and " +
                    Number(node.outTensorIds.size()) + " outputs; its operation has " +
                    Number(node.operation->GetInputNum()) + " and " + Number(node.operation->GetOutputNum()));
    }
    for (const uint32_t id : node.inTensorIds) {
      if (id >= written.size() || !written[id]) {
        return refuse(which + " reads tensor " + Number(id) + ", which nothing before it writes");
      }
    }
    for (const uint32_t id : node.outTensorIds) {
      if (id >= written.size()) {
        return refuse(which + " writes tensor " + Number(id) + "; there are " + Number(written.size()));
      }
      written[id] = true;
    }
    if (node.inTensorReshapeFuncs.size() > node.inTensorIds.size() ||
        node.inTensorChunks.size() > node.inTensorIds.size()) {
      return refuse(which + " has more functions or chunks than inputs");
    }
  }
  for (size_t id = shape.inputs; id < shape.inputs + static_cast<size_t>(shape.outputs); ++id) {
    if (!written[id]) {
      return refuse("no node writes tensor " + Number(id) + ", which is an output");
    }
  }
  return atb::NO_ERROR;
}

/* A call of a graph: its tensors, and the packs of its nodes. */
struct Call {
  std::vector<atb::Tensor> tensors;
  /* Where tensors inside lie in the workspace. */
  std::vector<uint64_t> offsets;
  uint64_t inside = 0;
  /* The largest workspace of a node. */
  uint64_t workspace = 0;
};

class GraphObject : public atb::Operation {
 public:
  explicit GraphObject(Shape shape) : shape_(std::move(shape)) { Operations().Add(this); }

  ~GraphObject() override {
    Operations().Remove(this);
    for (const atb::Node &node : shape_.nodes) {
      // One operation may be several nodes, and a program may have destroyed it before.
      if (Operations().IsLive(node.operation)) {
        delete node.operation;
      }
    }
  }

  CallerString GetName() const override { return CallerString(shape_.name.c_str(), __builtin_return_address(0)); }
  uint32_t GetInputNum() const override { return shape_.inputs; }
  uint32_t GetOutputNum() const override { return shape_.outputs; }

  atb::Status InferShape(const atb::SVector<atb::TensorDesc> &inputs,
                         atb::SVector<atb::TensorDesc> &outputs) const override {
    if (inputs.size() != shape_.inputs) {
      return Count(atb::ERROR_INVALID_IN_TENSOR_NUM, "inputs", inputs.size(), shape_.inputs);
    }
    outputs.clear();
    if (shape_.infer) {
      const atb::Status status = shape_.infer(inputs, outputs);
      return status == atb::NO_ERROR ? status
                                     : Refuse(atb::ERROR_GRAPH_INFERSHAPE_FUNC_FAIL, shape_.name,
                                              "inferShapeFunc returned " + std::to_string(status));
    }
    Call call;
    call.tensors.resize(shape_.Tensors());
    for (size_t i = 0; i < shape_.inputs; ++i) {
      call.tensors[i].desc = inputs.at(i);
    }
    for (const atb::Node &node : shape_.nodes) {
      const atb::Status status = Infer(node, call);
      if (status != atb::NO_ERROR) {
        return status;
      }
    }
    for (size_t i = 0; i < shape_.outputs; ++i) {
      outputs.push_back(call.tensors[shape_.inputs + i].desc);
    }
    return atb::NO_ERROR;
  }

  atb::Status Setup(const atb::VariantPack &pack, uint64_t &workspaceSize, atb::Context *context) override {
    ContextObject *found = nullptr;
    atb::Status status = Find(context, &found);
    Call call;
    if (status == atb::NO_ERROR) {
      status = Prepare(pack, context, call);
    }
    if (status == atb::NO_ERROR) {
      workspaceSize = call.inside + call.workspace;
    }
    return status;
  }

  atb::Status Execute(const atb::VariantPack &pack, uint8_t *workspace, uint64_t workspaceSize,
                      atb::Context *context) override {
    aclrtStream stream = nullptr;
    atb::Status status = StreamOf(context, &stream);
    Call call;
    if (status == atb::NO_ERROR) {
      status = Prepare(pack, context, call);
    }
    if (status != atb::NO_ERROR) {
      return status;
    }
    const uint64_t needed = call.inside + call.workspace;
    if (workspaceSize < needed) {
      return Refuse(atb::ERROR_INVALID_WORKSPACE_SIZE, shape_.name,
                    "a workspace of " + Number(needed) + " bytes is needed, and workspaceSize is " +
                        Number(workspaceSize));
    }
    if (needed > 0 && workspace == nullptr) {
      return Refuse(atb::ERROR_INVALID_WORKSPACE_ADDR, shape_.name,
                    "the workspace is null, and " + Number(needed) + " bytes are needed");
    }
    const size_t first = static_cast<size_t>(shape_.inputs) + shape_.outputs;
    for (size_t id = first; id < call.tensors.size(); ++id) {
      call.tensors[id].deviceData = workspace + call.offsets[id - first];
    }
    uint8_t *own = call.workspace > 0 ? workspace + call.inside : nullptr;
    for (const atb::Node &node : shape_.nodes) {
      const auto nodePack = std::make_unique<atb::VariantPack>();
      status = Pack(node, call, *nodePack);
      if (status == atb::NO_ERROR) {
        // Nodes run one behind the other, so that they share one workspace.
        status = node.operation->Execute(*nodePack, own, call.workspace, context);
      }
      if (status != atb::NO_ERROR) {
        return status;
      }
    }
    return atb::NO_ERROR;
  }

 private:
  atb::Status Count(atb::ErrorType code, const char *what, uint64_t given, uint64_t wanted) const {
    return Refuse(code, shape_.name,
                  "there are " + Number(given) + " " + what + "; " + Number(wanted) + " are wanted");
  }

  /* Returns an input as a node sees it: a part of it, in another shape. */
  atb::Status View(const atb::Node &node, size_t index, const Call &call, atb::Tensor &view) const {
    view = call.tensors[node.inTensorIds.at(index)];
    if (index < node.inTensorChunks.size()) {
      const atb::Chunk chunk = node.inTensorChunks.at(index);
      atb::Dims &dims = view.desc.shape;
      if (chunk.chunkNum > 1) {
        if (dims.dimNum == 0 || dims.dims[0] % chunk.chunkNum != 0 || chunk.chunkIndex >= chunk.chunkNum) {
          return Refuse(atb::ERROR_INVALID_GRAPH_NODE_CHUNK, shape_.name,
                        "a node reads part " + Number(chunk.chunkIndex) + " of " + Number(chunk.chunkNum) +
                            " of a tensor that its first dimension does not divide into");
        }
        dims.dims[0] /= chunk.chunkNum;
        const uint64_t bytes = Bytes(view.desc);
        const uint64_t offset = bytes * chunk.chunkIndex;
        const auto move = [&](void *data) -> void * {
          return data == nullptr ? nullptr : static_cast<uint8_t *>(data) + offset;
        };
        view.deviceData = move(view.deviceData);
        view.hostData = move(view.hostData);
        view.dataSize = bytes;
      }
    }
    if (index < node.inTensorReshapeFuncs.size() && node.inTensorReshapeFuncs.at(index)) {
      atb::Dims reshaped = view.desc.shape;
      node.inTensorReshapeFuncs.at(index)(view.desc.shape, reshaped);
      if (reshaped.dimNum > atb::MAX_DIM || Elements(reshaped) != Elements(view.desc.shape)) {
        return Refuse(atb::ERROR_GRAPH_NODE_RESHAPE_FUNC_FAIL, shape_.name,
                      "a function of inTensorReshapeFuncs changed the number of elements from " +
                          Number(Elements(view.desc.shape)) + " to " + Number(Elements(reshaped)));
      }
      view.desc.shape = reshaped;
    }
    return atb::NO_ERROR;
  }

  /* Finds the descriptions of a node's outputs. */
  atb::Status Infer(const atb::Node &node, Call &call) const {
    atb::SVector<atb::TensorDesc> inputs;
    atb::SVector<atb::TensorDesc> outputs;
    inputs.reserve(node.inTensorIds.size());
    outputs.reserve(node.outTensorIds.size());
    for (size_t i = 0; i < node.inTensorIds.size(); ++i) {
      atb::Tensor view;
      const atb::Status status = View(node, i, call, view);
      if (status != atb::NO_ERROR) {
        return status;
      }
      inputs.push_back(view.desc);
    }
    const atb::Status status = node.operation->InferShape(inputs, outputs);
    if (status != atb::NO_ERROR) {
      return status;
    }
    if (outputs.size() != node.outTensorIds.size()) {
      return Count(atb::ERROR_INVALID_GRAPH, "outputs of a node's InferShape", outputs.size(),
                   node.outTensorIds.size());
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const uint32_t id = node.outTensorIds.at(i);
      // An input that is written in place, and an output of the graph, keep their memory.
      if (id >= shape_.inputs) {
        call.tensors[id].desc = outputs.at(i);
        call.tensors[id].dataSize = Bytes(outputs.at(i));
      }
    }
    return atb::NO_ERROR;
  }

  atb::Status Pack(const atb::Node &node, const Call &call, atb::VariantPack &pack) const {
    pack.inTensors.reserve(node.inTensorIds.size());
    pack.outTensors.reserve(node.outTensorIds.size());
    for (size_t i = 0; i < node.inTensorIds.size(); ++i) {
      atb::Tensor view;
      const atb::Status status = View(node, i, call, view);
      if (status != atb::NO_ERROR) {
        return status;
      }
      pack.inTensors.push_back(view);
    }
    for (const uint32_t id : node.outTensorIds) {
      pack.outTensors.push_back(call.tensors[id]);
    }
    return atb::NO_ERROR;
  }

  /* Finds all tensors of a call and the sizes of the workspaces. */
  atb::Status Prepare(const atb::VariantPack &pack, atb::Context *context, Call &call) const {
    if (pack.inTensors.size() != shape_.inputs) {
      return Count(atb::ERROR_INVALID_IN_TENSOR_NUM, "inputs", pack.inTensors.size(), shape_.inputs);
    }
    if (pack.outTensors.size() != shape_.outputs) {
      return Count(atb::ERROR_INVALID_TENSOR_NUM, "outputs", pack.outTensors.size(), shape_.outputs);
    }
    call.tensors.resize(shape_.Tensors());
    for (size_t i = 0; i < shape_.inputs; ++i) {
      call.tensors[i] = pack.inTensors.at(i);
    }
    for (size_t i = 0; i < shape_.outputs; ++i) {
      call.tensors[shape_.inputs + i] = pack.outTensors.at(i);
    }
    const size_t first = static_cast<size_t>(shape_.inputs) + shape_.outputs;
    for (const atb::Node &node : shape_.nodes) {
      atb::Status status = Infer(node, call);
      if (status != atb::NO_ERROR) {
        return status;
      }
      const auto nodePack = std::make_unique<atb::VariantPack>();
      status = Pack(node, call, *nodePack);
      uint64_t size = 0;
      if (status == atb::NO_ERROR) {
        status = node.operation->Setup(*nodePack, size, context);
      }
      if (status != atb::NO_ERROR) {
        return status;
      }
      call.workspace = size > call.workspace ? size : call.workspace;
    }
    // The program describes its outputs: they have to be what the nodes compute.
    for (size_t i = 0; i < shape_.outputs; ++i) {
      const atb::TensorDesc &found = call.tensors[shape_.inputs + i].desc;
      const atb::Tensor &given = pack.outTensors.at(i);
      if (given.desc.dtype != found.dtype) {
        return Refuse(atb::ERROR_INVALID_TENSOR_DTYPE, shape_.name,
                      "output " + Number(i) + " has another type than the result");
      }
      if (given.dataSize < Bytes(found)) {
        return Refuse(atb::ERROR_INVALID_TENSOR_SIZE, shape_.name,
                      "output " + Number(i) + " has " + Number(given.dataSize) + " bytes (dataSize); the result has " +
                          Number(Bytes(found)));
      }
      if (Elements(given.desc.shape) != Elements(found.shape)) {
        return Refuse(atb::ERROR_INVALID_TENSOR_DIM, shape_.name,
                      "output " + Number(i) + " has " + Number(Elements(given.desc.shape)) +
                          " elements; the result has " + Number(Elements(found.shape)));
      }
    }
    for (size_t id = first; id < call.tensors.size(); ++id) {
      call.offsets.push_back(call.inside);
      call.inside += Aligned(call.tensors[id].dataSize);
    }
    return atb::NO_ERROR;
  }

  const Shape shape_;
};

}  // namespace
}  // namespace jumar

namespace atb {

template <>
__attribute__((noinline)) Status CreateOperation(const GraphParam &opParam, Operation **operation) {
  if (operation == nullptr) {
    return jumar::Refuse(ERROR_INVALID_PARAM, "CreateOperation: operation is a null pointer");
  }
  *operation = nullptr;
  jumar::Shape shape = jumar::Read(&opParam, jumar::UsesOlderString(__builtin_return_address(0)));
  const Status status = jumar::Check(shape);
  if (status == NO_ERROR) {
    *operation = new jumar::GraphObject(std::move(shape));
  }
  return status;
}

}  // namespace atb
