#pragma once
// The events of one profile, for which it stands in the states of threads. It lives as long as one of them, or an event
// that has begun, may add to it. Any thread.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

class Recorder {
 public:
  explicit Recorder(std::size_t limit) : limit_(limit) {}

  // Whether events may begin.
  bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }
  void close() const noexcept { is_open_.store(false, std::memory_order_relaxed); }
  void add(Event event) const noexcept;

  std::vector<Event> events() const;
  std::uint64_t not_kept() const;

 private:
  const std::size_t limit_;
  // Threads' states hold what is constant, so all of this may change behind that.
  mutable std::atomic<bool> is_open_{true};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::vector<Event> events_;
  mutable std::uint64_t not_kept_ = 0;
};

}  // namespace distrun::profiler
