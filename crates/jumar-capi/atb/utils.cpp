/* Sizes of tensors. */
#include "../../../include/atb/utils.h"

#include <cstring>

namespace atb {

uint64_t Utils::GetTensorNumel(const TensorDesc &tensorDesc) {
  const Dims &shape = tensorDesc.shape;
  if (shape.dimNum == 0 || shape.dimNum > MAX_DIM) {
    return 0;
  }
  uint64_t count = 1;
  for (uint64_t i = 0; i < shape.dimNum; ++i) {
    if (shape.dims[i] <= 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(shape.dims[i]), &count)) {
      return 0;
    }
  }
  return count;
}

uint64_t Utils::GetTensorNumel(const Tensor &tensor) { return GetTensorNumel(tensor.desc); }

uint64_t Utils::GetTensorSize(const TensorDesc &tensorDesc) {
  const uint64_t count = GetTensorNumel(tensorDesc);
  return count == 0 ? 0 : count * aclDataTypeSize(tensorDesc.dtype);
}

uint64_t Utils::GetTensorSize(const Tensor &tensor) { return GetTensorSize(tensor.desc); }

void Utils::QuantParamConvert(const float *src, uint64_t *dest, size_t itemCount) {
  if (src == nullptr || dest == nullptr) {
    return;
  }
  for (size_t i = 0; i < itemCount; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, src + i, sizeof(bits));
    dest[i] = bits;
  }
}

}  // namespace atb
