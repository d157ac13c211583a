/* The functions of libascendcl.so that do the work (crates/jumar-capi/src/manual/atb.rs). */
#ifndef JUMAR_CAPI_CPP_CALLS_H_
#define JUMAR_CAPI_CPP_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../../../include/atb/types.h"

extern "C" {

struct JumarAtbField {
  const char *name;
  /* 0: an integer. 1: the bits of a double. */
  uint64_t kind;
  uint64_t bits;
};

int32_t jumar_atb_create(uint32_t version, const char *name, const JumarAtbField *fields, size_t count,
                         uint64_t *operation);
int32_t jumar_atb_destroy(uint32_t version, uint64_t operation);
int32_t jumar_atb_describe(uint32_t version, uint64_t operation, uint32_t *inputs, uint32_t *outputs, char *name,
                           size_t capacity);
int32_t jumar_atb_infer(uint32_t version, uint64_t operation, const atb::TensorDesc *inputs, size_t count,
                        atb::TensorDesc *outputs, size_t capacity);
int32_t jumar_atb_setup(uint32_t version, uint64_t operation, const atb::Tensor *inputs, size_t input_count,
                        const atb::Tensor *outputs, size_t output_count);
int32_t jumar_atb_execute(uint32_t version, uint64_t operation, const atb::Tensor *inputs, size_t input_count,
                          const atb::Tensor *outputs, size_t output_count, void *stream);
int32_t jumar_atb_prepare(uint32_t version, const char *name, const JumarAtbField *fields, size_t count,
                          const void *const *inputs, size_t input_count, const void *const *outputs,
                          size_t output_count, uint64_t *operation);
int32_t jumar_atb_run(uint32_t version, uint64_t operation, void *stream);
int32_t jumar_atb_refuse(uint32_t version, int32_t code, const char *sentence);
}

namespace jumar {

/* The version of the calls. */
constexpr uint32_t kVersion = 1;

inline JumarAtbField Int(const char *name, int64_t value) {
  return {name, 0, static_cast<uint64_t>(value)};
}

inline JumarAtbField Float(const char *name, double value) {
  JumarAtbField field = {name, 1, 0};
  std::memcpy(&field.bits, &value, sizeof(value));
  return field;
}

/* Reads a boolean as a byte: programs may not have initialised it. */
inline JumarAtbField Flag(const char *name, const bool &value) {
  uint8_t byte = 0;
  std::memcpy(&byte, &value, sizeof(byte));
  return Int(name, byte != 0);
}

/* Keeps a sentence for aclGetRecentErrMsg, and returns the code. */
inline atb::Status Refuse(atb::ErrorType code, const char *sentence) {
  const int32_t status = jumar_atb_refuse(kVersion, code, sentence);
  return status == 0 ? static_cast<atb::Status>(code) : status;
}

}  // namespace jumar
#endif
