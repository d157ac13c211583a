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

namespace jumar {
inline void Fill(ModelBufferData &model, const Reply &reply) {
  const std::vector<char> &bytes = reply.All();
  model.data = std::shared_ptr<uint8_t>(new uint8_t[bytes.size() + 1], [](uint8_t *own) { delete[] own; });
  std::memcpy(model.data.get(), bytes.data(), bytes.size());
  model.length = bytes.size();
}
}  // namespace jumar

inline graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString> &global_options) {
  return jumar::Call(jumar::CallId::kBuildInitialize, jumar::Message().Map(global_options)) == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}
inline graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> &global_options) {
  std::map<AscendString, AscendString> options = jumar::FromStrings(global_options);
  return aclgrphBuildInitialize(options);
}
inline void aclgrphBuildFinalize() {}

inline graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<AscendString, AscendString> &build_options,
                                     ModelBufferData &model) {
  jumar::Reply reply;
  if (jumar::Call(jumar::CallId::kBuildModel, jumar::Message().U64(graph.JumarId()).Map(build_options), reply) != 0) {
    return GRAPH_FAILED;
  }
  jumar::Fill(model, reply);
  return GRAPH_SUCCESS;
}
inline graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<std::string, std::string> &build_options,
                                     ModelBufferData &model) {
  return aclgrphBuildModel(graph, jumar::FromStrings(build_options), model);
}
/* Several models in one, which aclmdlBundleLoadFromFile and aclmdlBundleLoadFromMem take. */
inline graphStatus aclgrphBundleBuildModel(const std::vector<ge::GraphWithOptions> &graph_with_options,
                                           ModelBufferData &model) {
  jumar::Message message;
  message.U64(graph_with_options.size());
  for (const GraphWithOptions &one : graph_with_options) {
    message.U64(one.graph.JumarId()).Map(one.build_options);
  }
  jumar::Reply reply;
  if (jumar::Call(jumar::CallId::kBuildBundle, message, reply) != 0) {
    return GRAPH_FAILED;
  }
  jumar::Fill(model, reply);
  return GRAPH_SUCCESS;
}
inline graphStatus aclgrphBuildModel(const std::vector<ge::Graph> &graphs,
                                     const std::map<AscendString, AscendString> &build_options,
                                     ModelBufferData &model) {
  if (graphs.size() == 1) {
    return aclgrphBuildModel(graphs[0], build_options, model);
  }
  std::vector<GraphWithOptions> list;
  for (const Graph &graph : graphs) {
    GraphWithOptions one;
    one.graph = graph;
    one.build_options = build_options;
    list.push_back(one);
  }
  return aclgrphBundleBuildModel(list, model);
}
/* Writes the model; .om is added to a name without it. */
inline graphStatus aclgrphSaveModel(const char_t *file, const ModelBufferData &model) {
  if (file == nullptr || model.data == nullptr) {
    (void)jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text("aclgrphSaveModel is given no file or no model"));
    return GRAPH_PARAM_INVALID;
  }
  return jumar::Call(jumar::CallId::kBuildSave, jumar::Message().Text(file).Bytes(model.data.get(), model.length)) == 0
             ? GRAPH_SUCCESS
             : GRAPH_FAILED;
}
inline graphStatus aclgrphSaveModel(const std::string &file, const ModelBufferData &model) {
  return aclgrphSaveModel(file.c_str(), model);
}
inline graphStatus aclgrphBundleSaveModel(const char_t *file, const ModelBufferData &model) {
  return aclgrphSaveModel(file, model);
}
/* A model by an address alone; aclgrphDestroyModel gives it back. */
typedef void *aclmdlModel;
inline graphStatus aclgrphBuildModelFromData(const void *graph_data, size_t graph_size,
                                             const std::map<AscendString, AscendString> &build_options,
                                             aclmdlModel **model) {
  Graph graph("");
  std::unique_ptr<ModelBufferData> made(new ModelBufferData());
  if (model == nullptr || graph.LoadFromMem(static_cast<const uint8_t *>(graph_data), graph_size) != GRAPH_SUCCESS ||
      aclgrphBuildModel(graph, build_options, *made) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  *model = reinterpret_cast<aclmdlModel *>(made.release());
  return GRAPH_SUCCESS;
}
inline graphStatus aclgrphBuildModelFromFile(const char_t *graph_file,
                                             const std::map<AscendString, AscendString> &build_options,
                                             aclmdlModel **model) {
  Graph graph("");
  std::unique_ptr<ModelBufferData> made(new ModelBufferData());
  if (model == nullptr || graph.LoadFromFile(graph_file) != GRAPH_SUCCESS ||
      aclgrphBuildModel(graph, build_options, *made) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  *model = reinterpret_cast<aclmdlModel *>(made.release());
  return GRAPH_SUCCESS;
}
inline graphStatus aclgrphSaveModelToBuffer(ModelBufferData &model_buffer, const aclmdlModel *model) {
  if (model == nullptr) {
    return GRAPH_PARAM_INVALID;
  }
  model_buffer = *reinterpret_cast<const ModelBufferData *>(model);
  return GRAPH_SUCCESS;
}
inline graphStatus aclgrphSaveModel(const char_t *file, const aclmdlModel *model) {
  ModelBufferData bytes;
  const graphStatus status = aclgrphSaveModelToBuffer(bytes, model);
  return status == GRAPH_SUCCESS ? aclgrphSaveModel(file, bytes) : status;
}
inline graphStatus aclgrphDestroyModel(const aclmdlModel *model) {
  delete reinterpret_cast<const ModelBufferData *>(model);
  return GRAPH_SUCCESS;
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
  return jumar::Call(jumar::CallId::kGraphDumpFile, jumar::Message().U64(graph.JumarId()).Text(path.c_str())) == 0 ? GRAPH_SUCCESS
                                                                                                     : GRAPH_FAILED;
}

}  // namespace ge

#endif
