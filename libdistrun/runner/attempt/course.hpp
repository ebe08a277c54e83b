#pragma once
// The states of an attempt, from the first rank to the end of the last.
//
//   running      ranks start (or were kept from an earlier test) and work; each phase of each rank has a time bound
//     a rank fails or dies: the other ranks are notified (peer-failed)             -> grace
//     before that, a failure that may be the consequence of a death is held until the kernel
//     has reported the ranks that are ending, and the rank named by the error has ended or gone on
//     a rank exceeds its bound: the stacks of all ranks are requested              -> looking
//     a deadlock is proven (hang_watch.hpp): the same                              -> looking
//     all ranks have ended                                                         -> sweeping
//     all have settled (reported their results and wait): if nothing went wrong
//     and nothing is left behind, they are kept for the next test                  -> over
//     otherwise they are dismissed and end
//   looking      waits for the stacks, 1 s (3 s on a busy machine); no rank is
//                notified or ended before that                                     -> grace, or terminating
//                if every rank has timed out, or in a deadlock
//   grace        0.5 s in which the other ranks may report their own errors        -> terminating
//   terminating  SIGTERM was sent to the remaining ranks (SIGCONT to stopped ones), 0.5 s  -> killing
//   killing      SIGKILL was sent; a process that survives 1 s more is given up    -> sweeping
//                one that exits by then has time                                   -> exiting
//   exiting      2 s more; then it is given up, too                                -> sweeping
//   sweeping     finds, names and ends what outlived the ranks                     -> over
//   over         judged
//
// In every state but over, the end of the last rank leads to sweeping, once the requested stacks have arrived and those
// of crashes and exceptions have names; in a batch job, if ranks have died by SIGTERM, 0.3 s later unless the run is
// cancelled before. A cancellation leads to terminating: at once, or, if the test has run for a
// second, through looking for at most 0.5 s. While a debugger holds a rank, no bound expires.
//
// The conclusion (conclusion.hpp) decides what follows when no rank works any more. Lives on: the coordinator's loop.
#include <cstdint>
#include <functional>
#include <string>

#include <distrun/runner/attempt/failures.hpp>
#include <distrun/runner/attempt/hang_watch.hpp>
#include <distrun/runner/attempt/job_patience.hpp>
#include <distrun/runner/attempt/peer_look.hpp>
#include <distrun/runner/attempt/snapshots.hpp>
#include <distrun/runner/attempt/stray_children.hpp>

namespace distrun::runner {

// How a run is stopped: SIGTERM with its grace period, or SIGKILL at once.
enum class Urgency : std::uint8_t { Polite, AtOnce };

class Course final : private Failures::Owner {
 public:
  enum class State : std::uint8_t { Running, Snapshot, Grace, Terminating, Killing, Exiting, Sweeping, Over };

  // `ranks` must outlive this. `on_idle` is called when all ranks have ended, or settled if `any_alive`.
  Course(Ranks& ranks, std::function<void(bool any_alive)> on_idle);

  Failures& failures() noexcept { return failures_; }
  StrayChildren& strays() noexcept { return strays_; }
  Snapshots& snapshots() noexcept { return snapshots_; }
  State state() const noexcept { return state_; }
  bool is_running() const noexcept override { return state_ == State::Running; }

  // All ranks will start.
  void begin();
  // The rank has started. If the attempt is ending already, ends the rank.
  void add_started(RankState& rank);
  // Ranks that have not started will not start.
  void fail_to_start(const std::string& why);
  // Called when a bound may have expired.
  void on_alarm();
  // Call when a rank has ended or settled.
  void check_all_idle();
  // Returns false if it is too late.
  bool take_snapshot(SnapshotKind kind, Snapshots::OnSnapshot on_snapshot = {}, Nanoseconds settle = {});
  void cancel(Urgency urgency);
  // Notifies the ranks that the host of their suite has died, and why; they end.
  void lose_host(const std::string& why);
  // No rank works any more, and all bounds end: the sweep begins, or the attempt is over.
  void begin_sweep();
  void end();

 private:
  void on_failure() override;
  void on_deadlock(std::vector<HangCause> causes);
  void on_snapshot_over(SnapshotKind kind);
  void take_last_snapshot();
  void lose_ranks(base::TimePoint now);
  void time_out_ranks(base::TimePoint now);
  bool lacks_ranks(base::TimePoint now);
  void enter(State state, Nanoseconds stay);
  void move_on();
  void terminate();
  void ask_to_end(int signal);
  void kill();
  void give_up();
  bool is_before_end() const noexcept { return state_ <= State::Grace; }
  bool is_past_ranks() const noexcept { return state_ >= State::Sweeping; }

  Ranks& ranks_;
  Failures failures_{ranks_, *this};
  StrayChildren strays_{ranks_, failures_};
  Snapshots snapshots_;
  HangWatch watch_;
  PeerLook peer_look_{ranks_};
  JobPatience patience_{ranks_, [this] { check_all_idle(); }};
  std::function<void(bool any_alive)> on_idle_;
  State state_ = State::Running;
  int asked_by_ = 0;         // the last signal that asked the ranks to end; 0: none yet
  int spawn_expected_ = 0;   // ranks that are not started yet but still may be
  std::size_t over_ = 0;     // ranks that have ended, from the first on
  bool bystanders_ = false;  // in a timeout: some ranks are still within their bounds
};

}  // namespace distrun::runner
