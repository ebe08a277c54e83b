#pragma once
// One thread, one io_context. Every asynchronous object lives on exactly one loop and is used by no other thread. Its
// parts (alarms, watched descriptors) assert this: a call from another thread ends the process.
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <thread>

#include <distrun/common/base/clock.hpp>

namespace distrun::io {

class Loop {
 public:
  explicit Loop(const base::Clock& clock = base::system_clock());
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }
  const base::Clock& clock() const noexcept { return clock_; }

  // Runs handlers on the calling thread until nothing is left to wait for, or stop(). What a handler throws leaves it.
  void run();
  // The same after that: runs the others, unless it was stopped meanwhile.
  void go_on() { context_.run(); }
  // Any thread.
  void stop() { context_.stop(); }
  void post(std::function<void()> work);
  // Returns whether the calling thread runs the loop or, before run(), created it.
  bool in_loop() const noexcept { return thread_ == std::this_thread::get_id(); }

 private:
  const base::Clock& clock_;
  boost::asio::io_context context_{1};
  std::thread::id thread_;
};

// Calls its handler once at a time that may be moved. Loop only; the destructor cancels.
class Alarm {
 public:
  // `handler` runs on the loop, never inside a call to Alarm.
  Alarm(Loop& loop, std::function<void()> handler);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Throws std::bad_alloc: then it is cancelled.
  void set(base::TimePoint when);
  // The same in that time from now; the longest time is no overflow.
  void set_after(base::Nanoseconds time);
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace distrun::io
