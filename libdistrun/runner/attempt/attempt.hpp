#pragma once
// One attempt of one test: starts its ranks, watches them, ends them, and comes to a record with a verdict.
// Lives on: the coordinator's loop.
//
// States, and what moves them on:
//
//   running      ranks start, or have stayed from an earlier test, and work; every phase of every rank has a bound
//     a rank fails or dies: the others are told (peer-failed)                      -> grace
//     before that, a failure that may follow from a death is held: until the kernel has
//     told of ranks that are ending, and the rank that the error names has ended or gone on
//     a rank runs past a bound: the stacks of all are asked for                    -> looking
//     all ranks have ended                                                         -> sweeping
//     all have settled: they have told their results and wait. If nothing went
//     wrong and nothing is left, they are kept for the next test                   -> over
//     else they are dismissed, and end
//   looking      the stacks come, within 1 s (3 s on a busy machine); nobody is told
//                or ended before                                               -> grace, or terminating
//                if every rank has run out of time
//   grace        the others may report their own errors, 0.5 s                     -> terminating
//   terminating  SIGTERM was sent to who is left (and SIGCONT, for the stopped), 0.5 s   -> killing
//   killing      SIGKILL was sent; a process that stays 1 s longer is given up    -> sweeping
//   sweeping     what outlived the ranks is found, named, ended                    -> over
//   over         judged
//
// In every state but over, the last rank's end moves on to sweeping, once the stacks that were asked for are there, and
// those of crashes and exceptions have their names. A cancellation goes to terminating: at once, or, of a test that has
// run for a second, by way of looking, for 0.5 s at most. While a debugger holds a rank no bound runs out.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/belongings.hpp>
#include <distrun/runner/attempt/clocks.hpp>
#include <distrun/runner/attempt/looks.hpp>
#include <distrun/runner/attempt/output_gate.hpp>
#include <distrun/runner/attempt/rank_state.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/attempt/standing_world.hpp>
#include <distrun/runner/attempt/sweep.hpp>
#include <distrun/runner/attempt/talk.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Where the ranks of an attempt come from and live. All outlives it.
struct Ground {
  StandingWorld* standing = nullptr;        // the ranks are its, and ...
  bool stay = false;                        // ... stay there if all went well
  const PrivateTmp* private_tmp = nullptr;  // which they have for themselves; null: none
  bool ran_others = false;                  // the ranks have run other tests before
};

// How a run is stopped: with the grace for SIGTERM, or with SIGKILL at once.
enum class Urgency : std::uint8_t { Polite, AtOnce };

class Attempt final : public launch::WorldEvents, private Looks::Owner {
 public:
  // `n` counts the attempts of the test. Throws Error if there can be no work directories or no port.
  Attempt(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind, const Ground& ground = {});
  ~Attempt() override;

  // Once. Completes within the test's bounds and the graces, whatever its ranks do.
  io::Task<AttemptRecord> run();
  // Reads the stacks of all ranks now, and tells them to the events, or to `on_look` alone. False when it is too late.
  bool look_now(Looks::OnLook on_look = {}) { return look(LookKind::Asked, std::move(on_look)); }
  // The debugger of the rank that is debugged has ended.
  void let_go();
  // The clocks of all bounds stand still from pause() to resume(), and so do the ranks.
  void pause() { clocks_.pause(world_.get()); }
  void resume() { clocks_.resume(world_.get()); }
  // Passes a user's signal on to the ranks that are programs. Ranks of tests get none.
  void pass_on(int signal);
  // Somebody stops the run. May be called again, more urgently.
  void cancel(Urgency urgency);
  // The host of the test's suite has died: "was killed by signal 9 (SIGKILL)". The ranks are told, and end.
  void lose_host(const std::string& why);

  // What the ranks are doing, for whoever asks.
  std::vector<RankView> views() const override;
  Nanoseconds age() const override { return clocks_.now() - started_ - clocks_.stood(); }  // without pauses
  const std::vector<RankState>& ranks() const noexcept { return ranks_; }
  const PlannedTest& test() const noexcept { return test_; }
  int n() const noexcept { return record_.n; }
  // Names that its ranks have made by now, as far as they are provably theirs.
  std::vector<proc::NewName> names() { return belongings_.names(); }
  // What a host has set for the ranks of its suite.
  const std::vector<wire::KeyValue>& suite_settings() const noexcept { return suite_settings_; }

 private:
  enum class State { Running, Looking, Grace, Terminating, Killing, Sweeping, Over };

  // What ranks do: attempt.cpp.
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

  // Of the looks.
  bool look(LookKind kind, Looks::OnLook on_look = {});
  void add_look(Look look) override;
  void add_error(int rank, RankError error) override;
  RankError* find_error(int rank, std::size_t index) override;
  void on_look_over(LookKind kind) override;

  // How it comes to its end: attempt_ending.cpp.
  void look_last();
  void on_alarm();
  void lose_ranks(base::TimePoint now);
  void time_out_ranks(base::TimePoint now);
  void note_waits(const Look& look);
  bool lacks_ranks(base::TimePoint now);
  // What comes of failures: attempt_failing.cpp.
  // The rank's outcome is bad: holds it, or decides it, and if it is the first, tells the others.
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
  Talk talk_;
  Looks looks_;
  int decisions_ = 0;
  int first_failed_ = -1;
  std::vector<int> held_;                              // ranks whose failures are held, in the order in which they came
  base::TimePoint hold_end_ = base::TimePoint::max();  // by then they are decided, whatever is still to come
  int asked_by_ = 0;                                   // the last signal that asked the ranks to end; 0: none has
  int spawn_expected_ = 0;                             // ranks that are not started yet and still may be
  bool bystanders_ = false;                            // of a timeout: ranks whose own time is not over
  std::shared_ptr<WorkDirs> dirs_;
  std::shared_ptr<AttemptStore> store_ = std::make_shared<AttemptStore>();
  const std::unique_ptr<trace::Memory> trace_ = make_trace_memory(run_, test_);
  Belongings belongings_;
  wire::RunOrder order_;
  Ground ground_;
  bool sets_up_suite_ = false;  // of ranks that may stay; they go on using the attempt's directories and store
  bool kept_ = false;           // its ranks are, for the next test
  std::vector<wire::KeyValue> suite_settings_;
  std::shared_ptr<launch::World> world_;
  std::optional<OutputGate> gate_;                 // of programs
  std::map<int, std::vector<int>> early_signals_;  // of programs, by rank: those that came before it was one
  std::unique_ptr<Sweep> sweep_;
  io::OneShot<bool> over_;
};

}  // namespace distrun::runner
