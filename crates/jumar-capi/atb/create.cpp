/* From parameters to operations. */
#include <cstddef>

#include "../../../include/atb/infer_op_params.h"
#include "objects.h"

namespace jumar {
namespace {

using Fields = std::vector<JumarAtbField>;

/* Adds the first reserved byte that is not zero. `offset` is that of the first byte in the structure. */
template <size_t N>
void Reserve(Fields &fields, const uint8_t (&bytes)[N], size_t offset) {
  for (size_t i = 0; i < N; ++i) {
    if (bytes[i] != 0) {
      fields.push_back(Int("rsv", static_cast<int64_t>(offset + i)));
      return;
    }
  }
}

struct Linear {
  using Param = atb::infer::LinearParam;
  static constexpr const char *kName = "Linear";
  static Fields Read(const Param &param) {
    Fields fields = {
        Flag("transposeA", param.transposeA),
        Flag("transposeB", param.transposeB),
        Flag("hasBias", param.hasBias),
        Int("outDataType", param.outDataType),
        Flag("enAccum", param.enAccum),
        Int("matmulType", param.matmulType),
        Int("quantMode", param.quantMode),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct Elewise {
  using Param = atb::infer::ElewiseParam;
  static constexpr const char *kName = "Elewise";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("elewiseType", param.elewiseType),
        Float("inputScale", param.quantParam.inputScale),
        Flag("asymmetric", param.quantParam.asymmetric),
        Int("inputOffset", param.quantParam.inputOffset),
        Float("varAttr", param.mulsParam.varAttr),
        Int("outTensorType", param.outTensorType),
    };
    Reserve(fields, param.quantParam.rsv, offsetof(Param, quantParam.rsv));
    Reserve(fields, param.mulsParam.rsv, offsetof(Param, mulsParam.rsv));
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct RmsNorm {
  using Param = atb::infer::RmsNormParam;
  static constexpr const char *kName = "RmsNorm";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("layerType", param.layerType),
        Int("normParam.quantType", param.normParam.quantType),
        Float("normParam.epsilon", param.normParam.epsilon),
        Flag("normParam.rstd", param.normParam.rstd),
        Int("normParam.precisionMode", param.normParam.precisionMode),
        Int("normParam.modelType", param.normParam.modelType),
        Int("normParam.dynamicQuantType", param.normParam.dynamicQuantType),
        Int("preNormParam.quantType", param.preNormParam.quantType),
        Float("preNormParam.epsilon", param.preNormParam.epsilon),
        Flag("preNormParam.hasBias", param.preNormParam.hasBias),
        Int("postNormParam.quantType", param.postNormParam.quantType),
        Float("postNormParam.epsilon", param.postNormParam.epsilon),
        Flag("postNormParam.hasBias", param.postNormParam.hasBias),
    };
    Reserve(fields, param.normParam.rsv, offsetof(Param, normParam.rsv));
    Reserve(fields, param.preNormParam.rsv, offsetof(Param, preNormParam.rsv));
    Reserve(fields, param.postNormParam.rsv, offsetof(Param, postNormParam.rsv));
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct GroupTopk {
  using Param = atb::infer::GroupTopkParam;
  static constexpr const char *kName = "GroupTopk";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("groupNum", param.groupNum),
        Int("k", param.k),
        Int("groupMultiFlag", param.groupMultiFlag),
        Int("n", param.n),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct ReshapeAndCache {
  using Param = atb::infer::ReshapeAndCacheParam;
  static constexpr const char *kName = "ReshapeAndCache";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("compressType", param.compressType),
        Int("kvCacheCfg", param.kvCacheCfg),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct Rope {
  using Param = atb::infer::RopeParam;
  static constexpr const char *kName = "Rope";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("rotaryCoeff", param.rotaryCoeff),
        Int("cosFormat", param.cosFormat),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct PagedAttention {
  using Param = atb::infer::PagedAttentionParam;
  static constexpr const char *kName = "PagedAttention";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("headNum", param.headNum),
        Float("qkScale", param.qkScale),
        Int("kvHeadNum", param.kvHeadNum),
        Int("maskType", param.maskType),
        Flag("batchRunStatusEnable", param.batchRunStatusEnable),
        Int("quantType", param.quantType),
        Int("outDataType", param.outDataType),
        Flag("hasQuantOffset", param.hasQuantOffset),
        Int("compressType", param.compressType),
        Int("calcType", param.calcType),
        Int("scaleType", param.scaleType),
        Int("inputLayout", param.inputLayout),
        Int("mlaVHeadSize", param.mlaVHeadSize),
        Float("qScale", param.qScale),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct SelfAttention {
  using Param = atb::infer::SelfAttentionParam;
  static constexpr const char *kName = "SelfAttention";
  static Fields Read(const Param &param) {
    Fields fields = {
        Int("quantType", param.quantType),
        Int("outDataType", param.outDataType),
        Int("headNum", param.headNum),
        Int("kvHeadNum", param.kvHeadNum),
        Float("qScale", param.qScale),
        Float("qkScale", param.qkScale),
        Flag("batchRunStatusEnable", param.batchRunStatusEnable),
        Int("isTriuMask", param.isTriuMask),
        Int("calcType", param.calcType),
        Int("kernelType", param.kernelType),
        Int("clampType", param.clampType),
        Float("clampMin", param.clampMin),
        Float("clampMax", param.clampMax),
        Int("maskType", param.maskType),
        Int("kvcacheCfg", param.kvcacheCfg),
        Int("scaleType", param.scaleType),
        Int("inputLayout", param.inputLayout),
        Int("mlaVHeadSize", param.mlaVHeadSize),
        Int("cacheType", param.cacheType),
        Int("windowSize", param.windowSize),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

struct GroupedMatmulInplaceAdd {
  using Param = atb::infer::GroupedMatmulInplaceAddParam;
  static constexpr const char *kName = "GroupedMatmulInplaceAdd";
  static Fields Read(const Param &param) {
    Fields fields = {
        Flag("transposeA", param.transposeA),
        Flag("transposeB", param.transposeB),
    };
    Reserve(fields, param.rsv, offsetof(Param, rsv));
    return fields;
  }
};

template <class Kind>
atb::Status Create(const typename Kind::Param &param, atb::Operation **operation) {
  if (operation == nullptr) {
    return Refuse(atb::ERROR_INVALID_PARAM, "CreateOperation: operation is a null pointer");
  }
  *operation = nullptr;
  const Fields fields = Kind::Read(param);
  uint64_t handle = 0;
  const atb::Status status = jumar_atb_create(kVersion, Kind::kName, fields.data(), fields.size(), &handle);
  if (status != atb::NO_ERROR) {
    return status;
  }
  auto *object = new (std::nothrow) OperationObject(handle);
  if (object == nullptr) {
    jumar_atb_destroy(kVersion, handle);
    return Refuse(atb::ERROR_OUT_OF_HOST_MEMORY, "CreateOperation: no host memory is left");
  }
  object->Keep(Kind::kName, &param, sizeof(param));
  *operation = object;
  return atb::NO_ERROR;
}

template <class Kind>
atb::Status Clone(const atb::Operation *operation, typename Kind::Param &param) {
  OperationObject *found = nullptr;
  const atb::Status status = Find(operation, &found);
  if (status != atb::NO_ERROR) {
    return status;
  }
  return found->Copy(Kind::kName, &param, sizeof(param))
             ? static_cast<atb::Status>(atb::NO_ERROR)
             : Refuse(atb::ERROR_INVALID_PARAM, "CloneOperationParam: the operation has parameters of another kind");
}

template <class Kind>
atb::Status Update(atb::Operation *operation, const typename Kind::Param &param) {
  OperationObject *found = nullptr;
  atb::Status status = Find(operation, &found);
  if (status != atb::NO_ERROR) {
    return status;
  }
  if (!found->Copy(Kind::kName, nullptr, sizeof(param))) {
    return Refuse(atb::ERROR_INVALID_PARAM, "UpdateOperationParam: the operation has parameters of another kind");
  }
  const Fields fields = Kind::Read(param);
  uint64_t handle = 0;
  status = jumar_atb_create(kVersion, Kind::kName, fields.data(), fields.size(), &handle);
  if (status == atb::NO_ERROR) {
    found->Replace(handle, &param, sizeof(param));
  }
  return status;
}

}  // namespace
}  // namespace jumar

namespace atb {

#define JUMAR_ATB_OPERATION(Kind)                                                                             \
  template <>                                                                                                 \
  Status CreateOperation(const infer::Kind##Param &opParam, Operation **operation) {                          \
    return jumar::Create<jumar::Kind>(opParam, operation);                                                    \
  }                                                                                                           \
  template <>                                                                                                 \
  Status CloneOperationParam(const Operation *operation, infer::Kind##Param &opParam) {                       \
    return jumar::Clone<jumar::Kind>(operation, opParam);                                                     \
  }                                                                                                           \
  template <>                                                                                                 \
  Status UpdateOperationParam(Operation *operation, const infer::Kind##Param &opParam) {                      \
    return jumar::Update<jumar::Kind>(operation, opParam);                                                    \
  }

JUMAR_ATB_OPERATION(Linear)
JUMAR_ATB_OPERATION(Elewise)
JUMAR_ATB_OPERATION(RmsNorm)
JUMAR_ATB_OPERATION(GroupTopk)
JUMAR_ATB_OPERATION(ReshapeAndCache)
JUMAR_ATB_OPERATION(Rope)
JUMAR_ATB_OPERATION(PagedAttention)
JUMAR_ATB_OPERATION(SelfAttention)
JUMAR_ATB_OPERATION(GroupedMatmulInplaceAdd)

}  // namespace atb
