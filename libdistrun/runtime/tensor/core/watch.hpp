#pragma once
// The one place through which others look at what tensors are made of: operators that make some out of nothing, which
// no autograd sees, and the bytes behind them. Without a watcher it costs one load of a pointer. As ScopeHook of
// runtime/autograd/scope.hpp, which is for all other operators.
#include <atomic>
#include <cstdint>

#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>

namespace distrun::tensor {

// Any thread. begin() and end() come in pairs on one thread, nested.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // `name`, "ones", lives on. What it returns is given to end().
  virtual void* begin(const char* name) noexcept = 0;
  virtual void end(void* begun) noexcept = 0;
  // More bytes of the device, or fewer.
  virtual void change(device::Device device, std::int64_t bytes) noexcept = 0;
};

namespace detail {
extern constinit std::atomic<Watcher*> watcher;
}

// Null: none. It must outlive whatever was begun before it was taken away. Returns the former.
Watcher* set_watcher(Watcher* watcher) noexcept;

// From here to the end of the block: a tensor is made by `name`. Errors have that name.
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
