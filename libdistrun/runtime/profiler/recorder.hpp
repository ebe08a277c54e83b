#pragma once
// The events of one profile, for which it stands in the states of threads. It lives as long as one of them, or an event
// that has begun, may add to it. Any thread.
//
//   thread_state().profiler -> Recorder <- Record (an event that has begun) <- Span, operators (hooks.hpp)
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
  static constexpr std::int32_t kOwnNode = -1;  // that of RPC of the calling thread's rank (node.hpp)

  explicit Recorder(const ProfileOptions& options, std::int32_t node = kOwnNode);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const ProfileOptions& options() const noexcept { return options_; }
  // Whether events may begin.
  bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }
  void close() const noexcept;

  // A number for each event as it begins: of events of the same time the first began first.
  std::uint64_t next_order() const noexcept { return last_order_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void add(std::unique_ptr<Record> record) const noexcept;
  // So many were lost elsewhere.
  void lose(std::uint64_t count) const noexcept;

  // With the tree that they make. Waits for devices whose time is asked for.
  Events events() const;
  std::uint64_t not_kept() const;

 private:
  void look_for_node() const noexcept;

  const ProfileOptions options_;
  // Threads' states hold what is constant, so all of this may change behind that.
  mutable std::atomic<std::int32_t> node_;
  mutable std::atomic<bool> is_open_{true};
  mutable std::atomic<std::uint64_t> last_order_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::vector<std::unique_ptr<Record>> records_;
  mutable std::uint64_t not_kept_ = 0;
};

}  // namespace distrun::profiler
