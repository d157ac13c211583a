/* The bytes of a graph that was saved. */
#ifndef JUMAR_GRAPH_GRAPH_BUFFER_H_
#define JUMAR_GRAPH_GRAPH_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ge {

namespace jumar {
struct Access;
}

class GraphBuffer {
 public:
  GraphBuffer();
  GraphBuffer(const GraphBuffer &) = delete;
  GraphBuffer &operator=(const GraphBuffer &) = delete;
  ~GraphBuffer();
  const std::uint8_t *GetData() const;
  std::size_t GetSize() const;

 private:
  friend struct jumar::Access;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ge

#endif
