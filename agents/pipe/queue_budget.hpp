#pragma once
// Bounds what all links of a process have queued together: each has a bound, too, but many stopped peers would fill the
// memory with queues that are not full.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include <distrun/common/base/memory_share.hpp>

namespace distrun::agents::pipe {

// Thread-safe.
class QueueBudget {
 public:
  explicit QueueBudget(std::uint64_t most) noexcept : most_(most) {}
  // Returns the budget of this process: a quarter of the machine's memory.
  static QueueBudget& of_process() noexcept {
    static QueueBudget budget(base::quarter_of_memory());
    return budget;
  }

  bool has_room() const noexcept { return bytes() < most_; }
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t most() const noexcept { return most_; }

 private:
  friend class QueuedBytes;

  const std::uint64_t most_;
  std::atomic<std::uint64_t> bytes_{0};
};

// The bytes in one queue, counted in a budget too. Changed by one thread at a time, read by any.
class QueuedBytes {
 public:
  explicit QueuedBytes(QueueBudget& budget) noexcept : budget_(budget) {}
  ~QueuedBytes() { clear(); }
  QueuedBytes(const QueuedBytes&) = delete;
  QueuedBytes& operator=(const QueuedBytes&) = delete;

  operator std::uint64_t() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  QueuedBytes& operator+=(std::uint64_t bytes) noexcept {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    budget_.bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return *this;
  }
  QueuedBytes& operator-=(std::uint64_t bytes) noexcept {
    const std::uint64_t counted = std::min<std::uint64_t>(bytes, *this);  // none once the queue was cleared
    bytes_.fetch_sub(counted, std::memory_order_relaxed);
    budget_.bytes_.fetch_sub(counted, std::memory_order_relaxed);
    return *this;
  }
  void clear() noexcept { *this -= *this; }

 private:
  QueueBudget& budget_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace distrun::agents::pipe
