/* Statuses of the Graph Engine. */
#ifndef INC_EXTERNAL_GE_GE_API_ERROR_CODES_H_
#define INC_EXTERNAL_GE_GE_API_ERROR_CODES_H_

#include <cstdint>
#include <string>

#include "../graph/ascend_string.h"

namespace ge {

typedef uint32_t Status;

const Status SUCCESS = 0;
const Status FAILED = 0xFFFFFFFF;
const Status END_OF_SEQUENCE = 1343225863;

/* The texts of statuses. */
class StatusFactory {
 public:
  static StatusFactory *Instance();
  void RegisterErrorNo(const uint32_t status, const char *const text);
  void RegisterErrorNo(const uint32_t status, const std::string &text);
  AscendString GetErrDescV2(const uint32_t status);
  std::string GetErrDesc(const uint32_t status);

 private:
  StatusFactory();
  /* A map from statuses to texts, with the older layout of std::string: prebuilt clients add to it without a call. */
  alignas(void *) unsigned char texts_[6 * sizeof(void *)];
};

class ErrorNoRegisterar {
 public:
  ErrorNoRegisterar(const uint32_t status, const std::string &text);
  ErrorNoRegisterar(const uint32_t status, const char *const text);
  ~ErrorNoRegisterar() = default;
};

}  // namespace ge

#define GET_ERRORNO_STR(value) ge::StatusFactory::Instance()->GetErrDesc(value)

#endif
