/* Offline models, and graphs from the files of other frameworks. */
#include <string>

#include "access.h"
#include "build.h"
#include "custom.h"
#include "passes.h"

namespace ge {

using jumar::About;
using jumar::Access;
using jumar::CallId;
using jumar::Did;
using jumar::Message;
using jumar::Reply;

void jumar::Fill(ModelBufferData &model, const Reply &reply) {
  const std::vector<char> &bytes = reply.All();
  model.data = std::shared_ptr<uint8_t>(new uint8_t[bytes.size() + 1], [](uint8_t *own) { delete[] own; });
  std::memcpy(model.data.get(), bytes.data(), bytes.size());
  model.length = bytes.size();
}

graphStatus aclgrphBuildInitialize(std::map<AscendString, AscendString> &global_options) {
  jumar::LoadCustomOperators();
  return Did(CallId::kBuildInitialize, Message().Map(global_options));
}
void aclgrphBuildFinalize() {}

graphStatus aclgrphBuildModel(const ge::Graph &graph, const std::map<AscendString, AscendString> &build_options,
                              ModelBufferData &model) {
  Graph changed;
  Reply reply;
  if (jumar::RunPasses(graph, build_options, jumar::Options(), changed) != SUCCESS ||
      Did(CallId::kBuildModel, About(changed).Map(build_options), reply) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  jumar::Fill(model, reply);
  return GRAPH_SUCCESS;
}
graphStatus aclgrphBundleBuildModel(const std::vector<ge::GraphWithOptions> &graph_with_options,
                                    ModelBufferData &model) {
  Message message;
  message.U64(graph_with_options.size());
  /* The graphs live until the call has read them. */
  std::vector<Graph> graphs;
  for (const GraphWithOptions &one : graph_with_options) {
    graphs.emplace_back();
    if (jumar::RunPasses(one.graph, one.build_options, jumar::Options(), graphs.back()) != SUCCESS) {
      return GRAPH_FAILED;
    }
    message.U64(Access::Id(graphs.back())).Map(one.build_options);
  }
  Reply reply;
  if (Did(CallId::kBuildBundle, message, reply) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  jumar::Fill(model, reply);
  return GRAPH_SUCCESS;
}
graphStatus aclgrphBuildModel(const std::vector<ge::Graph> &graphs,
                              const std::map<AscendString, AscendString> &build_options, ModelBufferData &model) {
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
graphStatus aclgrphSaveModel(const char_t *file, const ModelBufferData &model) {
  if (file == nullptr || model.data == nullptr) {
    (void)jumar::Fail(file == nullptr ? "aclgrphSaveModel: the file name is null"
                                      : "aclgrphSaveModel: the model has no data; build it first");
    return GRAPH_PARAM_INVALID;
  }
  return Did(CallId::kBuildSave, Message().Text(file).Bytes(model.data.get(), model.length));
}
graphStatus aclgrphBundleSaveModel(const char_t *file, const ModelBufferData &model) {
  return aclgrphSaveModel(file, model);
}
graphStatus aclgrphBuildModelFromData(const void *graph_data, size_t graph_size,
                                      const std::map<AscendString, AscendString> &build_options, aclmdlModel **model) {
  Graph graph("");
  std::unique_ptr<ModelBufferData> made(new ModelBufferData());
  if (model == nullptr || graph.LoadFromMem(static_cast<const uint8_t *>(graph_data), graph_size) != GRAPH_SUCCESS ||
      aclgrphBuildModel(graph, build_options, *made) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  *model = reinterpret_cast<aclmdlModel *>(made.release());
  return GRAPH_SUCCESS;
}
graphStatus aclgrphBuildModelFromFile(const char_t *graph_file,
                                      const std::map<AscendString, AscendString> &build_options, aclmdlModel **model) {
  Graph graph("");
  std::unique_ptr<ModelBufferData> made(new ModelBufferData());
  if (model == nullptr || graph.LoadFromFile(graph_file) != GRAPH_SUCCESS ||
      aclgrphBuildModel(graph, build_options, *made) != GRAPH_SUCCESS) {
    return GRAPH_FAILED;
  }
  *model = reinterpret_cast<aclmdlModel *>(made.release());
  return GRAPH_SUCCESS;
}
graphStatus aclgrphSaveModelToBuffer(ModelBufferData &model_buffer, const aclmdlModel *model) {
  if (model == nullptr) {
    return GRAPH_PARAM_INVALID;
  }
  model_buffer = *reinterpret_cast<const ModelBufferData *>(model);
  return GRAPH_SUCCESS;
}
graphStatus aclgrphSaveModel(const char_t *file, const aclmdlModel *model) {
  ModelBufferData bytes;
  const graphStatus status = aclgrphSaveModelToBuffer(bytes, model);
  return status == GRAPH_SUCCESS ? aclgrphSaveModel(file, bytes) : status;
}
graphStatus aclgrphDestroyModel(const aclmdlModel *model) {
  delete reinterpret_cast<const ModelBufferData *>(model);
  return GRAPH_SUCCESS;
}
graphStatus aclgrphGetIRVersion(int *major, int *minor, int *patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) {
    return GRAPH_FAILED;
  }
  *major = IR_MAJOR_VERSION;
  *minor = IR_MINOR_VERSION;
  *patch = IR_PATCH_VERSION;
  return GRAPH_SUCCESS;
}
graphStatus aclgrphDumpGraph(const ge::Graph &graph, const char_t *file, const size_t length) {
  if (file == nullptr) {
    return GRAPH_PARAM_INVALID;
  }
  const std::string path = std::string(file, length) + ".txt";
  return Did(CallId::kGraphDumpFile, About(graph).Text(path.c_str()));
}

graphStatus aclgrphParseONNX(const char *model_file,
                             const std::map<ge::AscendString, ge::AscendString> &parser_params, ge::Graph &graph) {
  Access::CreateIfEmpty(graph);
  return Did(CallId::kGraphParseOnnxFile, About(graph).Text(model_file).Map(parser_params));
}
graphStatus aclgrphParseONNXFromMem(const char *buffer, size_t size,
                                    const std::map<ge::AscendString, ge::AscendString> &parser_params,
                                    ge::Graph &graph) {
  Access::CreateIfEmpty(graph);
  return Did(CallId::kGraphParseOnnx, About(graph).Bytes(buffer, buffer == nullptr ? 0 : size).Map(parser_params));
}
graphStatus aclgrphParseCaffe(const char *, const char *, const std::map<ge::AscendString, ge::AscendString> &,
                              ge::Graph &) {
  (void)jumar::Fail("Caffe models are not supported: convert the model to ONNX and use aclgrphParseONNX");
  return GRAPH_FAILED;
}
graphStatus aclgrphParseCaffe(const char *model_file, const char *weights_file, ge::Graph &graph) {
  return aclgrphParseCaffe(model_file, weights_file, std::map<ge::AscendString, ge::AscendString>(), graph);
}
graphStatus aclgrphParseTensorFlow(const char *, const std::map<ge::AscendString, ge::AscendString> &, ge::Graph &) {
  (void)jumar::Fail("TensorFlow models are not supported: convert the model to ONNX and use aclgrphParseONNX");
  return GRAPH_FAILED;
}
graphStatus aclgrphParseTensorFlow(const char *model_file, ge::Graph &graph) {
  return aclgrphParseTensorFlow(model_file, std::map<ge::AscendString, ge::AscendString>(), graph);
}

}  // namespace ge
