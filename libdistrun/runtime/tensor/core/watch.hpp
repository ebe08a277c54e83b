#pragma once
// The one hook for observing factories, which autograd does not see, and the bytes of tensors. Without a watcher it
// costs one pointer load. The counterpart of ScopeHook in runtime/autograd/scope.hpp, which covers all other operators.
#include <atomic>
#include <cstdint>

#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>

namespace distrun::tensor {

// Called on any thread. begin() and end() are paired on one thread, and nest.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // `name`, such as "ones", is not copied. The result is passed to end().
  virtual void* begin(const char* name) noexcept = 0;
  virtual void end(void* begun) noexcept = 0;
  // Reports that the device's bytes have grown or shrunk.
  virtual void change(device::Device device, std::int64_t bytes) noexcept = 0;
};

namespace detail {
extern constinit std::atomic<Watcher*> watcher;
}

// Sets the watcher (null: none) and returns the previous one, which must outlive the scopes that it saw begin.
Watcher* set_watcher(Watcher* watcher) noexcept;

// Marks this block as creating a tensor by operator `name`, which errors show.
class MakerScope {
 public:
  explicit MakerScope(const char* name) noexcept
      : called_(name), watcher_(detail::watcher.load(std::memory_order_acquire)) {
    if (watcher_ != nullptr) [[unlikely]]
      begun_ = watcher_->begin(name);
  }
  ~MakerScope() {
    if (watcher_ != nullptr) [[unlikely]]
      watcher_->end(begun_);
  }
  MakerScope(const MakerScope&) = delete;
  MakerScope& operator=(const MakerScope&) = delete;

 private:
  const CalledOperator called_;
  Watcher* const watcher_;
  void* begun_ = nullptr;
};

inline void tell_watcher(device::Device device, std::int64_t bytes) noexcept {
  Watcher* const watcher = detail::watcher.load(std::memory_order_acquire);
  if (watcher != nullptr) [[unlikely]]
    watcher->change(device, bytes);
}

}  // namespace distrun::tensor
