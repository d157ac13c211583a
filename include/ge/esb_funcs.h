/* Graphs by function calls, for programs in C. A function that fails returns a null pointer, or a status other than 0; the
 * explanation is the error text of the Graph Engine. Tensors belong to the builder of their graph and live as long as it. */
#ifndef JUMAR_ESB_FUNCS_H_
#define JUMAR_ESB_FUNCS_H_

#include <stdbool.h>
#include <stdint.h>

#include "../graph/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The builder of a graph. */
typedef struct EsCGraphBuilder EsCGraphBuilder;
/* An output of a node in a graph that is being built. */
typedef struct EsCTensorHolder EsCTensorHolder;
/* A ge::Graph, a ge::Tensor and a ge::GNode. The function that takes a graph or a tensor as an attribute owns it from then on. */
typedef void EsCGraph;
typedef void EsCTensor;
typedef void EsCNode;

EsCGraphBuilder *EsCreateGraphBuilder(const char *name);
void EsDestroyGraphBuilder(EsCGraphBuilder *graph);
/* Builds the graph from the outputs that were set, and starts a new one. The caller owns the graph. */
EsCGraph *EsBuildGraphAndReset(EsCGraphBuilder *graph);

EsCTensorHolder *EsCreateGraphInput(EsCGraphBuilder *graph, int64_t index);
EsCTensorHolder *EsCreateGraphInputWithDetails(EsCGraphBuilder *graph, int64_t index, const char *name, const char *type,
                                               C_DataType data_type, C_Format format, const int64_t *shape,
                                               int64_t dim_num);
uint32_t EsSetGraphOutput(EsCTensorHolder *tensor, int64_t output_index);

#define JUMAR_ES_CONSTANTS_(Name, T)                                                                               \
  EsCTensorHolder *EsCreateConst##Name(EsCGraphBuilder *graph, const T *value, const int64_t *dims, int64_t dim_num); \
  EsCTensorHolder *EsCreateVector##Name(EsCGraphBuilder *graph, const T *value, int64_t dim);                      \
  EsCTensorHolder *EsCreateScalar##Name(EsCGraphBuilder *graph, T value);
JUMAR_ES_CONSTANTS_(Int64, int64_t)
JUMAR_ES_CONSTANTS_(Int32, int32_t)
JUMAR_ES_CONSTANTS_(UInt64, uint64_t)
JUMAR_ES_CONSTANTS_(UInt32, uint32_t)
JUMAR_ES_CONSTANTS_(Float, float)
#undef JUMAR_ES_CONSTANTS_
EsCTensorHolder *EsCreateVariable(EsCGraphBuilder *graph, int32_t index, const char *name);

/* Copies the data into a tensor, for attributes of operators. */
EsCTensor *EsCreateEsCTensor(const void *data, const int64_t *dim, int64_t dim_num, C_DataType data_type,
                             C_Format format);
EsCTensor *EsCreateEsCTensorFromFile(const char *data_file_path, const int64_t *dim, int64_t dim_num,
                                     C_DataType data_type, C_Format format);

uint32_t EsSetDataType(EsCTensorHolder *tensor, C_DataType data_type);
uint32_t EsSetFormat(EsCTensorHolder *tensor, C_Format format);
uint32_t EsSetShape(EsCTensorHolder *tensor, const int64_t *shape, int64_t dim_num);
/* Not supported: shapes of symbols. It fails with an explanation. */
uint32_t EsSetOriginSymbolShape(EsCTensorHolder *tensor, const char *const *shape, int64_t dim_num);
uint32_t EsAddControlEdge(EsCTensorHolder *dest_ctrl_tensor, EsCTensorHolder **src_ctrl_tensors,
                          int64_t ctrl_tensors_num);

/* Attributes of a graph have no effect. Those of a tensor are kept at the node that computes it. */
uint32_t EsSetInt64AttrForGraph(EsCGraphBuilder *graph, const char *attr_name, int64_t value);
uint32_t EsSetStringAttrForGraph(EsCGraphBuilder *graph, const char *attr_name, const char *value);
uint32_t EsSetBoolAttrForGraph(EsCGraphBuilder *graph, const char *attr_name, bool value);
uint32_t EsSetInt64AttrForTensor(EsCTensorHolder *tensor, const char *attr_name, int64_t value);
uint32_t EsSetStringAttrForTensor(EsCTensorHolder *tensor, const char *attr_name, const char *value);
uint32_t EsSetBoolAttrForTensor(EsCTensorHolder *tensor, const char *attr_name, bool value);
uint32_t EsSetInt64AttrForNode(EsCTensorHolder *tensor, const char *attr_name, int64_t value);
uint32_t EsSetStringAttrForNode(EsCTensorHolder *tensor, const char *attr_name, const char *value);
uint32_t EsSetBoolAttrForNode(EsCTensorHolder *tensor, const char *attr_name, bool value);

EsCGraphBuilder *EsGetOwnerBuilder(EsCTensorHolder *tensor);
EsCNode *EsGetProducer(EsCTensorHolder *tensor);

#ifdef __cplusplus
}
#endif

#endif
