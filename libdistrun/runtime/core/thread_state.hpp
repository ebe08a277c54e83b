#pragma once
// The state that a thread works under: grad mode, current device and streams, the autograd context, the profiler, the
// rank. It is one object, so that a task that continues in another thread takes all of it along, including future
// members.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace distrun::device {
enum class StreamId : std::uint64_t;  // runtime/device/device.hpp
}

namespace distrun::core {

class RankState;  // rank_state.hpp

// A value: a snapshot is a copy.
struct ThreadState {
  bool grad_enabled = true;
  bool anomaly_checked = false;           // runtime/autograd/anomaly.hpp
  std::int16_t device = 0;                // current GPU
  std::vector<device::StreamId> streams;  // by GPU; GPUs beyond it use the default stream
  std::int64_t autograd_context = -1;     // distributed autograd's; -1: none
  std::shared_ptr<const void> profiler;   // profiler/'s; empty: none
  std::shared_ptr<const void> call;       // call of rpc/ that the thread executes for a peer; empty: none
  RankState* rank = nullptr;              // rank that the thread works for; null: the process's
};

// Returns the calling thread's state. Any function may change it, and restores it with a guard.
ThreadState& thread_state() noexcept;

// Scope guard. While it lives, the thread works under the given state.
class ThreadStateGuard {
 public:
  explicit ThreadStateGuard(ThreadState state) : before_(std::move(thread_state())) {
    thread_state() = std::move(state);
  }
  ~ThreadStateGuard() { thread_state() = std::move(before_); }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  ThreadState before_;
};

}  // namespace distrun::core
