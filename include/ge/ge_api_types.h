/* Options and callbacks of sessions. */
#ifndef INC_EXTERNAL_GE_COMMON_GE_API_TYPES_H_
#define INC_EXTERNAL_GE_COMMON_GE_API_TYPES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "../graph/tensor.h"
#include "ge_api_error_codes.h"
#include "jumar_options.h"

namespace ge {

enum GraphRunMode { PREDICTION = 0, TRAIN = 1 };
enum MemoryType : std::int64_t { MEMORY_TYPE_DEFAULT = 0, MEMORY_TYPE_P2P = 1 };

struct InputTensorInfo {
  uint32_t data_type;
  std::vector<int64_t> dims;
  void *data;
  int64_t length;
};

struct OutputTensorInfo {
  OutputTensorInfo() = default;
  OutputTensorInfo(OutputTensorInfo &&) = default;
  OutputTensorInfo &operator=(OutputTensorInfo &&) = default;
  OutputTensorInfo(const OutputTensorInfo &) = delete;
  OutputTensorInfo &operator=(const OutputTensorInfo &) = delete;
  uint32_t data_type = 0;
  std::vector<int64_t> dims;
  std::unique_ptr<uint8_t[]> data;
  int64_t length = 0;
};

typedef std::function<void(Status, std::vector<ge::Tensor> &)> RunAsyncCallback;

}  // namespace ge

#endif
