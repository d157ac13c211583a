/* Types of the Graph Engine: element types, formats, statuses. */
#ifndef JUMAR_GRAPH_TYPES_H_
#define JUMAR_GRAPH_TYPES_H_

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

/* The sets of element types that prototypes name. They are kept as they are written and never checked. */
struct TensorType {
  TensorType(DataType type) : types_(1, type) {}
  TensorType(const std::initializer_list<DataType> &types) : types_(types) {}
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
  std::vector<DataType> types_;
};

struct ListTensorType {
  explicit ListTensorType(const TensorType &type) : tensor_type(type) {}
  TensorType tensor_type;
};

class Promote {
 public:
  Promote(const std::initializer_list<const char *> &names) : names_(names) {}
  Promote(const Promote &) = delete;
  Promote &operator=(const Promote &) = delete;
  Promote(Promote &&) = default;
  Promote &operator=(Promote &&) = default;
  std::vector<const char *> Syms() const { return names_; }

 private:
  std::vector<const char *> names_;
};

/* Gives the size of an element in bytes; one that is smaller than a byte gives its bits and 1000. -1: there is none. */
inline int GetSizeByDataType(DataType type) {
  switch (type) {
    case DT_BOOL: case DT_INT8: case DT_UINT8: case DT_QINT8: case DT_QUINT8: case DT_DUAL_SUB_INT8:
    case DT_DUAL_SUB_UINT8: case DT_HIFLOAT8: case DT_FLOAT8_E5M2: case DT_FLOAT8_E4M3FN: case DT_FLOAT8_E8M0:
      return 1;
    case DT_FLOAT16: case DT_BF16: case DT_INT16: case DT_UINT16: case DT_QINT16: case DT_QUINT16:
      return 2;
    case DT_FLOAT: case DT_INT32: case DT_UINT32: case DT_QINT32: case DT_COMPLEX32:
      return 4;
    case DT_DUAL:
      return 5;
    case DT_DOUBLE: case DT_INT64: case DT_UINT64: case DT_COMPLEX64: case DT_RESOURCE:
      return 8;
    case DT_COMPLEX128: case DT_STRING: case DT_STRING_REF:
      return 16;
    case DT_INT4: case DT_FLOAT4_E2M1: case DT_FLOAT4_E1M2:
      return 1004;
    case DT_FLOAT6_E3M2: case DT_FLOAT6_E2M3:
      return 1006;
    case DT_UINT1:
      return 1001;
    case DT_INT2: case DT_UINT2:
      return 1002;
    default:
      return -1;
  }
}

/* Gives the size of this many elements in bytes; -1: there is none. */
inline int64_t GetSizeInBytes(int64_t count, DataType type) {
  const int64_t size = GetSizeByDataType(type);
  if (count < 0 || size < 0) {
    return -1;
  }
  if (size > 1000) {
    const int64_t bits = size - 1000;
    return count > INT64_MAX / bits - 7 ? -1 : (count * bits + 7) / 8;
  }
  return count > INT64_MAX / size ? -1 : count * size;
}

inline const char_t *GetFormatName(Format format) {
  switch (static_cast<int>(format)) {
    case 0: return "NCHW";
    case 1: return "NHWC";
    case 2: return "ND";
    case 3: return "NC1HWC0";
    case 4: return "FRACTAL_Z";
    case 5: return "NC1C0HWPAD";
    case 6: return "NHWC1C0";
    case 7: return "FSR_NCHW";
    case 8: return "FRACTAL_DECONV";
    case 9: return "C1HWNC0";
    case 10: return "FRACTAL_DECONV_TRANSPOSE";
    case 11: return "FRACTAL_DECONV_SP_STRIDE_TRANS";
    case 12: return "NC1HWC0_C04";
    case 13: return "FRACTAL_Z_C04";
    case 14: return "CHWN";
    case 15: return "FRACTAL_DECONV_SP_STRIDE8_TRANS";
    case 16: return "HWCN";
    case 17: return "NC1KHKWHWC0";
    case 18: return "BN_WEIGHT";
    case 19: return "FILTER_HWCK";
    case 20: return "HASHTABLE_LOOKUP_LOOKUPS";
    case 21: return "HASHTABLE_LOOKUP_KEYS";
    case 22: return "HASHTABLE_LOOKUP_VALUE";
    case 23: return "HASHTABLE_LOOKUP_OUTPUT";
    case 24: return "HASHTABLE_LOOKUP_HITS";
    case 25: return "C1HWNCoC0";
    case 26: return "MD";
    case 27: return "NDHWC";
    case 28: return "FRACTAL_ZZ";
    case 29: return "FRACTAL_NZ";
    case 30: return "NCDHW";
    case 31: return "DHWCN";
    case 32: return "NDC1HWC0";
    case 33: return "FRACTAL_Z_3D";
    case 34: return "CN";
    case 35: return "NC";
    case 36: return "DHWNC";
    case 37: return "FRACTAL_Z_3D_TRANSPOSE";
    case 38: return "FRACTAL_ZN_LSTM";
    case 39: return "FRACTAL_Z_G";
    case 40: return "RESERVED";
    case 41: return "ALL";
    case 42: return "NULL";
    case 43: return "ND_RNN_BIAS";
    case 44: return "FRACTAL_ZN_RNN";
    case 45: return "NYUV";
    case 46: return "NYUV_A";
    case 47: return "NCL";
    case 48: return "FRACTAL_Z_WINO";
    case 49: return "C1HWC0";
    default: return "RESERVED";
  }
}

}  // namespace ge

#endif
