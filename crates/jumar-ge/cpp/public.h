/* The public headers. The library is compiled with hidden visibility, so that it exports what they declare and nothing else. */
#ifndef JUMAR_GE_CPP_PUBLIC_H_
#define JUMAR_GE_CPP_PUBLIC_H_

#pragma GCC visibility push(default)
#include "ge/compliant_node_builder.h"
#include "ge/es_graph_builder.h"
#include "ge/fusion/graph_fuse_inspector_utils.h"
#include "ge/fusion/graph_rewriter.h"
#include "ge/fusion/infer_shape_util.h"
#include "ge/fusion/pass/decompose_pass.h"
#include "ge/fusion/pass/pattern_fusion_pass.h"
#include "ge/fusion/pattern_matcher.h"
#include "ge/ge_api_v2.h"
#include "ge/ge_utils.h"
#include "ge/jumar_es_node.h"
#include "graph/custom_op.h"
#include "graph/operator_factory.h"
#include "parser/caffe_parser.h"
#include "parser/onnx_parser.h"
#include "parser/tensorflow_parser.h"
#include "register/op_impl_registry.h"
#include "register/register_custom_pass.h"
#pragma GCC visibility pop

#endif
