/* Options and callbacks of sessions. */
#ifndef JUMAR_GE_API_TYPES_H_
#define JUMAR_GE_API_TYPES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "../graph/tensor.h"
#include "ge_api_error_codes.h"
#include "jumar_options.h"

namespace ge {

enum GraphRunMode { PREDICTION = 0, TRAIN = 1 };

struct InputTensorInfo {
  uint32_t data_type;
  std::vector<int64_t> dims;
  void *data;
  int64_t length;
};

typedef std::function<void(Status, std::vector<ge::Tensor> &)> RunAsyncCallback;

}  // namespace ge

#endif
