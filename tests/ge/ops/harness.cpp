// Runs the cases of a file through sessions, and writes what came out of them to another.
//
// Usage: harness CASES RESULTS. Both files are little endian; cases.py writes the one and reads the other.
// Or: harness --build FILE. The file has an operator's type a line, behind it its inputs and where it has any a last word
// that names them. Each case is built as a graph of its own, and one line reports its result.
#include "harness.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "acl/acl.h"
#include "ge/ge_api.h"
#include "hccl/hccl.h"

namespace {

typedef std::map<ge::AscendString, ge::AscendString> Options;

class Reader {
 public:
  explicit Reader(const char *path) : file_(path, std::ios::binary) {}
  template <typename T>
  T Read() {
    T value = T();
    file_.read(reinterpret_cast<char *>(&value), sizeof value);
    Check();
    return value;
  }
  std::string Text() {
    std::string text(Read<uint32_t>(), '\0');
    file_.read(&text[0], static_cast<std::streamsize>(text.size()));
    Check();
    return text;
  }
  std::vector<uint8_t> Bytes() {
    std::vector<uint8_t> bytes(Read<uint64_t>());
    file_.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    Check();
    return bytes;
  }

 private:
  void Check() {
    if (!file_) {
      std::printf("the file of cases is too short\n");
      std::exit(2);
    }
  }
  std::ifstream file_;
};

class Writer {
 public:
  explicit Writer(const char *path) : file_(path, std::ios::binary) {}
  template <typename T>
  void Write(T value) {
    file_.write(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void Text(const std::string &text) {
    Write(static_cast<uint32_t>(text.size()));
    file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  void Tensor(const ge::Tensor &tensor) {
    const ge::TensorDesc desc = tensor.GetTensorDesc();
    const std::vector<int64_t> dims = desc.GetShape().GetDims();
    Write(static_cast<int32_t>(desc.GetDataType()));
    Write(static_cast<uint32_t>(dims.size()));
    for (int64_t dim : dims) {
      Write(dim);
    }
    Write(static_cast<uint64_t>(tensor.GetSize()));
    file_.write(reinterpret_cast<const char *>(tensor.GetData()), static_cast<std::streamsize>(tensor.GetSize()));
  }
  void Flush() { file_.flush(); }

 private:
  std::ofstream file_;
};

Input ReadInput(Reader &from) {
  Input input;
  input.role = static_cast<Role>(from.Read<uint8_t>());
  input.type = static_cast<ge::DataType>(from.Read<int32_t>());
  input.format = static_cast<ge::Format>(from.Read<int32_t>());
  for (uint32_t left = from.Read<uint32_t>(); left > 0; --left) {
    input.dims.push_back(from.Read<int64_t>());
  }
  input.bytes = from.Bytes();
  return input;
}

ge::TensorDesc DescOf(const Input &input) {
  return ge::TensorDesc(ge::Shape(input.dims), input.format, input.type);
}

ge::Tensor TensorOf(const Input &input) { return ge::Tensor(DescOf(input), input.bytes.data(), input.bytes.size()); }

ge::Operator OperatorOf(const Input &input, const std::string &name, int64_t *index, bool open) {
  switch (input.role) {
    case Role::kData: {
      ge::op::Data data(name.c_str());
      ge::TensorDesc desc = DescOf(input);
      if (open) {
        desc.SetShape(ge::Shape(std::vector<int64_t>(input.dims.size(), -1)));
      }
      data.update_input_desc_x(desc);
      data.update_output_desc_y(desc);
      data.set_attr_index((*index)++);
      return data;
    }
    case Role::kConst: {
      ge::op::Const constant(name.c_str());
      constant.set_attr_value(TensorOf(input));
      return constant;
    }
    case Role::kVariable: {
      ge::op::Variable variable(name.c_str());
      variable.update_output_desc_y(DescOf(input));
      return variable;
    }
    case Role::kFile:
      break;
  }
  return ge::Operator();
}

std::vector<ge::Tensor> saved;

uint32_t Save(uint32_t, const std::map<ge::AscendString, ge::Tensor> &tensors) {
  for (const auto &pair : tensors) {
    saved.push_back(pair.second);
  }
  return 0;
}

// Assigns the variables of a case their values.
bool Begin(ge::Session &session, uint32_t id, const Case &one, const std::vector<std::string> &names) {
  ge::Graph graph("begin");
  std::vector<ge::Operator> variables;
  for (size_t at = 0; at < one.inputs.size(); ++at) {
    if (one.inputs[at].role != Role::kVariable) {
      continue;
    }
    ge::op::Variable variable(names[at].c_str());
    variable.update_output_desc_y(DescOf(one.inputs[at]));
    ge::op::Const value((names[at] + "/value").c_str());
    value.set_attr_value(TensorOf(one.inputs[at]));
    ge::op::Assign assign((names[at] + "/assign").c_str());
    assign.set_input_ref(variable).set_input_value(value);
    variables.push_back(variable);
  }
  if (variables.empty()) {
    return true;
  }
  graph.SetInputs(variables);
  std::vector<ge::Tensor> nothing;
  return session.AddGraph(id, graph) == ge::SUCCESS && session.RunGraph(id, {}, nothing) == ge::SUCCESS;
}

std::string Run(ge::Session &session, uint32_t id, Case one, uint32_t repeats, bool open, std::vector<ge::Tensor> *results) {
  std::vector<std::string> names;
  std::vector<ge::AscendString> variables;
  std::vector<ge::Tensor> data;
  std::vector<ge::Operator> starts;
  int64_t index = 0;
  for (size_t at = 0; at < one.inputs.size(); ++at) {
    const Input &input = one.inputs[at];
    const bool variable = input.role == Role::kVariable;
    // A variable belongs to the session: its name has to be the case's own.
    names.push_back(variable ? one.name + "/" + std::to_string(id) + "/" + std::to_string(at) : "in" + std::to_string(at));
    one.operators.push_back(OperatorOf(input, names.back(), &index, open));
    if (input.role == Role::kFile) {
      std::ofstream file(one.file(at), std::ios::binary);
      file.write(reinterpret_cast<const char *>(input.bytes.data()), static_cast<std::streamsize>(input.bytes.size()));
      continue;
    }
    if (input.role == Role::kData) {
      data.push_back(TensorOf(input));
    }
    if (variable) {
      variables.push_back(names.back().c_str());
    }
  }
  if (!Begin(session, id, one, names)) {
    return std::string("begin: ") + ge::GEGetErrorMsgV2().GetString();
  }
  kMakers[one.maker](one);
  for (size_t at = 0; at < one.inputs.size(); ++at) {
    const bool forgotten = std::find(one.forgotten.begin(), one.forgotten.end(), at) != one.forgotten.end();
    if (one.inputs[at].role != Role::kFile && !forgotten) {
      starts.push_back(one.operators[at]);
    }
  }
  for (const ge::Operator &op : one.kept) {
    starts.push_back(op);
  }
  if (starts.empty()) {
    starts.push_back(one.outputs.at(0).first);
  }
  // What a graph remembers of random numbers belongs to its name.
  ge::Graph graph((one.name + "/" + std::to_string(id)).c_str());
  graph.SetInputs(starts);
  if (!one.outputs.empty()) {
    graph.SetOutputs(one.outputs);
  }
  saved.clear();
  bool good = session.AddGraph(id + 1, graph) == ge::SUCCESS;
  if (repeats == 0) {
    good = good && session.BuildGraph(id + 1, std::vector<ge::Tensor>()) == ge::SUCCESS;
    variables.clear();
  }
  for (uint32_t repeat = 0; repeat < repeats && good; ++repeat) {
    std::vector<ge::Tensor> outputs;
    good = session.RunGraph(id + 1, data, outputs) == ge::SUCCESS;
    results->insert(results->end(), outputs.begin(), outputs.end());
  }
  if (!good) {
    const std::string text = ge::GEGetErrorMsgV2().GetString();
    return text.empty() ? "refused without a word" : text;
  }
  std::vector<ge::Tensor> values;
  if (!variables.empty() && session.GetVariables(variables, values) != ge::SUCCESS) {
    return std::string("variables: ") + ge::GEGetErrorMsgV2().GetString();
  }
  results->insert(results->end(), values.begin(), values.end());
  results->insert(results->end(), saved.begin(), saved.end());
  (void)session.RemoveGraph(id + 1);
  return std::string();
}

// Builds each operator of a list with data of two by two for its inputs.
void Build(const char *path) {
  ge::Session session((Options()));
  std::ifstream file(path);
  std::string line;
  for (uint32_t id = 0; std::getline(file, line); ++id) {
    std::istringstream words(line);
    std::string type, name;
    bool outputs = false;
    words >> type;
    ge::Operator op = ge::OperatorFactory::CreateOperator("op", type.c_str());
    std::vector<ge::Operator> starts;
    while (words >> name) {
      outputs = outputs || name == "->";
      if (outputs) {
        continue;
      }
      ge::op::Data data(name.c_str());
      const ge::TensorDesc desc(ge::Shape({2, 2}), ge::FORMAT_ND, ge::DT_FLOAT);
      data.update_input_desc_x(desc);
      data.update_output_desc_y(desc);
      op.SetInput(name.c_str(), data);
      // So that the operator is in the graph even where the input is one of several whose number is not set.
      op.AddControlInput(data);
      starts.push_back(data);
    }
    if (starts.empty()) {
      starts.push_back(op);
    }
    ge::Graph graph(type.c_str());
    graph.SetInputs(starts);
    if (outputs) {
      graph.SetOutputs(std::vector<ge::Operator>{op});
    }
    const bool good = session.AddGraph(id, graph) == ge::SUCCESS &&
                      session.BuildGraph(id, std::vector<ge::Tensor>()) == ge::SUCCESS;
    std::string text = good ? "built" : ge::GEGetErrorMsgV2().GetString();
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::printf("%s\t%s\n", type.c_str(), text.c_str());
  }
}

}  // namespace

// The communicator of the collectives in the table. It has one rank; what several do, collective.cpp beside this folder checks.
class Alone {
 public:
  Alone() : comm_(nullptr) {
    HcclRootInfo root;
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    std::strcpy(config.hcclCommName, "alone");
    good = aclrtSetDevice(0) == ACL_SUCCESS && HcclGetRootInfo(&root) == HCCL_SUCCESS &&
           HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm_) == HCCL_SUCCESS;
  }
  Alone(const Alone &) = delete;
  Alone &operator=(const Alone &) = delete;
  ~Alone() { (void)HcclCommDestroy(comm_); }
  bool good;

 private:
  HcclComm comm_;
};

int main(int count, char **arguments) {
  if (count != 3) {
    std::printf("usage: harness CASES RESULTS\n");
    return 2;
  }
  if (ge::GEInitialize(Options({{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}})) != ge::SUCCESS) {
    std::printf("GEInitialize: %s\n", ge::GEGetErrorMsgV2().GetString());
    return 1;
  }
  if (std::string(arguments[1]) == "--build") {
    Build(arguments[2]);
    return ge::GEFinalize() == ge::SUCCESS ? 0 : 1;
  }
  {
    const Alone alone;
    if (!alone.good) {
      std::printf("communicator: %s\n", aclGetRecentErrMsg());
      return 1;
    }
    Reader from(arguments[1]);
    Writer to(arguments[2]);
    ge::Session session((Options()));
    if (session.RegisterCallBackFunc("Save", Save) != ge::SUCCESS) {
      return 1;
    }
    uint32_t id = 0;
    for (uint32_t left = from.Read<uint32_t>(); left > 0; --left) {
      Case one;
      one.name = from.Text();
      one.maker = from.Read<uint32_t>();
      const uint32_t runs = from.Read<uint32_t>();
      const uint32_t repeats = from.Read<uint32_t>();
      const bool open = from.Read<uint8_t>() != 0;
      for (uint32_t inputs = from.Read<uint32_t>(); inputs > 0; --inputs) {
        one.inputs.push_back(ReadInput(from));
      }
      if (one.maker >= kMakerCount) {
        std::printf("there is no function %u\n", one.maker);
        return 2;
      }
      // The name first: who reads what is left after a crash sees which case it was.
      to.Text(one.name);
      to.Flush();
      std::vector<ge::Tensor> results;
      std::string error;
      for (uint32_t run = 0; run < runs && error.empty(); ++run) {
        error = Run(session, id, one, repeats, open, &results);
        id += 2;
      }
      to.Text(error);
      to.Write(static_cast<uint32_t>(results.size()));
      for (const ge::Tensor &tensor : results) {
        to.Tensor(tensor);
      }
      to.Flush();
    }
  }
  return ge::GEFinalize() == ge::SUCCESS ? 0 : 1;
}
