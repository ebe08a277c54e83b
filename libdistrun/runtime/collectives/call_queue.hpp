#pragma once
// The collectives of a group: one after the other, in the order in which they were asked for. A call that need not wait
// for others runs on the thread that asks for it; others run on the rank's handlers, one at a time.
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

// Any thread.
class CallQueue : public std::enable_shared_from_this<CallQueue> {
 public:
  using Job = std::function<void()>;  // must not throw

  explicit CallQueue(future::HandlerPool& handlers) : handlers_(handlers) {}  // an empty deque takes memory

  // Nothing is under way: the caller's call is that number, and runs until end(). 0: something is.
  std::uint64_t try_begin();
  void end() noexcept;
  // Behind all that was asked for: `make` gets its number. Throws what `make` throws, std::bad_alloc, and
  // Error{Overloaded} if no handler can be had; then nothing has changed, and the number is the next one's.
  void post(const std::function<Job(std::uint64_t)>& make);
  std::uint64_t numbers_given() const;
  // Blocks until all that was posted by now has run, or the deadline; shown as `info`.
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
