#pragma once
// A vector that stores its first few elements in the object: a node nearly always has one or two edges, gradients and
// inputs, and allocating for each would make nodes several times as expensive.
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

namespace distrun::autograd {

// Move-only. T must move without throwing. Pointers to elements are valid until the next push_back() or resize().
template <class T, std::size_t kInline>
class InlineVector {
 public:
  InlineVector() noexcept = default;
  explicit InlineVector(std::size_t size) { resize(size); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      let_go();
      take(other);
    }
    return *this;
  }
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;
  ~InlineVector() { let_go(); }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

  T& push_back(T value) {
    if (size_ == capacity_) grow(2 * capacity_);
    return *std::construct_at(data() + size_++, std::move(value));
  }
  // New elements are T{}.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    while (size_ > size) std::destroy_at(data() + --size_);
    while (size_ < size) std::construct_at(data() + size_++);
  }
  void clear() noexcept {
    std::destroy(begin(), end());
    size_ = 0;
  }

 private:
  bool is_inline() const noexcept { return capacity_ == kInline; }
  T* data() noexcept { return is_inline() ? reinterpret_cast<T*>(inline_) : heap_; }
  const T* data() const noexcept { return is_inline() ? reinterpret_cast<const T*>(inline_) : heap_; }

  void grow(std::size_t capacity) {
    T* larger = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), larger);
    const std::size_t size = size_;
    let_go();
    heap_ = larger;
    size_ = size;
    capacity_ = capacity;
  }
  void let_go() noexcept {
    clear();
    if (!is_inline()) std::allocator<T>().deallocate(heap_, capacity_);
    capacity_ = kInline;
  }
  void take(InlineVector& other) noexcept {
    if (other.is_inline()) {
      std::uninitialized_move(other.begin(), other.end(), data());
      size_ = other.size_;
      other.clear();
      return;
    }
    heap_ = other.heap_;
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInline);
  }

  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
  union {
    alignas(T) std::byte inline_[kInline * sizeof(T)];
    T* heap_;
  };
};

}  // namespace distrun::autograd
