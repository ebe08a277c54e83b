#pragma once
// The collectives of a group: one after the other, in the order in which they were asked for. A call that need not wait
// for others runs on the thread that asks for it; others run on the rank's handlers, one at a time.
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::collectives {

// Any thread.
class CallQueue : public std::enable_shared_from_this<CallQueue> {
 public:
  using Job = std::function<void()>;  // must not throw

  explicit CallQueue(future::HandlerPool& handlers) noexcept : handlers_(handlers) {}

  // Nothing is under way: the caller's call is that number, and runs until end(). 0: something is.
  std::uint64_t try_begin();
  void end();
  // Behind all that was asked for: `make` gets its number.
  void post(const std::function<Job(std::uint64_t)>& make);
  std::uint64_t numbers_given() const;

 private:
  class Task;
  void run_all() noexcept;
  void start_handler();

  future::HandlerPool& handlers_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Job> jobs_;
  bool busy_ = false;
  std::uint64_t given_ = 0;
};

}  // namespace distrun::collectives
