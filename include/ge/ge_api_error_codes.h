/* Statuses of the Graph Engine. */
#ifndef JUMAR_GE_API_ERROR_CODES_H_
#define JUMAR_GE_API_ERROR_CODES_H_

#include <cstdint>
#include <map>
#include <string>

#include "../graph/ascend_string.h"

namespace ge {

typedef uint32_t Status;

const Status SUCCESS = 0;
const Status FAILED = 0xFFFFFFFF;
const Status END_OF_SEQUENCE = 1343225863;

/* What a status says in words. */
class StatusFactory {
 public:
  static StatusFactory *Instance() {
    static StatusFactory instance;
    return &instance;
  }
  void RegisterErrorNo(const uint32_t status, const char *const text) {
    if (texts_.find(status) == texts_.end()) {
      texts_[status] = AscendString(text);
    }
  }
  void RegisterErrorNo(const uint32_t status, const std::string &text) { RegisterErrorNo(status, text.c_str()); }
  AscendString GetErrDescV2(const uint32_t status) {
    const auto found = texts_.find(status);
    return found == texts_.end() ? AscendString("") : found->second;
  }
  std::string GetErrDesc(const uint32_t status) { return std::string(GetErrDescV2(status).GetString()); }

 private:
  StatusFactory() {
    RegisterErrorNo(SUCCESS, "success");
    RegisterErrorNo(FAILED, "failed");
    RegisterErrorNo(END_OF_SEQUENCE, "end of sequence");
    RegisterErrorNo(1343242242, "the graph does not exist");
    RegisterErrorNo(1343225956, "unsupported");
    RegisterErrorNo(1343242295, "the graph was not built");
    RegisterErrorNo(1343225857, "a parameter is invalid");
  }
  std::map<uint32_t, AscendString> texts_;
};

class ErrorNoRegisterar {
 public:
  ErrorNoRegisterar(const uint32_t status, const std::string &text) {
    StatusFactory::Instance()->RegisterErrorNo(status, text);
  }
  ErrorNoRegisterar(const uint32_t status, const char *const text) {
    StatusFactory::Instance()->RegisterErrorNo(status, text);
  }
  ~ErrorNoRegisterar() = default;
};

}  // namespace ge

#define GET_ERRORNO_STR(value) ge::StatusFactory::Instance()->GetErrDesc(value)

#endif
