#pragma once
// One attempt of one test: starts the ranks, watches them, ends them and returns a record with a verdict.
// Lives on: the coordinator's loop.
//
// States and transitions:
//
//   running      ranks start (or were kept from an earlier test) and work; each phase of each rank has a time bound
//     a rank fails or dies: the other ranks are notified (peer-failed)             -> grace
//     before that, a failure that may be the consequence of a death is held until the kernel
//     has reported the ranks that are ending, and the rank named by the error has ended or gone on
//     a rank exceeds its bound: the stacks of all ranks are requested              -> looking
//     all ranks have ended                                                         -> sweeping
//     all have settled (reported their results and wait): if nothing went wrong
//     and nothing is left behind, they are kept for the next test                  -> over
//     otherwise they are dismissed and end
//   looking      waits for the stacks, 1 s (3 s on a busy machine); no rank is
//                notified or ended before that                                     -> grace, or terminating
//                if every rank has timed out
//   grace        0.5 s in which the other ranks may report their own errors        -> terminating
//   terminating  SIGTERM was sent to the remaining ranks (SIGCONT to stopped ones), 0.5 s  -> killing
//   killing      SIGKILL was sent; a process that survives 1 s more is given up    -> sweeping
//   sweeping     finds, names and ends what outlived the ranks                     -> over
//   over         judged
//
// In every state but over, the end of the last rank leads to sweeping, once the requested stacks have arrived and those
// of crashes and exceptions have names. A cancellation leads to terminating: at once, or, if the test has run for a
// second, through looking for at most 0.5 s. While a debugger holds a rank, no bound expires.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/clocks.hpp>
#include <distrun/runner/attempt/output_gate.hpp>
#include <distrun/runner/attempt/rank_messaging.hpp>
#include <distrun/runner/attempt/rank_state.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/attempt/snapshots.hpp>
#include <distrun/runner/attempt/standing_world.hpp>
#include <distrun/runner/attempt/sweep.hpp>
#include <distrun/runner/attempt/test_resources.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// The surroundings of an attempt's ranks. Everything here must outlive the attempt.
struct Environment {
  StandingWorld* standing = nullptr;        // owns the ranks; null: the attempt starts its own
  bool stay = false;                        // give the ranks back to `standing` if all goes well
  const PrivateTmp* private_tmp = nullptr;  // private to the ranks; null: they have none
  bool ran_others = false;                  // the ranks have run other tests before
};

// How a run is stopped: SIGTERM with its grace period, or SIGKILL at once.
enum class Urgency : std::uint8_t { Polite, AtOnce };

class Attempt final : public launch::WorldEvents, private Snapshots::Owner {
 public:
  // `n` counts the attempts of the test. Throws Error if it cannot create the work directories or find a port.
  Attempt(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind, const Environment& environment = {});
  ~Attempt() override;

  // Runs the attempt; call it once. Completes within the test's bounds and the graces.
  io::Task<AttemptRecord> run();
  // Reads the stacks of all ranks now and passes them to the events, or only to `on_snapshot`. False: it is too late.
  bool take_snapshot_now(Snapshots::OnSnapshot on_snapshot = {}) {
    return take_snapshot(SnapshotKind::Asked, std::move(on_snapshot));
  }
  // Called when the debugger of the debugged rank has ended: lets the rank finish.
  void let_go();
  // pause() stops all ranks and suspends all bounds until resume().
  void pause() { clocks_.pause(world_.get()); }
  void resume() { clocks_.resume(world_.get()); }
  // Passes a user's signal on to ranks that are programs; does nothing for ranks of tests.
  void pass_on(int signal);
  // Stops the attempt because the run is stopped. May be called again with more urgency.
  void cancel(Urgency urgency);
  // The host of the test's suite has died (`why`: "was killed by signal 9 (SIGKILL)"): notifies the ranks, which end.
  void lose_host(const std::string& why);

  // Returns what the ranks are doing.
  std::vector<RankView> views() const override;
  Nanoseconds age() const override { return clocks_.now() - started_ - clocks_.stood(); }  // without pauses
  const std::vector<RankState>& ranks() const noexcept { return ranks_; }
  const PlannedTest& test() const noexcept { return test_; }
  int n() const noexcept { return record_.n; }
  // Returns the names that the ranks have created so far, as far as they are provably theirs.
  std::vector<proc::NewName> names() { return resources_.names(); }
  // The settings that a host has provided for the ranks of its suite.
  const std::vector<wire::KeyValue>& suite_settings() const noexcept { return suite_settings_; }

 private:
  enum class State { Running, Snapshot, Grace, Terminating, Killing, Sweeping, Over };

  // Events of the ranks: attempt.cpp.
  void take_world();
  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override;
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override;
  void on_program(int rank) override;
  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;
  void handle(int rank, const wire::Frame& frame);
  void handle_program(const wire::Frame& frame);
  void on_hello(int rank, const wire::Hello& hello);
  void begin(RankState& rank);
  void on_phase(int rank, wire::Phase phase);
  void on_error(int rank, wire::ErrorReport report);
  void on_message(int rank, wire::RankMessage message);
  void on_leak(int rank, const wire::LeakReport& leak);
  void on_done(int rank, const wire::Done& done);
  void take_suite_settings(const wire::Done& done);
  Outcome outcome_of_ended(const RankState& rank, proc::ExitStatus status) const;
  std::string describe_dragged(int rank, int because_of) const;
  void enter_phase(RankState& rank, wire::Phase phase);

  // Snapshots.
  bool take_snapshot(SnapshotKind kind, Snapshots::OnSnapshot on_snapshot = {});
  void add_snapshot(Snapshot snapshot) override;
  void add_error(int rank, RankError error) override;
  RankError* find_error(int rank, std::size_t index) override;
  void on_snapshot_over(SnapshotKind kind) override;

  // Timeouts and the end: attempt_ending.cpp.
  void take_last_snapshot();
  void on_alarm();
  void lose_ranks(base::TimePoint now);
  void time_out_ranks(base::TimePoint now);
  void note_waits(const Snapshot& snapshot);
  bool lacks_ranks(base::TimePoint now);
  // Failures: attempt_failing.cpp.
  // Records the rank's bad outcome: holds or decides it and, if it is the first, notifies the other ranks.
  void fail(RankState& rank, const Outcome& outcome);
  void hold(RankState& rank);
  bool may_be_named(int rank) const;
  bool is_death_near() const;
  bool is_dying(const RankState& rank) const;
  void settle_held();
  void check_hold(base::TimePoint now);
  void decide_held();
  void decide_failure(RankState& rank);
  void decide(RankState& rank);
  Outcome end_for_all(RankState& rank, const Outcome& bad_end);
  int root_cause(int rank) const;
  void find_root_causes();
  void tell_peers(const RankState& failed);
  void tell_declared_death(int rank);
  std::optional<RankError> stray_of(const RankState& rank) const;
  bool find_stray(RankState& rank);
  bool find_strays();
  void enter(State state, Nanoseconds stay);
  void move_on();
  void terminate();
  void ask_to_end(int signal);
  void kill();
  void give_up();
  void check_all_ended();
  bool stays(const RankState& rank) const;
  void settle(RankState& rank);
  bool may_be_kept();
  void keep();
  void dismiss();
  void sweep();
  void finish(std::vector<Leak> leaks);
  void hand_over_trace();

  RankState& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  bool is_over() const noexcept { return state_ == State::Sweeping || state_ == State::Over; }

  const RunContext& run_;
  const PlannedTest& test_;
  AttemptRecord record_;
  State state_ = State::Running;
  std::vector<RankState> ranks_;
  Clocks clocks_;
  const base::TimePoint started_;
  RankMessaging messaging_;
  Snapshots snapshots_;
  int decisions_ = 0;
  int first_failed_ = -1;
  std::vector<int> held_;                              // ranks with held failures, in order of arrival
  base::TimePoint hold_end_ = base::TimePoint::max();  // held failures are decided by then at the latest
  int asked_by_ = 0;                                   // the last signal that asked the ranks to end; 0: none yet
  int spawn_expected_ = 0;                             // ranks that are not started yet but still may be
  bool bystanders_ = false;                            // in a timeout: some ranks are still within their bounds
  std::shared_ptr<WorkDirs> dirs_;
  std::shared_ptr<AttemptStore> store_ = std::make_shared<AttemptStore>();
  const std::unique_ptr<trace::Memory> trace_ = make_trace_memory(run_, test_);
  TestResources resources_;
  wire::RunOrder order_;
  Environment environment_;
  bool sets_up_suite_ = false;  // for ranks that may be kept: they go on using the attempt's directories and store
  bool kept_ = false;           // the ranks are kept for the next test
  std::vector<wire::KeyValue> suite_settings_;
  std::shared_ptr<launch::World> world_;
  std::optional<OutputGate> gate_;                 // for programs only
  std::map<int, std::vector<int>> early_signals_;  // programs only, by rank: signals that came before exec
  std::unique_ptr<Sweep> sweep_;
  io::OneShot<bool> over_;
};

}  // namespace distrun::runner
