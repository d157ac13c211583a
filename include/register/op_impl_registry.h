/* Functions of the program for an operator type, beside the class that runs it: IMPL_OP(Type).InferShape(function); */
#ifndef JUMAR_REGISTER_OP_IMPL_REGISTRY_H_
#define JUMAR_REGISTER_OP_IMPL_REGISTRY_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "../exe_graph/runtime/infer_datatype_context.h"
#include "../exe_graph/runtime/infer_shape_context.h"
#include "../graph/ascend_string.h"
#include "../graph/types.h"

namespace gert {

class InferShapeRangeContext;
class TilingContext;
class TilingParseContext;

/* A registration counts as long as it, or a copy of it, lives. Of several for a type the last one that has a function counts for
 * that function. */
class OpImplRegisterV2 {
 public:
  typedef uint32_t (*InferShapeKernelFunc)(InferShapeContext *);
  typedef uint32_t (*InferShapeRangeKernelFunc)(InferShapeRangeContext *);
  typedef uint32_t (*InferDataTypeKernelFunc)(InferDataTypeContext *);
  typedef uint32_t (*TilingKernelFunc)(TilingContext *);
  typedef uint32_t (*TilingParseFunc)(TilingParseContext *);

  explicit OpImplRegisterV2(const ge::char_t *op_type);
  OpImplRegisterV2(OpImplRegisterV2 &&register_data) noexcept;
  OpImplRegisterV2(const OpImplRegisterV2 &register_data);
  OpImplRegisterV2 &operator=(const OpImplRegisterV2 &) = delete;
  OpImplRegisterV2 &operator=(OpImplRegisterV2 &&) = delete;
  ~OpImplRegisterV2();

  OpImplRegisterV2 &InferShape(InferShapeKernelFunc infer_shape_func);
  OpImplRegisterV2 &InferDataType(InferDataTypeKernelFunc infer_datatype_func);
  /* Every output has the type of the first input. */
  OpImplRegisterV2 &InferOutDataTypeSameWithFirstInput();
  /* The inputs, by their numbers in the definition, whose values are complete when functions of the operator are called. */
  OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> inputs);

  /* What follows describes kernels of the device and ranges of shapes. An operator that Execute runs needs neither. */
  OpImplRegisterV2 &InferShapeRange(InferShapeRangeKernelFunc) { return *this; }
  OpImplRegisterV2 &Tiling(TilingKernelFunc, size_t = 2048) { return *this; }
  template <typename T>
  OpImplRegisterV2 &TilingParse(TilingParseFunc) {
    return *this;
  }
  OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t>) { return *this; }
  OpImplRegisterV2 &PrivateAttr(const ge::char_t *) { return *this; }
  template <typename T>
  OpImplRegisterV2 &PrivateAttr(const ge::char_t *, const T &) {
    return *this;
  }

 private:
  struct Impl;
  friend struct OpImplRegistry;
  std::shared_ptr<Impl> impl_;
};

}  // namespace gert

#define JUMAR_OP_IMPL_JOINED_(a, b) a##b
#define JUMAR_OP_IMPL_NAME_(number) JUMAR_OP_IMPL_JOINED_(jumar_op_impl_, number)
#if defined(__GNUC__)
#define JUMAR_OP_IMPL_UNUSED_ __attribute__((unused))
#else
#define JUMAR_OP_IMPL_UNUSED_
#endif
#define IMPL_OP(op_type) \
  static gert::OpImplRegisterV2 JUMAR_OP_IMPL_NAME_(__COUNTER__) JUMAR_OP_IMPL_UNUSED_ = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_INFERSHAPE(op_type) IMPL_OP(op_type)
#ifndef IMPL_OP_OPTILING
#define IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
#endif

#endif
