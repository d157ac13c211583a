/* Offline models: a graph becomes a model file, or its bytes, which aclmdlLoadFromFile and aclmdlLoadFromMem take. */
#ifndef JUMAR_GE_IR_BUILD_H_
#define JUMAR_GE_IR_BUILD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../graph/graph.h"
#include "ge_api_types.h"

namespace ge {

const int32_t IR_MAJOR_VERSION = 1;
const int32_t IR_MINOR_VERSION = 0;
const int32_t IR_PATCH_VERSION = 0;

struct ModelBufferData {
  std::shared_ptr<uint8_t> data;
  uint64_t length = 0;
};

struct GraphWithOptions {
  ge::Graph graph;
  std::map<AscendString, AscendString> build_options;
};

inline graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString> &global_options) {
  return jumar::Call("build.initialize", jumar::Message().Map(global_options)) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}
inline graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> &global_options) {
  std::map<AscendString, AscendString> options = jumar::FromStrings(global_options);
  return aclgrphBuildInitialize(options);
}
inline void aclgrphBuildFinalize() {}

inline graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<AscendString, AscendString> &build_options,
                                     ModelBufferData &model) {
  jumar::Reply reply;
  if (jumar::Call("build.model", jumar::Message().U64(graph.JumarId()).Map(build_options), reply) != 0) {
    return GRAPH_FAILED;
  }
  const std::vector<char> &bytes = reply.All();
  model.data = std::shared_ptr<uint8_t>(new uint8_t[bytes.size() + 1], [](uint8_t *own) { delete[] own; });
  std::memcpy(model.data.get(), bytes.data(), bytes.size());
  model.length = bytes.size();
  return GRAPH_SUCCESS;
}
inline graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<std::string, std::string> &build_options,
                                     ModelBufferData &model) {
  return aclgrphBuildModel(graph, jumar::FromStrings(build_options), model);
}
inline graphStatus aclgrphBuildModel(const std::vector<ge::Graph> &graphs,
                                     const std::map<AscendString, AscendString> &build_options,
                                     ModelBufferData &model) {
  if (graphs.size() == 1) {
    return aclgrphBuildModel(graphs[0], build_options, model);
  }
  (void)jumar::Call("ge.fail", jumar::Message().Text(
      "aclgrphBuildModel of several graphs at once is not supported: build each of them"));
  return GRAPH_FAILED;
}
inline graphStatus aclgrphBundleBuildModel(const std::vector<ge::GraphWithOptions> &, ModelBufferData &) {
  (void)jumar::Call("ge.fail", jumar::Message().Text("aclgrphBundleBuildModel is not supported yet: build each graph"));
  return GRAPH_FAILED;
}
/* Writes the model; .om is added to a name without it. */
inline graphStatus aclgrphSaveModel(const char_t *file, const ModelBufferData &model) {
  if (file == nullptr || model.data == nullptr) {
    (void)jumar::Call("ge.fail", jumar::Message().Text("aclgrphSaveModel is given no file or no model"));
    return GRAPH_PARAM_INVALID;
  }
  return jumar::Call("build.save", jumar::Message().Text(file).Bytes(model.data.get(), model.length)) == 0
             ? GRAPH_SUCCESS
             : GRAPH_FAILED;
}
inline graphStatus aclgrphSaveModel(const std::string &file, const ModelBufferData &model) {
  return aclgrphSaveModel(file.c_str(), model);
}
inline graphStatus aclgrphGetIRVersion(int *major, int *minor, int *patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) {
    return GRAPH_FAILED;
  }
  *major = IR_MAJOR_VERSION;
  *minor = IR_MINOR_VERSION;
  *patch = IR_PATCH_VERSION;
  return GRAPH_SUCCESS;
}
/* Writes what the graph consists of, for people, to <file>.txt. */
inline graphStatus aclgrphDumpGraph(const ge::Graph &graph, const char_t *file, const size_t length) {
  if (file == nullptr) {
    return GRAPH_PARAM_INVALID;
  }
  const std::string path = std::string(file, length) + ".txt";
  return jumar::Call("graph.dump_file", jumar::Message().U64(graph.JumarId()).Text(path.c_str())) == 0 ? GRAPH_SUCCESS
                                                                                                     : GRAPH_FAILED;
}

}  // namespace ge

#endif
