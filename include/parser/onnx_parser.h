/* Graphs from ONNX models. */
#ifndef JUMAR_PARSER_ONNX_PARSER_H_
#define JUMAR_PARSER_ONNX_PARSER_H_

#include <map>

#include "../ge/ge_ir_build.h"

namespace ge {

graphStatus aclgrphParseONNX(const char *model_file,
                             const std::map<ge::AscendString, ge::AscendString> &parser_params, ge::Graph &graph);
graphStatus aclgrphParseONNXFromMem(const char *buffer, size_t size,
                                    const std::map<ge::AscendString, ge::AscendString> &parser_params,
                                    ge::Graph &graph);

}  // namespace ge

#endif
