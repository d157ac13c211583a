/* Device memory that a program hands out itself: what runs allocate on a stream comes from the allocator of the stream. */
#ifndef JUMAR_GE_ALLOCATOR_H_
#define JUMAR_GE_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <memory>

namespace ge {

class Allocator;

/* A block of an allocator. It goes back when as many have let go of it as held it. */
class MemBlock {
 public:
  MemBlock(Allocator &allocator, void *addr, size_t block_size)
      : allocator_(allocator), addr_(addr), count_(1), size_(block_size) {}
  virtual ~MemBlock() = default;
  const void *GetAddr() const { return addr_; }
  void *GetAddr() { return addr_; }
  size_t GetSize() const { return size_; }
  void SetSize(const size_t mem_size) { size_ = mem_size; }
  inline void Free();
  size_t AddCount() { return ++count_; }
  size_t SubCount() { return --count_; }
  size_t GetCount() const { return count_; }

 private:
  Allocator &allocator_;
  void *addr_;
  std::atomic<size_t> count_;
  size_t size_;
};

class Allocator {
 public:
  Allocator() = default;
  virtual ~Allocator() = default;
  Allocator(const Allocator &) = delete;
  Allocator &operator=(const Allocator &) = delete;
  virtual MemBlock *Malloc(size_t size) = 0;
  virtual void Free(MemBlock *block) = 0;
  virtual MemBlock *MallocAdvise(size_t size, void *addr) {
    (void)addr;
    return Malloc(size);
  }
};

inline void MemBlock::Free() {
  if (count_ > 0 && --count_ == 0) {
    allocator_.Free(this);
  }
}

typedef std::shared_ptr<Allocator> AllocatorPtr;

}  // namespace ge

#endif
