#pragma once
// The average time that calls wait for a handler thread, reported under PyTorch's name
// "agent.gil_average_wait_time_us". While it is off, no clock is read.
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::rpc {

// One per session. Thread-safe.
class HandlerWait {
 public:
  void enable(bool enabled) noexcept { is_on_.store(enabled, std::memory_order_relaxed); }
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  void add(base::Nanoseconds waited) noexcept;
  // Adds nothing while it is off.
  void add_debug_info(std::map<std::string, std::string>& info) const;

 private:
  std::atomic<bool> is_on_{false};
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::int64_t> total_ns_{0};
};

// Times a call from queuing to running. `wait` must outlive it; null: not measured.
class QueuedCall {
 public:
  explicit QueuedCall(HandlerWait* wait) noexcept : wait_(wait != nullptr && wait->is_on() ? wait : nullptr) {
    if (wait_ != nullptr) since_ = base::system_clock().now();
  }
  void runs() const noexcept {
    if (wait_ != nullptr) wait_->add(base::system_clock().now() - since_);
  }

 private:
  HandlerWait* const wait_;
  base::TimePoint since_;
};

}  // namespace distrun::rpc
