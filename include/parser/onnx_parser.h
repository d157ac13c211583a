/* Graphs from ONNX models. */
#ifndef JUMAR_PARSER_ONNX_PARSER_H_
#define JUMAR_PARSER_ONNX_PARSER_H_

#include <map>

#include "../ge/ge_ir_build.h"

namespace ge {

inline graphStatus aclgrphParseONNX(const char *model_file,
                                    const std::map<ge::AscendString, ge::AscendString> &parser_params,
                                    ge::Graph &graph) {
  graph.JumarMake();
  const uint32_t status = jumar::Call(jumar::CallId::kGraphParseOnnxFile,
                                      jumar::Message().U64(graph.JumarId()).Text(model_file).Map(parser_params));
  return status == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}

inline graphStatus aclgrphParseONNXFromMem(const char *buffer, size_t size,
                                           const std::map<ge::AscendString, ge::AscendString> &parser_params,
                                           ge::Graph &graph) {
  graph.JumarMake();
  const uint32_t status = jumar::Call(
      jumar::CallId::kGraphParseOnnx,
      jumar::Message().U64(graph.JumarId()).Bytes(buffer, buffer == nullptr ? 0 : size).Map(parser_params));
  return status == 0 ? GRAPH_SUCCESS : GRAPH_FAILED;
}

}  // namespace ge

#endif
