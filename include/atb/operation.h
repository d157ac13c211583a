/* Operations: created from parameters, set up, executed. */
#ifndef ATB_OPERATION_H
#define ATB_OPERATION_H

#include <cstdint>
#include <string>

#include "context.h"
#include "svector.h"
#include "types.h"

#ifdef JUMAR_ATB_LIBRARY
/* The library returns the string in the layout of its caller. */
#define JUMAR_ATB_STRING ::jumar::CallerString
#else
#define JUMAR_ATB_STRING std::string
#endif

namespace atb {

class Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;

  virtual JUMAR_ATB_STRING GetName() const = 0;
  virtual Status InferShape(const SVector<TensorDesc> &inTensorDescs, SVector<TensorDesc> &outTensorDescs) const = 0;
  virtual uint32_t GetInputNum() const = 0;
  virtual uint32_t GetOutputNum() const = 0;
  /* Checks a call, and returns the size of the workspace in bytes. Addresses of device memory may be null. */
  virtual Status Setup(const VariantPack &variantPack, uint64_t &workspaceSize, Context *context) = 0;
  /* Queues a call on the context's stream. Values in host memory are read before it returns. */
  virtual Status Execute(const VariantPack &variantPack, uint8_t *workspace, uint64_t workspaceSize,
                         Context *context) = 0;
};

/* Creates an operation, which the caller returns to DestroyOperation. The parameters are copied. */
template <typename OpParam>
Status CreateOperation(const OpParam &opParam, Operation **operation);

/* Destroys an operation. Its calls that were queued run nevertheless. */
Status DestroyOperation(Operation *operation);

/* Copies the parameters of an operation. */
template <typename OpParam>
Status CloneOperationParam(const Operation *operation, OpParam &opParam);

/* Replaces the parameters of an operation by others of the same kind. */
template <typename OpParam>
Status UpdateOperationParam(Operation *operation, const OpParam &opParam);

}  // namespace atb
#endif
