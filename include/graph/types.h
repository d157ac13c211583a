/* Types of the Graph Engine: element types, formats, statuses. */
#ifndef INC_EXTERNAL_GRAPH_TYPES_H_
#define INC_EXTERNAL_GRAPH_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ascend_string.h"
#include "ge_error_codes.h"

namespace ge {

typedef char char_t;
typedef float float32_t;
typedef double float64_t;

enum DataType {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_STRING = 13,
  DT_DUAL_SUB_INT8 = 14,
  DT_DUAL_SUB_UINT8 = 15,
  DT_COMPLEX64 = 16,
  DT_COMPLEX128 = 17,
  DT_QINT8 = 18,
  DT_QINT16 = 19,
  DT_QINT32 = 20,
  DT_QUINT8 = 21,
  DT_QUINT16 = 22,
  DT_RESOURCE = 23,
  DT_STRING_REF = 24,
  DT_DUAL = 25,
  DT_VARIANT = 26,
  DT_BF16 = 27,
  DT_UNDEFINED = 28,
  DT_INT4 = 29,
  DT_UINT1 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_COMPLEX32 = 33,
  DT_HIFLOAT8 = 34,
  DT_FLOAT8_E5M2 = 35,
  DT_FLOAT8_E4M3FN = 36,
  DT_FLOAT8_E8M0 = 37,
  DT_FLOAT6_E3M2 = 38,
  DT_FLOAT6_E2M3 = 39,
  DT_FLOAT4_E2M1 = 40,
  DT_FLOAT4_E1M2 = 41,
  DT_MAX = 42,
};

enum Format {
  FORMAT_NCHW = 0,
  FORMAT_NHWC = 1,
  FORMAT_ND = 2,
  FORMAT_NC1HWC0 = 3,
  FORMAT_FRACTAL_Z = 4,
  FORMAT_NC1C0HWPAD = 5,
  FORMAT_NHWC1C0 = 6,
  FORMAT_FSR_NCHW = 7,
  FORMAT_FRACTAL_DECONV = 8,
  FORMAT_C1HWNC0 = 9,
  FORMAT_FRACTAL_DECONV_TRANSPOSE = 10,
  FORMAT_FRACTAL_DECONV_SP_STRIDE_TRANS = 11,
  FORMAT_NC1HWC0_C04 = 12,
  FORMAT_FRACTAL_Z_C04 = 13,
  FORMAT_CHWN = 14,
  FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS = 15,
  FORMAT_HWCN = 16,
  FORMAT_NC1KHKWHWC0 = 17,
  FORMAT_BN_WEIGHT = 18,
  FORMAT_FILTER_HWCK = 19,
  FORMAT_HASHTABLE_LOOKUP_LOOKUPS = 20,
  FORMAT_HASHTABLE_LOOKUP_KEYS = 21,
  FORMAT_HASHTABLE_LOOKUP_VALUE = 22,
  FORMAT_HASHTABLE_LOOKUP_OUTPUT = 23,
  FORMAT_HASHTABLE_LOOKUP_HITS = 24,
  FORMAT_C1HWNCoC0 = 25,
  FORMAT_MD = 26,
  FORMAT_NDHWC = 27,
  FORMAT_FRACTAL_ZZ = 28,
  FORMAT_FRACTAL_NZ = 29,
  FORMAT_NCDHW = 30,
  FORMAT_DHWCN = 31,
  FORMAT_NDC1HWC0 = 32,
  FORMAT_FRACTAL_Z_3D = 33,
  FORMAT_CN = 34,
  FORMAT_NC = 35,
  FORMAT_DHWNC = 36,
  FORMAT_FRACTAL_Z_3D_TRANSPOSE = 37,
  FORMAT_FRACTAL_ZN_LSTM = 38,
  FORMAT_FRACTAL_Z_G = 39,
  FORMAT_RESERVED = 40,
  FORMAT_ALL = 41,
  FORMAT_NULL = 42,
  FORMAT_ND_RNN_BIAS = 43,
  FORMAT_FRACTAL_ZN_RNN = 44,
  FORMAT_NYUV = 45,
  FORMAT_NYUV_A = 46,
  FORMAT_NCL = 47,
  FORMAT_FRACTAL_Z_WINO = 48,
  FORMAT_C1HWC0 = 49,
  FORMAT_END = 50,
  FORMAT_MAX = 255,
};

enum Placement {
  kPlacementHost = 0,
  kPlacementDevice = 1,
  kPlacementEnd = 2,
};

static const int64_t UNKNOWN_DIM = -1;
static const int64_t UNKNOWN_DIM_NUM = -2;
/* Dimensions of a shape whose sizes, or whose rank, is only known at run time. */
#if defined(__GNUC__)
#define JUMAR_GE_SHAPE_ __attribute__((unused)) static const std::vector<int64_t>
#else
#define JUMAR_GE_SHAPE_ static const std::vector<int64_t>
#endif
JUMAR_GE_SHAPE_ UNKNOWN_SHAPE = {-1};
JUMAR_GE_SHAPE_ UNKNOWN_RANK = {-2};
JUMAR_GE_SHAPE_ DUMMY_SHAPE = {-3};
#undef JUMAR_GE_SHAPE_
static const int64_t SHAPE_RANGE_LOWER_LIMIT = 0;

/* A set of element types that a prototype names. It is kept and never checked. */
struct TensorType {
  TensorType(DataType type);
  TensorType(const std::initializer_list<DataType> &types);
  static TensorType ALL() { return TensorType({}); }
  static TensorType QuantifiedType() { return TensorType({}); }
  static TensorType OrdinaryType() { return TensorType({}); }
  static TensorType BasicType() { return TensorType({}); }
  static TensorType NumberType() { return TensorType({}); }
  static TensorType RealNumberType() { return TensorType({}); }
  static TensorType ComplexDataType() { return TensorType({}); }
  static TensorType IntegerDataType() { return TensorType({}); }
  static TensorType SignedDataType() { return TensorType({}); }
  static TensorType UnsignedDataType() { return TensorType({}); }
  static TensorType FloatingDataType() { return TensorType({}); }
  static TensorType IndexNumberType() { return TensorType({}); }
  static TensorType UnaryDataType() { return TensorType({}); }
  static TensorType FLOAT() { return TensorType({}); }

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

struct ListTensorType {
  explicit ListTensorType(const TensorType &type) : tensor_type(type) {}
  TensorType tensor_type;
};

class Promote {
 public:
  Promote(const std::initializer_list<const char *> &names);
  Promote(const Promote &) = delete;
  Promote &operator=(const Promote &) = delete;
  Promote(Promote &&other) noexcept;
  Promote &operator=(Promote &&other) noexcept;
  std::vector<const char *> Syms() const;

 private:
  std::shared_ptr<void> names_;
};

/* Returns the size of an element in bytes, 1000 plus its bits where it is smaller than a byte, or -1 where it has none. */
int GetSizeByDataType(DataType type);

/* Returns the size of this many elements in bytes, or -1 where they have none. */
int64_t GetSizeInBytes(int64_t count, DataType type);

const char_t *GetFormatName(Format format);

}  // namespace ge

#endif
