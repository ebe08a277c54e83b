#pragma once
// The time at which the run's machines are taken away, as those of a batch job are: it is announced before, and the run
// ends in time. Pauses of the run do not move it. Lives on: the coordinator's loop.
#include <functional>
#include <string>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/record/events.hpp>

namespace distrun::runner {

class OutsideLimit {
 public:
  static constexpr auto kNear = std::chrono::seconds(30);     // before the end
  static constexpr auto kReserve = std::chrono::seconds(10);  // before the end: to end ranks and write reports

  struct Handlers {
    std::function<void()> on_near;                        // nothing may begin from now on
    std::function<void(const std::string& why)> on_over;  // what runs must end: "the lease ends in 10 s"
  };

  // The end is announced to `record` and `events`, which must outlive this, when 30 s are left, or at once if they are
  // not. Handlers are called once each, from the loop, on_over when 10 s are left.
  OutsideLimit(io::Loop& loop, RunRecord& record, EventSink& events, Handlers handlers);

  // `what` is taken away at `end`: "the allocation (Slurm job 17)".
  void set(base::TimePoint end, std::string what);
  // Calls nothing from now on.
  void stop();

  bool is_near() const noexcept { return is_near_; }
  const std::string& what() const noexcept { return what_; }

 private:
  base::Nanoseconds left() const { return end_ - loop_.clock().now(); }
  void announce();

  io::Loop& loop_;
  RunRecord& record_;
  EventSink& events_;
  Handlers handlers_;
  std::string what_;
  base::TimePoint end_ = base::TimePoint::max();
  bool is_near_ = false;
  io::Alarm near_;
  io::Alarm over_;
};

}  // namespace distrun::runner
