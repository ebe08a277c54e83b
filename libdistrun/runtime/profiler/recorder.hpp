#pragma once
// The events of one profile, referenced by the states of threads. It lives as long as one of them, or an event in
// progress, may add to it. Thread-safe.
//
//   thread_state().profiler -> Recorder <- Record (an event in progress) <- Span, operators (hooks.hpp)
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/profiler/event.hpp>
#include <distrun/runtime/profiler/options.hpp>

namespace distrun::profiler {

struct Record;  // record.hpp

class Recorder {
 public:
  static constexpr std::int32_t kOwnNode = -1;  // the RPC id of the calling thread's rank (node.hpp)

  explicit Recorder(const ProfileOptions& options, std::int32_t node = kOwnNode);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const ProfileOptions& options() const noexcept { return options_; }
  // Returns whether events may begin.
  bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }
  void close() const noexcept;

  // Numbers events as they begin: orders events of equal time.
  std::uint64_t next_order() const noexcept { return last_order_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void add(std::unique_ptr<Record> record) const noexcept;
  // Adds events that were lost elsewhere.
  void lose(std::uint64_t count) const noexcept;

  // Returns the events with their tree. Waits for devices if device time is measured.
  Events events() const;
  std::uint64_t not_kept() const;

 private:
  void look_for_node() const noexcept;

  const ProfileOptions options_;
  // Threads' states hold a pointer to const, so these members are mutable.
  mutable std::atomic<std::int32_t> node_;
  mutable std::atomic<bool> is_open_{true};
  mutable std::atomic<std::uint64_t> last_order_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::vector<std::unique_ptr<Record>> records_;
  mutable std::uint64_t not_kept_ = 0;
};

}  // namespace distrun::profiler
