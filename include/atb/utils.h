/* Sizes of tensors, and the version. */
#ifndef ATB_UTILS_H
#define ATB_UTILS_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "types.h"

namespace atb {

class Utils {
 public:
  /* Returns the version of the library. */
  static std::string GetAtbVersion();
  /* Return the size in bytes; 0 for a tensor without dimensions. */
  static uint64_t GetTensorSize(const Tensor &tensor);
  static uint64_t GetTensorSize(const TensorDesc &tensorDesc);
  /* Return the number of elements; 0 for a tensor without dimensions. */
  static uint64_t GetTensorNumel(const Tensor &tensor);
  static uint64_t GetTensorNumel(const TensorDesc &tensorDesc);
  /* Writes the bits of each number into the lower half of a word. */
  static void QuantParamConvert(const float *src, uint64_t *dest, size_t itemCount);
};

}  // namespace atb
#endif
