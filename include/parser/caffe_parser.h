/* Graphs from Caffe models are not supported: the functions say so. */
#ifndef JUMAR_PARSER_CAFFE_PARSER_H_
#define JUMAR_PARSER_CAFFE_PARSER_H_

#include <map>

#include "../ge/ge_ir_build.h"

namespace ge {

inline graphStatus aclgrphParseCaffe(const char *, const char *, const std::map<ge::AscendString, ge::AscendString> &,
                                  ge::Graph &) {
  (void)jumar::Call(jumar::CallId::kGeFail, jumar::Message().Text(
      "Caffe models are not supported: convert the model to ONNX and use aclgrphParseONNX"));
  return GRAPH_FAILED;
}

inline graphStatus aclgrphParseCaffe(const char *model_file, const char *weights_file, ge::Graph &graph) {
  return aclgrphParseCaffe(model_file, weights_file, std::map<ge::AscendString, ge::AscendString>(), graph);
}

}  // namespace ge

#endif
