#pragma once
// What a thread works under: grad mode, current device and streams, the autograd context, the profiler, the rank. One
// object, so that a task that goes on in another thread takes all of it along and nothing is forgotten when there is
// more of it.
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
  std::int16_t device = 0;                // the current GPU
  std::vector<device::StreamId> streams;  // by GPU; those beyond it: the default stream
  std::int64_t autograd_context = -1;     // of distributed autograd; -1: none
  std::shared_ptr<const void> profiler;   // of profiler/; empty: none
  std::shared_ptr<const void> call;       // of rpc/, that is run for somebody else; empty: none
  RankState* rank = nullptr;              // whose work this is; null: the process's
};

// The calling thread's. Any function may change it; a guard puts it back.
ThreadState& thread_state() noexcept;

// For a scope: the thread works under that snapshot.
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
