#pragma once
// When the bounds of an attempt run out: that of each rank's phase, that of the attempt's state, the grace of a broken
// connection, and the time of --stacks-after. One alarm stands for the earliest. All of them stand still while the run
// is paused, and those of the ranks while a debugger holds one. They leave out the time for which the attempt's ranks
// were ready to run and had no CPU, so that a busy machine makes tests slow and does not make them fail. Lives on: the
// coordinator's loop.
#include <functional>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/rank_state.hpp>
#include <distrun/runner/attempt/run_context.hpp>

namespace distrun::runner {

class Clocks {
 public:
  // `ranks` are the attempt's, as long as it lives; on_alarm is called when something may be due.
  Clocks(const RunContext& run, const wire::TestInfo& test, std::vector<RankState>& ranks,
         std::function<void()> on_alarm);

  base::TimePoint now() const { return run_.loop.clock().now(); }

  // The rank's phase has begun: its bound, and if it is the attempt's first body, that of --stacks-after.
  void begin_phase(RankState& rank, wire::Phase phase);
  Nanoseconds bound_of(wire::Phase phase) const;
  // The rank's connection is broken: it is lost unless it ends within the grace.
  void begin_loss(RankState& rank, Nanoseconds grace);
  // Call it before a due deadline is acted on: moves the deadlines of all ranks and of the state by the time for which
  // ranks have waited for a CPU since they were set. No deadline is moved by more than kExtensionMax times its bound.
  void extend_for_cpu_waits(const launch::World& world);
  // Failures wait for deaths to be told, until `at`; max(): none waits.
  void hold_until(base::TimePoint at);
  bool is_hold_over(base::TimePoint now) const noexcept { return now >= hold_until_; }
  // The attempt is in another state than running, for so long at most.
  void begin_state(Nanoseconds stay);
  // Nothing runs out any more.
  void stop();
  // The alarm is set anew: a deadline has moved.
  void arm();

  bool is_state_over(base::TimePoint now) const noexcept { return now >= state_deadline_; }
  // Whether the time of --stacks-after has come; once.
  bool take_slow_look(base::TimePoint now);
  // Of the first rank that runs out of time, and of those that follow at once.
  base::TimePoint timeout_at() const;
  // Whoever stops a rank to look at it wants it to live on; but no test ends its bounds by tracing itself, or by making
  // us its tracer. `probing`: our own probe may be the one that stops ranks.
  bool held_by_debugger(const launch::World& world, bool probing);

  // All clocks stand still from pause() to resume(), and so do the ranks.
  void pause(launch::World* world);
  void resume(launch::World* world);
  // How long they have stood still so.
  Nanoseconds stood() const { return stood_ + (paused_at_ < now() ? now() - paused_at_ : Nanoseconds::zero()); }

 private:
  bool is_due() const { return is_state_over(now()) || (is_running() && now() >= timeout_at()); }
  Nanoseconds take_cpu_wait(const launch::World& world);
  bool is_running() const noexcept { return state_deadline_ == base::TimePoint::max(); }

  const RunContext& run_;
  const wire::TestInfo& test_;
  std::vector<RankState>& ranks_;
  bool over_ = false;
  base::TimePoint waits_read_at_;
  Nanoseconds state_stay_{};
  Nanoseconds state_extended_{};
  base::TimePoint state_deadline_ = base::TimePoint::max();  // of running there is none: the ranks' bounds hold
  base::TimePoint hold_until_ = base::TimePoint::max();
  base::TimePoint slow_at_ = base::TimePoint::max();    // when --stacks-after wants a look
  bool slow_is_set_ = false;                            // it has been seen to
  bool held_ = false;                                   // by a debugger, when it was last looked at
  base::TimePoint paused_at_ = base::TimePoint::max();  // while paused
  Nanoseconds stood_{};                                 // in the pauses before
  std::vector<int> stopped_;                            // ranks that the pause has stopped
  io::Alarm alarm_;
};

}  // namespace distrun::runner
