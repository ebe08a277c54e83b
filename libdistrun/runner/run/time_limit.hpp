#pragma once
// The time that a run may take (--run-timeout), without pauses. Lives on: the coordinator's loop.
#include <functional>

#include <distrun/common/io/loop.hpp>

namespace distrun::runner {

class TimeLimit {
 public:
  // Calls `on_over` once, from the loop, when the time from begin() on is over; never if `limit` is 0.
  TimeLimit(io::Loop& loop, base::Nanoseconds limit, std::function<void()> on_over);

  void begin();
  void end();
  // The time between these does not count. Both may be repeated; they do nothing before begin() and after end().
  void pause();
  void resume();

 private:
  io::Loop& loop_;
  base::Nanoseconds left_;  // when it began, or was resumed
  base::TimePoint since_{};
  bool is_running_ = false;
  bool is_paused_ = false;
  io::Alarm alarm_;
};

}  // namespace distrun::runner
