// What the generated functions see of a case: its inputs as operators, and where its outputs go.
#ifndef JUMAR_TESTS_GE_OPS_HARNESS_H_
#define JUMAR_TESTS_GE_OPS_HARNESS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "all_ops.h"
#include "graph/graph.h"
#include "unlisted_ops.h"

// How an input of a case reaches the operator.
enum class Role : uint8_t { kData, kConst, kVariable, kFile };

struct Input {
  Role role = Role::kData;
  ge::DataType type = ge::DT_FLOAT;
  ge::Format format = ge::FORMAT_ND;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

class Case {
 public:
  // The input at a position, as an operator of one output.
  ge::Operator &in(size_t at) { return operators.at(at); }
  const Input &given(size_t at) const { return inputs.at(at); }
  // The name of a file that holds the bytes of an input.
  std::string file(size_t at) const { return name + "." + std::to_string(at) + ".bin"; }
  // All outputs of an operator become outputs of the graph.
  void out(const ge::Operator &op) { outputs.emplace_back(op, std::vector<size_t>()); }
  // Some outputs of an operator become outputs of the graph.
  void out(const ge::Operator &op, const std::vector<size_t> &which) { outputs.emplace_back(op, which); }
  // An input's own operator is not wanted: the case makes one of its own.
  void forget(size_t at) { forgotten.push_back(at); }
  // An operator that the graph begins with, too.
  void keep(const ge::Operator &op) { kept.push_back(op); }

  std::string name;
  uint32_t maker = 0;
  std::vector<Input> inputs;
  std::vector<ge::Operator> operators;
  std::vector<std::pair<ge::Operator, std::vector<size_t>>> outputs;
  std::vector<ge::Operator> kept;
  std::vector<size_t> forgotten;
};

typedef void (*Maker)(Case &);

// The functions that the table became, in the order of their numbers.
extern const Maker kMakers[];
extern const uint32_t kMakerCount;

#endif
