/* The inputs and outputs of runs, in both forms that programs use: ge::Tensor and gert::Tensor. */
#ifndef JUMAR_GE_CPP_RUN_H_
#define JUMAR_GE_CPP_RUN_H_

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "access.h"

namespace ge {
namespace jumar {

/* Tensors in the form that the library below takes. The list has to outlive this object. */
class Tensors {
 public:
  Tensors(const std::vector<Tensor> &list, bool on_host) {
    dims_.reserve(list.size());
    for (const Tensor &one : list) {
      const TensorDesc desc = one.GetTensorDesc();
      dims_.push_back(desc.GetShape().GetDims());
      jumar_ge_tensor tensor;
      tensor.dims = dims_.back().data();
      tensor.rank = dims_.back().size();
      tensor.dtype = static_cast<int32_t>(desc.GetDataType());
      tensor.format = static_cast<int32_t>(desc.GetFormat());
      tensor.data = const_cast<uint8_t *>(one.GetData());
      const bool on_device = !on_host && desc.GetPlacement() == kPlacementDevice;
      tensor.bytes = tensor.data == nullptr ? 0 : on_device ? Access::DeviceSize(one) : one.GetSize();
      tensor.on_host = on_host ? 1 : 0;
      all_.push_back(tensor);
    }
  }
  jumar_ge_tensor &operator[](size_t index) { return all_[index]; }
  const jumar_ge_tensor *data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::vector<int64_t>> dims_;
  std::vector<jumar_ge_tensor> all_;
};

/* The same for the runtime's tensors. */
class RuntimeTensors {
 public:
  RuntimeTensors(const std::vector<gert::Tensor> &list, bool all_on_host) {
    dims_.reserve(list.size());
    for (const gert::Tensor &one : list) {
      const gert::Shape &shape = one.GetStorageShape();
      std::vector<int64_t> dims;
      for (size_t at = 0; at < shape.GetDimNum(); ++at) {
        dims.push_back(shape.GetDim(at));
      }
      dims_.push_back(dims);
      jumar_ge_tensor tensor;
      tensor.dims = dims_.back().data();
      tensor.rank = dims_.back().size();
      tensor.dtype = static_cast<int32_t>(one.GetDataType());
      tensor.format = static_cast<int32_t>(one.GetStorageFormat());
      tensor.data = const_cast<void *>(one.GetAddr());
      tensor.bytes = 0;
      if (tensor.data != nullptr) {
        /* A tensor whose size was not set is as large as its shape. */
        const int64_t needs = GetSizeInBytes(shape.GetShapeSize(), one.GetDataType());
        tensor.bytes = one.GetSize() > 0 || needs < 0 ? one.GetSize() : static_cast<size_t>(needs);
      }
      tensor.on_host = all_on_host ? 1 : 0;
      all_.push_back(tensor);
    }
  }
  jumar_ge_tensor &operator[](size_t index) { return all_[index]; }
  const jumar_ge_tensor *data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::vector<int64_t>> dims_;
  std::vector<jumar_ge_tensor> all_;
};

/* Memory behind the address of a runtime's tensor. It is freed with the last tensor that shares it. */
struct Shared {
  std::atomic<size_t> count;
  void *data;
  std::function<void(void *)> free;
  static gert::TensorAddress Make(void *data, const std::function<void(void *)> &free) {
    Shared *shared = new Shared();
    shared->count = 1;
    shared->data = data;
    shared->free = free;
    return shared;
  }
  static graphStatus Manage(gert::TensorAddress address, gert::TensorOperateType what, void **out) {
    Shared *shared = static_cast<Shared *>(address);
    if (shared == nullptr || (what == gert::kGetTensorAddress && out == nullptr)) {
      return GRAPH_FAILED;
    }
    if (what == gert::kGetTensorAddress) {
      *out = shared->data;
    } else if (what == gert::kPlusShareCount) {
      ++shared->count;
    } else if (what == gert::kFreeTensor && --shared->count == 0) {
      shared->free(shared->data);
      delete shared;
    }
    return GRAPH_SUCCESS;
  }
};

/* Sets the shape and the type of a tensor. */
inline void Describe(gert::Tensor &tensor, const TensorDesc &desc) {
  gert::Shape shape;
  for (int64_t dim : desc.GetShape().GetDims()) {
    (void)shape.AppendDim(dim);
  }
  tensor.MutableStorageShape() = shape;
  tensor.MutableOriginShape() = shape;
  tensor.SetDataType(desc.GetDataType());
}

/* Reads the outputs of a run into the runtime's tensors in host memory. */
inline void Outputs(Reply &reply, std::vector<gert::Tensor> &outputs) {
  outputs.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const TensorDesc desc = Access::ReadDesc(reply);
    (void)reply.U64();
    const std::pair<const char *, size_t> bytes = reply.Bytes();
    gert::Tensor output;
    Describe(output, desc);
    output.SetStorageFormat(desc.GetFormat());
    output.SetOriginFormat(desc.GetFormat());
    uint64_t *const copy = new uint64_t[bytes.second / 8 + 1];
    if (bytes.second > 0) {
      std::memcpy(copy, bytes.first, bytes.second);
    }
    const std::function<void(void *)> free = [](void *own) { delete[] static_cast<uint64_t *>(own); };
    output.SetData(gert::TensorData(Shared::Make(copy, free), &Shared::Manage, bytes.second, gert::kOnHost));
    outputs.push_back(std::move(output));
  }
}

/* Reads the outputs of a run from host memory. */
inline void Outputs(Reply &reply, std::vector<Tensor> &outputs) {
  outputs.clear();
  for (uint64_t left = reply.U64(); left > 0; --left) {
    const TensorDesc desc = Access::ReadDesc(reply);
    (void)reply.U64();
    const std::pair<const char *, size_t> bytes = reply.Bytes();
    outputs.push_back(Tensor(desc, reinterpret_cast<const uint8_t *>(bytes.first), bytes.second));
  }
}

template <typename T>
struct Waiting {
  std::function<void(Status, std::vector<T> &)> callback;
  static void Done(void *user, uint32_t status, const void *bytes, size_t size) {
    std::unique_ptr<Waiting> self(static_cast<Waiting *>(user));
    Reply reply;
    reply.Take(bytes, size);
    std::vector<T> outputs;
    Outputs(reply, outputs);
    if (self->callback) {
      self->callback(status, outputs);
    }
  }
};

}  // namespace jumar
}  // namespace ge

#endif
