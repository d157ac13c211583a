/* The bytes of a graph that was saved. */
#ifndef JUMAR_GRAPH_GRAPH_BUFFER_H_
#define JUMAR_GRAPH_GRAPH_BUFFER_H_

#include <cstdint>
#include <vector>

namespace ge {

class GraphBuffer {
 public:
  GraphBuffer() = default;
  GraphBuffer(const GraphBuffer &) = delete;
  GraphBuffer &operator=(const GraphBuffer &) = delete;
  ~GraphBuffer() = default;
  const std::uint8_t *GetData() const { return bytes_.data(); }
  std::size_t GetSize() const { return bytes_.size(); }
  void JumarSet(const void *bytes, std::size_t size) {
    const std::uint8_t *from = static_cast<const std::uint8_t *>(bytes);
    bytes_.assign(from, from + size);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace ge

#endif
