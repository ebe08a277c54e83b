#pragma once
// A thread that works at deadlines. It sleeps until the earliest deadline that it knows, then calls its owner's
// function, which does what is due. Each owner has a thread of its own, since its work may block or run user code. The
// thread starts with the first deadline, and sleeps while there is none.
//
//   created -> running -> stopped
//
// The owner keeps what is due under its lock, which its function takes. It calls call_by() after it has added
// something, or while it holds that lock. Then nothing is missed: what is announced while the function runs counts for
// its next call.
//
// A forked process lacks the thread: call_by() and stop() do nothing there, and the destructor leaves everything as it
// is.
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/process_mark.hpp>

namespace distrun::core {

// Thread-safe.
class DeadlineThread {
 public:
  // Does what is due, which may be nothing; returns the next deadline, kForever for none. Called on the thread, without
  // a lock. Must not throw.
  using Work = std::function<base::TimePoint()>;

  // `name`: of the thread.
  DeadlineThread(std::string name, Work work);
  ~DeadlineThread();
  DeadlineThread(const DeadlineThread&) = delete;
  DeadlineThread& operator=(const DeadlineThread&) = delete;

  // Has the work called at `at` or earlier. Costs a load unless `at` is the earliest deadline. Does nothing after
  // stop(). Throws Error{Overloaded} or std::bad_alloc if the thread cannot be started: then nothing has changed, and
  // the next call tries again.
  void call_by(base::TimePoint at) {
    if (at < next_.load()) announce(at);
  }
  // Waits for running work; afterwards none is called. Idempotent. Not called on the thread, nor by two threads at
  // once.
  void stop() noexcept;

 private:
  struct Shared;

  void announce(base::TimePoint at);
  void run();

  const std::string name_;
  const Work work_;
  const base::ProcessMark mark_;
  // When the work is called next. Changed with the mutex held, read without it.
  std::atomic<base::TimePoint> next_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace distrun::core
