#pragma once
// Memory of a waiting Asio operation, reused by an object that starts the same operation repeatedly: starting it does
// not fail when memory has run out, and its event is never lost.
#include <boost/asio/bind_allocator.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace distrun::io {

// Has room for one operation at a time; a second one allocates as usual. Shared with the operation, which may still be
// queued when its starter is destroyed. Loop only.
class HandlerMemory {
 public:
  void* take(std::size_t size) {
    if (is_taken_ || size > room_.size()) return ::operator new(size);
    is_taken_ = true;
    return room_.data();
  }
  void give_back(void* memory) noexcept {
    if (memory != room_.data()) return ::operator delete(memory);
    is_taken_ = false;
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 256> room_{};
  bool is_taken_ = false;
};

template <class T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(std::shared_ptr<HandlerMemory> memory) noexcept : memory_(std::move(memory)) {}
  template <class Other>
  HandlerAllocator(const HandlerAllocator<Other>& other) noexcept : memory_(other.memory()) {}  // NOLINT: as all are

  T* allocate(std::size_t count) { return static_cast<T*>(memory_->take(count * sizeof(T))); }
  void deallocate(T* at, std::size_t) noexcept { memory_->give_back(at); }
  const std::shared_ptr<HandlerMemory>& memory() const noexcept { return memory_; }

  friend bool operator==(const HandlerAllocator& a, const HandlerAllocator& b) noexcept {
    return a.memory_ == b.memory_;
  }

 private:
  std::shared_ptr<HandlerMemory> memory_;
};

// Returns `handler` such that its operation is stored in `memory`.
template <class Handler>
auto in_memory(std::shared_ptr<HandlerMemory> memory, Handler handler) {
  return boost::asio::bind_allocator(HandlerAllocator<std::byte>(std::move(memory)), std::move(handler));
}

}  // namespace distrun::io
