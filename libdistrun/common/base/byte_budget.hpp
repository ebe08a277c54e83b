#pragma once
// Bounds what many queues of a process hold together: each has a bound, too, but many peers that do not read would fill
// the memory with queues that are not full.
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace distrun::base {

// Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t most) noexcept : most_(most) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  bool has_room() const noexcept { return bytes() < most_; }
  // Returns whether `more` fit. An empty budget has room for any number: what is larger than the budget must pass, too.
  bool has_room_for(std::uint64_t more) const noexcept {
    const std::uint64_t held = bytes();
    return held == 0 || (held <= most_ && more <= most_ - held);
  }
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t most() const noexcept { return most_; }

 private:
  friend class CountedBytes;

  const std::uint64_t most_;
  std::atomic<std::uint64_t> bytes_{0};
};

// The bytes in one queue, counted in a budget too. Changed by one thread at a time, read by any.
class CountedBytes {
 public:
  explicit CountedBytes(ByteBudget& budget) noexcept : budget_(budget) {}
  ~CountedBytes() { clear(); }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;

  operator std::uint64_t() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  CountedBytes& operator+=(std::uint64_t bytes) noexcept {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    budget_.bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return *this;
  }
  CountedBytes& operator-=(std::uint64_t bytes) noexcept {
    const std::uint64_t counted = std::min<std::uint64_t>(bytes, *this);  // none once the queue was cleared
    bytes_.fetch_sub(counted, std::memory_order_relaxed);
    budget_.bytes_.fetch_sub(counted, std::memory_order_relaxed);
    return *this;
  }
  void set(std::uint64_t bytes) noexcept {
    const std::uint64_t before = *this;
    if (bytes >= before) {
      *this += bytes - before;
    } else {
      *this -= before - bytes;
    }
  }
  void clear() noexcept { set(0); }

 private:
  ByteBudget& budget_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace distrun::base
