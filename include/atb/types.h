/* Tensors, packs of tensors, graphs, and the codes that functions return. */
#ifndef ATB_TYPES_H
#define ATB_TYPES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../acl/acl.h"
#include "svector.h"

namespace atb {

class Operation;

using Status = int32_t;

/* The most dimensions of a tensor. */
constexpr uint64_t MAX_DIM = 8;

enum ErrorType : int {
  NO_ERROR = 0,
  ERROR_INVALID_PARAM = 1,
  ERROR_INVALID_GRAPH = 2,
  ERROR_INTERNAL_ERROR = 3,
  ERROR_RT_FAIL = 4,
  ERROR_INVALID_IN_TENSOR_NUM = 5,
  ERROR_INVALID_TENSOR_DTYPE = 6,
  ERROR_INVALID_TENSOR_FORMAT = 7,
  ERROR_INVALID_TENSOR_DIM = 8,
  ERROR_INVALID_TENSOR_SIZE = 9,
  ERROR_OPERATION_NULL_RUNNER = 10,
  ERROR_GRAPH_INFERSHAPE_FUNC_FAIL = 11,
  ERROR_CANN_ERROR = 12,
  ERROR_INVALID_TENSOR_INI_MATCH = 13,
  ERROR_INVALID_TENSOR_ADDR = 14,
  ERROR_INVALID_TENSOR_NUM = 15,
  ERROR_INVALID_TENSOR_DIM_NUM = 16,
  ERROR_INVALID_SINGLE_OPERATION_PARAM = 17,
  ERROR_GRAPH_NODE_RESHAPE_FUNC_FAIL = 18,
  ERROR_INVALID_GRAPH_NODE_CHUNK = 19,
  ERROR_INVALID_CONTEXT_ADDR = 20,
  ERROR_INVALID_STREAM = 21,
  ERROR_INVALID_WORKSPACE_SIZE = 22,
  ERROR_INVALID_WORKSPACE_ADDR = 23,
  ERROR_INVALID_OPERATION_ADDR = 24,
  ERROR_HCCL_FAIL = 25,
  ERROR_OUT_OF_DEVICE_MEMORY = 26,
  ERROR_OUT_OF_HOST_MEMORY = 27,
  ERROR_COMM_EMPTY = 28,
  ERROR_COPY_HOST_MEMORY_FAIL = 29
};

/* A shape. Dimensions behind dimNum have no meaning. */
struct Dims {
  int64_t dims[MAX_DIM];
  uint64_t dimNum = 0;
};

/* What a tensor is, without its memory. */
struct TensorDesc {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  Dims shape;
};

/* A tensor in device memory or in host memory. The caller owns both. */
struct Tensor {
  TensorDesc desc;
  void *deviceData = nullptr;
  void *hostData = nullptr;
  /* In bytes. */
  uint64_t dataSize = 0;
};

/* The tensors of a call, in the order of the operation. */
struct VariantPack {
  SVector<Tensor> inTensors;
  SVector<Tensor> outTensors;
};

/* Changes the shape that a node sees of an input. */
using ReshapeFunc = std::function<void(const Dims &oldShape, Dims &newShape)>;
/* Finds the descriptions of a graph's outputs. */
using InferShapeFunc =
    std::function<Status(const SVector<TensorDesc> &inTensorDescs, SVector<TensorDesc> &outTensorDescs)>;

/* One of equal parts of a tensor along its first dimension. */
struct Chunk {
  uint32_t chunkNum = 1;
  uint32_t chunkIndex = 0;
};

/* An operation of a graph, and the numbers of its tensors. */
struct Node {
  Operation *operation = nullptr;
  SVector<uint32_t> inTensorIds;
  SVector<uint32_t> outTensorIds;
  SVector<ReshapeFunc> inTensorReshapeFuncs;
  SVector<Chunk> inTensorChunks;
};

/* A graph: inputs have the first numbers, then outputs, then tensors inside. */
struct GraphParam {
  std::string name;
  uint32_t inTensorNum = 0;
  uint32_t outTensorNum = 0;
  uint32_t internalTensorNum = 0;
  std::vector<Node> nodes;
  InferShapeFunc inferShapeFunc = nullptr;
};

/* Which part of a call a context makes. */
enum ExecuteType : int { EXECUTE_NORMAL = 0, EXECUTE_PRELAUNCH = 1, EXECUTE_LAUNCH = 2 };

/* How a context launches. */
enum LaunchMode : int { KERNEL_LAUNCH_MODE = 0, GRAPH_LAUNCH_MODE = 1 };

}  // namespace atb
#endif
