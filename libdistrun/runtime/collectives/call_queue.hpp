#pragma once
// Runs the collectives of a group one at a time, in the order in which they were requested. A call that need not wait
// for others runs on the calling thread; the others run on the rank's handlers.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::collectives {

// Thread-safe.
class CallQueue : public std::enable_shared_from_this<CallQueue> {
 public:
  using Job = std::function<void()>;  // must not throw

  explicit CallQueue(future::HandlerPool& handlers) : handlers_(handlers) {}  // not noexcept: an empty deque allocates

  // If no call is active, begins the caller's call, which lasts until end(), and returns its number; else returns 0.
  std::uint64_t try_begin();
  void end() noexcept;
  // Queues a job after all others; `make` gets its number. Throws what `make` throws, std::bad_alloc, and
  // Error{Overloaded} if no handler is available; then nothing has changed, and the next job gets the number.
  void post(const std::function<Job(std::uint64_t)>& make);
  std::uint64_t numbers_given() const;
  // Blocks until all jobs posted so far have run, at most until the deadline; `info` is shown on the board.
  void wait_for_posted(const board::WaitInfo& info, base::TimePoint deadline) const;

 private:
  class Task;
  void run_all() noexcept;
  void start_handler();
  bool try_start_handler() noexcept;

  future::HandlerPool& handlers_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ran_;
  // Guarded by mutex_.
  std::deque<Job> jobs_;
  std::uint64_t posted_ = 0, done_ = 0;
  bool busy_ = false;
  std::uint64_t given_ = 0;
};

}  // namespace distrun::collectives
