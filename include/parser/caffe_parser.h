/* Graphs from Caffe models are not supported: the functions say so. */
#ifndef JUMAR_PARSER_CAFFE_PARSER_H_
#define JUMAR_PARSER_CAFFE_PARSER_H_

#include <map>

#include "../ge/ge_ir_build.h"

namespace ge {

graphStatus aclgrphParseCaffe(const char *model_file, const char *weights_file,
                              const std::map<ge::AscendString, ge::AscendString> &parser_params, ge::Graph &graph);
graphStatus aclgrphParseCaffe(const char *model_file, const char *weights_file, ge::Graph &graph);

}  // namespace ge

#endif
