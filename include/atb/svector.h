/* A vector that keeps its first elements in itself. */
#ifndef ATB_SVECTOR_H
#define ATB_SVECTOR_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <ostream>
#include <stdexcept>

namespace atb {

/* The most elements that a vector can have. */
constexpr uint64_t MAX_SVECTOR_SIZE = 256;
/* The elements that a vector keeps in itself. */
constexpr uint64_t DEFAULT_SVECTOR_SIZE = 64;
/* Whether indices are checked. */
constexpr bool CHECK_BOUND = true;

/* Thrown where a vector would have more elements than it can. */
struct MaxSizeExceeded : public std::exception {
  const char *what() const noexcept override { return "an SVector has at most MAX_SVECTOR_SIZE elements"; }
};

/* Elements lie at heap_ where it is not null, and else in storage_. Only reserve allocates. */
template <class T>
class SVector {
 public:
  SVector() noexcept {}

  SVector(std::initializer_list<T> list) {
    CheckSize(list.size(), DEFAULT_SVECTOR_SIZE);
    for (const T &element : list) {
      storage_[size_++] = element;
    }
  }

  explicit SVector(uint64_t size, const T &value = T()) {
    reserve(size);
    resize(size, value);
  }

  SVector(const SVector<T> &other) {
    if (other.size_ > DEFAULT_SVECTOR_SIZE) {
      Allocate(other.size_);
    }
    Copy(other);
  }

  ~SVector() { Release(); }

  SVector<T> &operator=(const SVector<T> &other) {
    if (this != &other) {
      CheckSize(other.size_, Space());
      Copy(other);
    }
    return *this;
  }

  void push_back(const T &value) noexcept((!CHECK_BOUND)) {
    CheckSize(size_ + 1, Space());
    Data()[size_++] = value;
  }

  void reserve(uint64_t size) {
    CheckSize(size, MAX_SVECTOR_SIZE);
    if (size <= Space()) {
      return;
    }
    T *before = heap_;
    const T *from = Data();
    T *memory = static_cast<T *>(std::malloc(size * sizeof(T)));
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    for (uint64_t i = 0; i < size; ++i) {
      new (memory + i) T();
    }
    for (uint64_t i = 0; i < size_; ++i) {
      memory[i] = from[i];
    }
    if (before != nullptr) {
      Release();
    }
    heap_ = memory;
    capacity_ = size;
  }

  void resize(uint64_t size, const T &value = T()) {
    CheckSize(size, Space());
    for (uint64_t i = size_; i < size; ++i) {
      Data()[i] = value;
    }
    size_ = size;
  }

  void insert(uint64_t position, const T &value) {
    if (position > size_) {
      throw std::out_of_range("SVector::insert: the position lies behind the last element");
    }
    CheckSize(size_ + 1, Space());
    for (uint64_t i = size_; i > position; --i) {
      Data()[i] = Data()[i - 1];
    }
    Data()[position] = value;
    ++size_;
  }

  T &at(uint64_t index) { return Data()[Checked(index)]; }
  const T &at(uint64_t index) const { return Data()[Checked(index)]; }
  T &operator[](uint64_t index) { return Data()[Checked(index)]; }
  const T &operator[](uint64_t index) const { return Data()[Checked(index)]; }

  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }
  T *data() noexcept { return Data(); }
  const T *data() const noexcept { return Data(); }
  T *begin() noexcept { return Data(); }
  const T *begin() const noexcept { return Data(); }
  T *end() noexcept { return Data() + size_; }
  const T *end() const noexcept { return Data() + size_; }

  bool operator==(const SVector<T> &other) const {
    if (size_ != other.size_) {
      return false;
    }
    for (uint64_t i = 0; i < size_; ++i) {
      if (!(Data()[i] == other.Data()[i])) {
        return false;
      }
    }
    return true;
  }

  bool operator<(const SVector<T> &other) const {
    const uint64_t common = size_ < other.size_ ? size_ : other.size_;
    for (uint64_t i = 0; i < common; ++i) {
      if (Data()[i] < other.Data()[i]) {
        return true;
      }
      if (other.Data()[i] < Data()[i]) {
        return false;
      }
    }
    return size_ < other.size_;
  }

 private:
  uint64_t Space() const noexcept {
    if (heap_ == nullptr) {
      return DEFAULT_SVECTOR_SIZE;
    }
    // A copy has as much memory as elements, and no capacity.
    return capacity_ > size_ ? capacity_ : size_;
  }

  static void CheckSize(uint64_t size, uint64_t most) {
    if (size > most) {
      throw MaxSizeExceeded();
    }
  }

  uint64_t Checked(uint64_t index) const {
    if (index >= size_) {
      throw std::out_of_range("SVector: the index lies behind the last element");
    }
    return index;
  }

  void Allocate(uint64_t count) {
    heap_ = static_cast<T *>(std::malloc(count * sizeof(T)));
    if (heap_ == nullptr) {
      throw std::bad_alloc();
    }
    for (uint64_t i = 0; i < count; ++i) {
      new (heap_ + i) T();
    }
  }

  void Copy(const SVector<T> &other) {
    for (uint64_t i = 0; i < other.size_; ++i) {
      Data()[i] = other.Data()[i];
    }
    size_ = other.size_;
  }

  void Release() noexcept {
    if (heap_ != nullptr) {
      const uint64_t count = capacity_ > size_ ? capacity_ : size_;
      for (uint64_t i = 0; i < count; ++i) {
        heap_[i].~T();
      }
      std::free(heap_);
      heap_ = nullptr;
    }
  }

  T *Data() noexcept { return heap_ != nullptr ? heap_ : storage_; }
  const T *Data() const noexcept { return heap_ != nullptr ? heap_ : storage_; }

  uint64_t capacity_ = 0;
  uint64_t size_ = 0;
  T storage_[DEFAULT_SVECTOR_SIZE + 1];
  T *heap_ = nullptr;
};

template <class T>
std::ostream &operator<<(std::ostream &stream, const SVector<T> &vector) {
  const char *before = "";
  for (const T &element : vector) {
    stream << before << element;
    before = ", ";
  }
  return stream;
}

}  // namespace atb
#endif
