/* Graphs from TensorFlow models are not supported: the functions say so. */
#ifndef JUMAR_PARSER_TENSORFLOW_PARSER_H_
#define JUMAR_PARSER_TENSORFLOW_PARSER_H_

#include <map>

#include "../ge/ge_ir_build.h"

namespace ge {

inline graphStatus aclgrphParseTensorFlow(const char *, const std::map<ge::AscendString, ge::AscendString> &,
                                  ge::Graph &) {
  (void)jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text(
      "TensorFlow models are not supported: convert the model to ONNX and use aclgrphParseONNX"));
  return GRAPH_FAILED;
}

inline graphStatus aclgrphParseTensorFlow(const char *model_file, ge::Graph &graph) {
  return aclgrphParseTensorFlow(model_file, std::map<ge::AscendString, ge::AscendString>(), graph);
}

}  // namespace ge

#endif
