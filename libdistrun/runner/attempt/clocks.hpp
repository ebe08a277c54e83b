#pragma once
// Tracks when the bounds of an attempt expire: the bound of each rank's phase, the bound of the attempt's state, the
// grace of a broken connection and the time of --stacks-after. One alarm serves the earliest. All are suspended while
// the run is paused, and those of the ranks while a debugger holds one. Time during which the attempt's ranks were
// ready to run but had no CPU does not count, so a busy machine makes tests slow but does not make them fail. Lives on:
// the coordinator's loop.
#include <functional>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/rank_state.hpp>
#include <distrun/runner/attempt/run_context.hpp>

namespace distrun::runner {

class Clocks {
 public:
  // `ranks` belong to the attempt and must outlive this; `on_alarm` is called when something may be due.
  Clocks(const RunContext& run, const wire::TestInfo& test, std::vector<RankState>& ranks,
         std::function<void()> on_alarm);

  base::TimePoint now() const { return run_.loop.clock().now(); }

  // Starts the bound of the rank's phase and, for the first body of the attempt, the time of --stacks-after.
  void begin_phase(RankState& rank, wire::Phase phase);
  Nanoseconds bound_of(wire::Phase phase) const;
  // Called when the rank's connection breaks: the rank is lost unless it ends within the grace.
  void begin_loss(RankState& rank, Nanoseconds grace);
  // Call before acting on a deadline that is due. Moves the deadlines of all ranks and of the state by the time that
  // ranks have waited for a CPU since they were set, each by at most kExtensionMax times its bound. Returns false if
  // ranks are left to be read: the alarm comes again at once. A thousand threads would keep the loop busy for too long.
  bool extend_for_cpu_waits(const launch::World& world);
  // Holds failures until `at`, to wait for reports of deaths; max(): no failure is held.
  void hold_until(base::TimePoint at);
  bool is_hold_over(base::TimePoint now) const noexcept { return now >= hold_until_; }
  // The attempt has entered a state other than running, for at most `stay`.
  void begin_state(Nanoseconds stay);
  // Ends all bounds.
  void stop();
  // Sets the alarm again after a deadline has moved.
  void arm();

  bool is_state_over(base::TimePoint now) const noexcept { return now >= state_deadline_; }
  // Returns whether the time of --stacks-after has come; true only once.
  bool take_slow_snapshot(base::TimePoint now);
  // When the first rank times out, or shortly after it, to include ranks that time out at almost the same time.
  base::TimePoint timeout_at() const;
  // Returns whether a debugger holds a rank. This process and the ranks' descendants do not count: a test cannot escape
  // its bounds by tracing itself.
  bool is_traced(const launch::World& world) const;
  // The same; then moves the deadlines. False if `probing`: the tracer may be our own probe.
  bool held_by_debugger(const launch::World& world, bool probing);

  // pause() stops the ranks and suspends all bounds until resume().
  void pause(launch::World* world);
  void resume(launch::World* world);
  bool is_paused() const noexcept { return paused_at_ != base::TimePoint::max(); }
  // Total time spent paused.
  Nanoseconds stood() const { return stood_ + (paused_at_ < now() ? now() - paused_at_ : Nanoseconds::zero()); }

 private:
  bool is_due() const { return is_state_over(now()) || (is_running() && now() >= timeout_at()); }
  bool read_cpu_waits(const launch::World& world);
  Nanoseconds take_cpu_wait();
  bool is_running() const noexcept { return state_deadline_ == base::TimePoint::max(); }

  const RunContext& run_;
  const wire::TestInfo& test_;
  std::vector<RankState>& ranks_;
  bool over_ = false;
  base::TimePoint waits_read_at_;
  std::size_t waits_read_ = 0;  // ranks whose waits have been read
  Nanoseconds longest_wait_{};  // of these
  Nanoseconds state_stay_{};
  Nanoseconds state_extended_{};
  base::TimePoint state_deadline_ = base::TimePoint::max();  // none while running: the ranks' bounds apply
  base::TimePoint hold_until_ = base::TimePoint::max();
  base::TimePoint slow_at_ = base::TimePoint::max();    // when --stacks-after wants a snapshot
  bool slow_is_set_ = false;                            // slow_at_ has been set once
  bool held_ = false;                                   // by a debugger, at the last check
  base::TimePoint paused_at_ = base::TimePoint::max();  // while paused
  Nanoseconds stood_{};                                 // total of earlier pauses
  std::vector<int> stopped_;                            // ranks stopped by pause()
  base::TimePoint armed_for_ = base::TimePoint::max();  // when the alarm comes
  io::Alarm alarm_;
};

}  // namespace distrun::runner
