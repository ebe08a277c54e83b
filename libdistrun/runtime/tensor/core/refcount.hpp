#pragma once
// Intrusive shared ownership: one allocation, and a handle of one word. Used for tensors and graph nodes.
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace distrun::tensor {

// Base of counted objects. Starts with a count of 0; the first Ref makes it 1. The last Ref deletes the object through
// let_go(), which a class may override.
class Counted {
 public:
  Counted() noexcept = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  virtual ~Counted() = default;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // If one handle is left, no other thread can increment the count, so the last release needs no atomic change.
  void release() const noexcept {
    const bool is_last = count_.load(std::memory_order_acquire) == 1;
    if (is_last || count_.fetch_sub(1, std::memory_order_acq_rel) == 1) const_cast<Counted*>(this)->let_go();
  }
  // Sets the first count of an object that no other thread knows yet: cheaper than retain().
  void retain_first() const noexcept { count_.store(1, std::memory_order_relaxed); }
  std::uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  virtual void let_go() noexcept { delete this; }

 private:
  mutable std::atomic<std::uint32_t> count_{0};
};

// Types that a pointer to T may point to.
template <class U, class T>
concept KindOf = std::convertible_to<U*, T*>;

// A counted pointer. As thread-safe as std::shared_ptr: the count is, the handle is not.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_ != nullptr) object_->retain();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <KindOf<T> U>
  Ref(const Ref<U>& other) noexcept : Ref(static_cast<T*>(other.get())) {}
  template <KindOf<T> U>
  Ref(Ref<U>&& other) noexcept : object_(other.detach()) {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): it is counted once more meanwhile
  Ref& operator=(const Ref& other) noexcept { return *this = Ref(other); }
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }

  // Takes an object that was just created.
  static Ref first(T* object) noexcept {
    Ref made;
    made.object_ = object;
    object->retain_first();
    return made;
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* detach() noexcept { return std::exchange(object_, nullptr); }  // keeps the count
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Arguments>
Ref<T> make_ref(Arguments&&... arguments) {
  return Ref<T>::first(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace distrun::tensor
