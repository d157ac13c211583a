/* The memory of a tensor: an address, and a function that returns its address or releases it. */
#ifndef JUMAR_EXE_GRAPH_RUNTIME_TENSOR_DATA_H_
#define JUMAR_EXE_GRAPH_RUNTIME_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>

#include "../../graph/types.h"

namespace gert {

typedef void *TensorAddress;
typedef const void *ConstTensorAddressPtr;
typedef void *const ConstTensorAddress;

enum TensorOperateType : int32_t {
  kGetTensorAddress = 0,
  kFreeTensor = 1,
  kPlusShareCount = 2,
  kTensorOperateType = 3,
};

enum TensorPlacement : int32_t {
  kOnDeviceHbm = 0,
  kOnHost = 1,
  kFollowing = 2,
  kOnDeviceP2p = 3,
  kTensorPlacementEnd = 4,
};

typedef ge::graphStatus (*TensorAddrManager)(TensorAddress addr, TensorOperateType operate_type, void **out);

class TensorPlacementUtils {
 public:
  static bool IsOnDevice(TensorPlacement placement) { return placement == kOnDeviceHbm || placement == kOnDeviceP2p; }
  static bool IsOnHost(TensorPlacement placement) { return placement == kOnHost || placement == kFollowing; }
  static bool IsOnHostFollowing(TensorPlacement placement) { return placement == kFollowing; }
  static bool IsOnHostNotFollowing(TensorPlacement placement) { return placement == kOnHost; }
  static bool IsOnDeviceHbm(TensorPlacement placement) { return placement == kOnDeviceHbm; }
  static bool IsOnDeviceP2p(TensorPlacement placement) { return placement == kOnDeviceP2p; }
};

class TensorData {
 public:
  explicit TensorData(TensorAddress addr = nullptr, const TensorAddrManager manager = nullptr)
      : addr_(addr), manager_(manager), size_(0), placement_(kTensorPlacementEnd), reserved_(0) {}
  TensorData(TensorAddress addr, const TensorAddrManager manager, size_t size, TensorPlacement placement)
      : addr_(addr), manager_(manager), size_(size), placement_(placement), reserved_(0) {}
  TensorData(const TensorData &) = delete;
  TensorData &operator=(const TensorData &) = delete;
  TensorData(TensorData &&other)
      : addr_(other.addr_), manager_(other.manager_), size_(other.size_), placement_(other.placement_), reserved_(0) {
    other.Forget();
  }
  TensorData &operator=(TensorData &&other) {
    if (this != &other) {
      (void)Free();
      addr_ = other.addr_;
      manager_ = other.manager_;
      size_ = other.size_;
      placement_ = other.placement_;
      other.Forget();
    }
    return *this;
  }
  ~TensorData() { (void)Free(); }
  TensorAddress GetAddr() const {
    void *out = nullptr;
    if (addr_ == nullptr || manager_ == nullptr) {
      return addr_;
    }
    return manager_(addr_, kGetTensorAddress, &out) == ge::GRAPH_SUCCESS ? out : nullptr;
  }
  size_t GetSize() const { return size_; }
  void SetSize(const size_t size) { size_ = size; }
  TensorPlacement GetPlacement() const { return placement_; }
  void SetPlacement(const TensorPlacement placement) { placement_ = placement; }
  ge::graphStatus Free() {
    ge::graphStatus status = ge::GRAPH_SUCCESS;
    if (addr_ != nullptr && manager_ != nullptr) {
      status = manager_(addr_, kFreeTensor, nullptr);
    }
    addr_ = nullptr;
    manager_ = nullptr;
    return status;
  }
  ge::graphStatus SetAddr(const ConstTensorAddressPtr addr, TensorAddrManager manager) {
    const ge::graphStatus status = Free();
    addr_ = const_cast<void *>(addr);
    manager_ = manager;
    return status;
  }
  bool IsSharedWith(const TensorData &other) const {
    return addr_ == other.addr_ && manager_ == other.manager_ && size_ == other.size_ && placement_ == other.placement_;
  }
  ge::graphStatus ShareFrom(const TensorData &other) {
    if (IsSharedWith(other)) {
      return ge::GRAPH_SUCCESS;
    }
    (void)Free();
    addr_ = other.addr_;
    manager_ = other.manager_;
    size_ = other.size_;
    placement_ = other.placement_;
    return addr_ != nullptr && manager_ != nullptr ? manager_(addr_, kPlusShareCount, nullptr) : ge::GRAPH_SUCCESS;
  }
  /* Lets go of the memory without giving it back. */
  TensorAddress Release(TensorAddrManager &manager) {
    manager = manager_;
    const TensorAddress addr = addr_;
    Forget();
    return addr;
  }

 private:
  void Forget() {
    addr_ = nullptr;
    manager_ = nullptr;
    size_ = 0;
    placement_ = kTensorPlacementEnd;
  }
  TensorAddress addr_;
  TensorAddrManager manager_;
  size_t size_;
  TensorPlacement placement_;
  uint32_t reserved_;
  uint8_t more_reserved_[40] = {};
};

}  // namespace gert

#endif
