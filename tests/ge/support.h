// What the programs of these tests share.
#ifndef TESTS_GE_SUPPORT_H_
#define TESTS_GE_SUPPORT_H_

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "ge/ge_api.h"
#include "graph/graph.h"

#define CHECK(condition)                                                                                       \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      std::printf("%s:%d: %s\n%s\n%s\n", __FILE__, __LINE__, #condition, ge::GEGetErrorMsgV2().GetString(),    \
                  aclGetRecentErrMsg());                                                                       \
      std::fflush(stdout);                                                                                     \
      std::_Exit(1);                                                                                           \
    }                                                                                                          \
  } while (0)

typedef std::map<ge::AscendString, ge::AscendString> Options;

inline ge::TensorDesc Desc(const std::vector<int64_t> &dims, ge::DataType type = ge::DT_FLOAT,
                           ge::Format format = ge::FORMAT_ND) {
  return ge::TensorDesc(ge::Shape(dims), format, type);
}

template <typename T>
ge::Tensor Filled(const std::vector<int64_t> &dims, ge::DataType type, const std::vector<T> &values,
                  ge::Format format = ge::FORMAT_ND) {
  return ge::Tensor(Desc(dims, type, format), reinterpret_cast<const uint8_t *>(values.data()),
                    values.size() * sizeof(T));
}

inline ge::Tensor Floats(const std::vector<int64_t> &dims, const std::vector<float> &values) {
  return Filled(dims, ge::DT_FLOAT, values);
}

inline ge::op::Data Input(const char *name, int64_t index, const std::vector<int64_t> &dims,
                          ge::DataType type = ge::DT_FLOAT, ge::Format format = ge::FORMAT_ND) {
  ge::op::Data data(name);
  data.set_attr_index(index);
  data.update_input_desc_x(Desc(dims, type, format));
  data.update_output_desc_y(Desc(dims, type, format));
  return data;
}

template <typename T>
ge::op::Const Constant(const char *name, const std::vector<int64_t> &dims, ge::DataType type,
                       const std::vector<T> &values, ge::Format format = ge::FORMAT_ND) {
  ge::op::Const constant(name);
  constant.set_attr_value(Filled(dims, type, values, format));
  constant.update_output_desc_y(Desc(dims, type, format));
  return constant;
}

inline ge::op::Const Constant(const char *name, const std::vector<int64_t> &dims, const std::vector<float> &values) {
  return Constant(name, dims, ge::DT_FLOAT, values);
}

template <typename T>
std::vector<T> Values(const ge::Tensor &tensor) {
  const T *data = reinterpret_cast<const T *>(tensor.GetData());
  return std::vector<T>(data, data + tensor.GetSize() / sizeof(T));
}

inline bool Near(const std::vector<float> &found, const std::vector<float> &wanted, float distance = 1e-5f) {
  if (found.size() != wanted.size()) {
    return false;
  }
  for (size_t at = 0; at < wanted.size(); ++at) {
    if (!(std::fabs(found[at] - wanted[at]) <= distance)) {
      return false;
    }
  }
  return true;
}

inline std::string Error() { return ge::GEGetErrorMsgV2().GetString(); }
inline std::string Warning() { return ge::GEGetWarningMsgV2().GetString(); }
inline bool Contains(const std::string &text, const char *part) {
  if (text.find(part) != std::string::npos) {
    return true;
  }
  std::printf("wanted \"%s\" in: %s\n", part, text.c_str());
  return false;
}

inline std::vector<char> ReadFile(const std::string &path) {
  std::ifstream file(path.c_str(), std::ios::binary);
  CHECK(file.good());
  return std::vector<char>((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

inline void WriteFile(const std::string &path, const void *data, size_t size) {
  std::ofstream file(path.c_str(), std::ios::binary);
  file.write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
  CHECK(file.good());
}

// A block of device memory.
class Block {
 public:
  explicit Block(size_t bytes) : address_(nullptr), bytes_(bytes) {
    CHECK(aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  }
  explicit Block(const std::vector<float> &values) : Block(values.size() * sizeof(float)) { Set(values); }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block() { (void)aclrtFree(address_); }
  void Set(const std::vector<float> &values) {
    CHECK(aclrtMemcpy(address_, bytes_, values.data(), values.size() * sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE) ==
          ACL_SUCCESS);
  }
  std::vector<float> Get() const {
    std::vector<float> values(bytes_ / sizeof(float));
    CHECK(aclrtMemcpy(values.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    return values;
  }
  void *address() const { return address_; }
  size_t bytes() const { return bytes_; }

 private:
  void *address_;
  size_t bytes_;
};

inline ge::Tensor OnDevice(void *memory, size_t bytes, const std::vector<int64_t> &dims,
                           ge::DataType type = ge::DT_FLOAT) {
  ge::TensorDesc desc = Desc(dims, type);
  desc.SetPlacement(ge::kPlacementDevice);
  ge::Tensor tensor(desc);
  CHECK(tensor.SetData(static_cast<uint8_t *>(memory), bytes, [](uint8_t *) {}) == ge::GRAPH_SUCCESS);
  return tensor;
}
inline ge::Tensor OnDevice(const Block &block, const std::vector<int64_t> &dims) {
  return OnDevice(block.address(), block.bytes(), dims);
}

#endif
