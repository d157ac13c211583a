/* The functions that take tensors of single operators. */
#include <initializer_list>

#include "objects.h"

#include "../../../include/atb/atb_acl.h"

namespace jumar {
namespace {

using Tensors = std::initializer_list<const void *>;

/* Prepares a call: creates the operation, or uses the one that is passed. */
atb::Status Prepare(const char *name, std::initializer_list<JumarAtbField> fields, Tensors inputs, Tensors outputs,
                    uint64_t *workspaceSize, atb::Operation **op, atb::Context *context) {
  ContextObject *found = nullptr;
  atb::Status status = Find(context, &found);
  if (status != atb::NO_ERROR) {
    return status;
  }
  if (op == nullptr) {
    return Refuse(atb::ERROR_INVALID_OPERATION_ADDR, "op is a null pointer; pass the address of a pointer");
  }
  if (workspaceSize == nullptr) {
    return Refuse(atb::ERROR_INVALID_PARAM, "workspaceSize is a null pointer");
  }
  uint64_t handle = 0;
  if (*op != nullptr) {
    OperationObject *existing = nullptr;
    status = Find(*op, &existing);
    if (status != atb::NO_ERROR) {
      return status;
    }
    handle = existing->Handle();
  }
  status = jumar_atb_prepare(kVersion, name, fields.begin(), fields.size(), inputs.begin(), inputs.size(),
                             outputs.begin(), outputs.size(), &handle);
  *workspaceSize = 0;
  if (status == atb::NO_ERROR && *op == nullptr) {
    *op = new (std::nothrow) OperationObject(handle);
    if (*op == nullptr) {
      jumar_atb_destroy(kVersion, handle);
      return Refuse(atb::ERROR_OUT_OF_HOST_MEMORY, "no host memory is left for the operation");
    }
  }
  return status;
}

atb::Status Run(void * /* workspace */, uint64_t /* workspaceSize */, atb::Operation *op, atb::Context *context) {
  aclrtStream stream = nullptr;
  atb::Status status = StreamOf(context, &stream);
  OperationObject *found = nullptr;
  if (status == atb::NO_ERROR) {
    status = Find(op, &found);
  }
  if (status != atb::NO_ERROR) {
    return status;
  }
  return jumar_atb_run(kVersion, found->Handle(), stream);
}

}  // namespace
}  // namespace jumar

using jumar::Flag;
using jumar::Float;
using jumar::Int;

extern "C" {

atb::Status AtbFusedAddTopkDivGetWorkspaceSize(const aclTensor *x, const aclTensor *addNum, const aclTensor *mappingNum,
                                               const aclTensor *mappingTable, uint32_t groupNum, uint32_t groupTopk,
                                               uint32_t n, uint32_t k, int activationType, bool isNorm, float scale,
                                               bool enableExpertMapping, aclTensor *y, aclTensor *indices,
                                               uint64_t *workspaceSize, atb::Operation **op, atb::Context *context) {
  return jumar::Prepare("FusedAddTopkDiv",
                        {Int("groupNum", groupNum), Int("groupTopk", groupTopk), Int("n", n), Int("k", k),
                         Int("activationType", activationType), Flag("isNorm", isNorm), Float("scale", scale),
                         Flag("enableExpertMapping", enableExpertMapping)},
                        {x, addNum, mappingNum, mappingTable}, {y, indices}, workspaceSize, op, context);
}

atb::Status AtbFusedAddTopkDiv(void *workspace, uint64_t workspaceSize, atb::Operation *op, atb::Context *context) {
  return jumar::Run(workspace, workspaceSize, op, context);
}

atb::Status AtbPagedCacheLoadGetWorkspaceSize(const aclTensor *keyCache, const aclTensor *valueCache,
                                              const aclTensor *blockTables, const aclTensor *contextLens,
                                              const aclTensor *key, const aclTensor *value, const aclTensor *seqStarts,
                                              int8_t kvCacheCfg, bool isSeqLensCumsumType, bool hasSeqStarts,
                                              uint64_t *workspaceSize, atb::Operation **op, atb::Context *context) {
  return jumar::Prepare("PagedCacheLoad",
                        {Int("kvCacheCfg", kvCacheCfg), Flag("isSeqLensCumsumType", isSeqLensCumsumType),
                         Flag("hasSeqStarts", hasSeqStarts)},
                        {keyCache, valueCache, blockTables, contextLens, key, value, hasSeqStarts ? seqStarts : nullptr},
                        {key, value}, workspaceSize, op, context);
}

atb::Status AtbPagedCacheLoad(void *workspace, uint64_t workspaceSize, atb::Operation *op, atb::Context *context) {
  return jumar::Run(workspace, workspaceSize, op, context);
}

atb::Status AtbRingMLAGetWorkspaceSize(const aclTensor *qNope, const aclTensor *qRope, const aclTensor *kNope,
                                       const aclTensor *kRope, const aclTensor *value, const aclTensor *mask,
                                       const aclTensor *seqLen, const aclTensor *prevOut, const aclTensor *prevLse,
                                       int32_t headNum, int32_t kvHeadNum, float qkScale, int kernelType, int maskType,
                                       int inputLayout, int calcType, aclTensor *output, aclTensor *softmaxLse,
                                       uint64_t *workspaceSize, atb::Operation **op, atb::Context *context) {
  return jumar::Prepare("RingMLA",
                        {Int("headNum", headNum), Int("kvHeadNum", kvHeadNum), Float("qkScale", qkScale),
                         Int("kernelType", kernelType), Int("maskType", maskType), Int("inputLayout", inputLayout),
                         Int("calcType", calcType)},
                        {qNope, qRope, kNope, kRope, value, mask, seqLen, prevOut, prevLse}, {output, softmaxLse},
                        workspaceSize, op, context);
}

atb::Status AtbRingMLA(void *workspace, uint64_t workspaceSize, atb::Operation *op, atb::Context *context) {
  return jumar::Run(workspace, workspaceSize, op, context);
}

atb::Status AtbMLAGetWorkspaceSize(const aclTensor *qNope, const aclTensor *qRope, const aclTensor *ctKV,
                                   const aclTensor *kRope, const aclTensor *blockTables, const aclTensor *contextLens,
                                   const aclTensor *mask, const aclTensor *qSeqLen, const aclTensor *qkDescale,
                                   const aclTensor *pvDescale, int32_t headNum, float qkScale, int32_t kvHeadNum,
                                   int maskType, int calcType, uint8_t cacheMode, aclTensor *attenOut, aclTensor *lse,
                                   uint64_t *workspaceSize, atb::Operation **op, atb::Context *context) {
  if (qkDescale != nullptr || pvDescale != nullptr) {
    return jumar::Refuse(atb::ERROR_INVALID_TENSOR_INI_MATCH,
                         "AtbMLA: qkDescale and pvDescale belong to cacheMode 2 (int8), which is not supported");
  }
  return jumar::Prepare("MLA",
                        {Int("headNum", headNum), Float("qkScale", qkScale), Int("kvHeadNum", kvHeadNum),
                         Int("maskType", maskType), Int("calcType", calcType), Int("cacheMode", cacheMode)},
                        {qNope, qRope, ctKV, kRope, blockTables, contextLens, mask, qSeqLen}, {attenOut, lse},
                        workspaceSize, op, context);
}

atb::Status AtbMLA(void *workspace, uint64_t workspaceSize, atb::Operation *op, atb::Context *context) {
  return jumar::Run(workspace, workspaceSize, op, context);
}

atb::Status AtbMLAPreprocessGetWorkspaceSize(
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *, const aclTensor *,
    uint32_t, uint32_t, uint32_t, float, uint32_t, uint32_t, bool, bool, bool, uint8_t, uint16_t, aclTensor *,
    aclTensor *, aclTensor *, aclTensor *, uint64_t *, atb::Operation **, atb::Context *) {
  return jumar::Refuse(atb::ERROR_INVALID_TENSOR_INI_MATCH, "AtbMLAPreprocess is not supported");
}

atb::Status AtbMLAPreprocess(void *, uint64_t, atb::Operation *, atb::Context *) {
  return jumar::Refuse(atb::ERROR_INVALID_TENSOR_INI_MATCH, "AtbMLAPreprocess is not supported");
}

atb::Status AtbSelfAttentionPrefixEncoderGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *blockTables,
    const aclTensor *mask, const aclTensor *seqLen, const aclTensor *kvSeqLen, const aclTensor *slopes, int maskType,
    int32_t headNum, int32_t kvHeadNum, float qkScale, aclTensor *attnOut, uint64_t *workspaceSize,
    atb::Operation **op, atb::Context *context) {
  if (slopes != nullptr) {
    return jumar::Refuse(
        atb::ERROR_INVALID_TENSOR_INI_MATCH,
        "AtbSelfAttentionPrefixEncoder: slopes belong to maskType 4 and 5 (ALIBI_COMPRESS), which are not supported");
  }
  return jumar::Prepare("SelfAttentionPrefixEncoder",
                        {Int("maskType", maskType), Int("headNum", headNum), Int("kvHeadNum", kvHeadNum),
                         Float("qkScale", qkScale)},
                        {query, key, value, blockTables, mask, seqLen, kvSeqLen}, {attnOut}, workspaceSize, op,
                        context);
}

atb::Status AtbSelfAttentionPrefixEncoder(void *workspace, uint64_t workspaceSize, atb::Operation *op,
                                          atb::Context *context) {
  return jumar::Run(workspace, workspaceSize, op, context);
}
}
