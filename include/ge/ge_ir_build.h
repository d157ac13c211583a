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

/* A model that is only known by its address; aclgrphDestroyModel frees it. */
typedef void *aclmdlModel;

graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString> &global_options);
#ifdef JUMAR_GE_LIBRARY
graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> global_options);
#endif
graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> &global_options);
void aclgrphBuildFinalize();

graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<AscendString, AscendString> &build_options,
                              ModelBufferData &model);
graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<std::string, std::string> &build_options,
                              ModelBufferData &model);
graphStatus aclgrphBuildModel(const std::vector<ge::Graph> &graphs,
                              const std::map<AscendString, AscendString> &build_options, ModelBufferData &model);
/* Builds several models into one file, which aclmdlBundleLoadFromFile and aclmdlBundleLoadFromMem take. */
graphStatus aclgrphBundleBuildModel(const std::vector<ge::GraphWithOptions> &graph_with_options,
                                    ModelBufferData &model);
/* Writes the model; .om is appended to a name without it. */
graphStatus aclgrphSaveModel(const char_t *file, const ModelBufferData &model);
graphStatus aclgrphSaveModel(const std::string &file, const ModelBufferData &model);
graphStatus aclgrphSaveModel(const char_t *file, const aclmdlModel *model);
graphStatus aclgrphBundleSaveModel(const char_t *file, const ModelBufferData &model);
graphStatus aclgrphBuildModelFromData(const void *graph_data, size_t graph_size,
                                      const std::map<AscendString, AscendString> &build_options, aclmdlModel **model);
graphStatus aclgrphBuildModelFromFile(const char_t *graph_file,
                                      const std::map<AscendString, AscendString> &build_options, aclmdlModel **model);
graphStatus aclgrphSaveModelToBuffer(ModelBufferData &model_buffer, const aclmdlModel *model);
graphStatus aclgrphDestroyModel(const aclmdlModel *model);
graphStatus aclgrphGetIRVersion(int *major, int *minor, int *patch);
/* Writes a readable text of the graph to <file>.txt. */
graphStatus aclgrphDumpGraph(const ge::Graph &graph, const char_t *file, const size_t length);

}  // namespace ge

#endif
