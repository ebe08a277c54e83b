#pragma once
// How long calls wait for a thread that runs them, on the average: a number for those who ask for it, under the name
// that people of the field look for, "agent.gil_average_wait_time_us". Off, no clock is read.
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::rpc {

// Of one session. Any thread.
class HandlerWait {
 public:
  void enable(bool enabled) noexcept { is_on_.store(enabled, std::memory_order_relaxed); }
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  void add(base::Nanoseconds waited) noexcept;
  // Nothing while it is off.
  void add_debug_info(std::map<std::string, std::string>& info) const;

 private:
  std::atomic<bool> is_on_{false};
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::int64_t> total_ns_{0};
};

// A call's, from when it is queued until it runs. `wait` lives as long; null: nobody asks.
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
