#pragma once
// A run from start to end: lists plugins, plans, runs every test on one of its lanes (runner/run/lane.hpp), and keeps
// the record. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/mpi/worlds.hpp>
#include <distrun/runner/plan/plan.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/run/batch_queue.hpp>
#include <distrun/runner/run/gathering.hpp>
#include <distrun/runner/run/hosts.hpp>
#include <distrun/runner/run/lane.hpp>
#include <distrun/runner/run/outside_limit.hpp>
#include <distrun/runner/run/preparation.hpp>
#include <distrun/runner/run/stress.hpp>
#include <distrun/runner/run/time_limit.hpp>

namespace distrun::runner {

class Run {
 public:
  // `node` and `events` must outlive the run.
  Run(io::Loop& loop, launch::Node& node, EventSink& events, const proc::RunPlaces& places, Settings settings);
  ~Run();

  // Sets a function that orders the selected tests; the default is the order of declaration. Call before run().
  void arrange(std::function<void(std::vector<PlannedTest>&)> arrange) { gathering_.arrange(std::move(arrange)); }
  // Also sends the output of ranks to `sink` as it is written, without the names of their tests. `sink` must outlive
  // the run.
  void show_output(OutputSink& sink) { context_.output = &sink; }
  // Makes ranks record their activity for `sink`, which must outlive the run.
  void trace_to(TraceSink& sink) { context_.traces = &sink; }
  // Gives the program's ranks a world of MPI. `server` must be ready when run() is called, and outlive the run.
  void serve_mpi(mpi::Server& server) { context_.mpi = &server; }

  // Call once. Never throws because of a plugin: its errors become problems or verdicts.
  io::Task<void> run();
  // Stops the run for the user: cancels the current attempts and skips the rest. May be called again, more urgently.
  // The attempts report `why`, unless it is empty.
  void cancel(Urgency urgency, const std::string& why = "");
  // Stops the run likewise, but does not mark it as interrupted by the user.
  void stop(Urgency urgency);
  // The time at which the run's machines are taken away: set it once it is known.
  OutsideLimit& outside_limit() noexcept { return outside_limit_; }
  // Forwards a user's signal to programs.
  void pass_on(int signal);

  // Returns the current activity.
  wire::RunStatus status() const;
  // Returns waits and activities of ranks longer than a second, by test: "ranks 0, 2-3: 3.1 s in barrier ...".
  std::map<std::string, std::string> long_waits() const;
  // Returns the numbers so far of a stress run; nothing for other runs, and before its first attempt.
  std::optional<StressStatus> stress_status() const { return stress_ ? stress_->status() : std::nullopt; }
  // Returns the lock that another run has and that the next test needs; empty: none.
  std::string awaited_lock() const { return queue_ ? queue_->awaited_lock() : ""; }
  // Takes snapshots of all running tests, for `on_snapshot` if given, else for the events. `settle`: as in
  // launch::StackOrder. Returns the number to come.
  using OnSnapshot = std::function<void(const std::string& test, const Snapshot& snapshot)>;
  int take_snapshot_now(const OnSnapshot& on_snapshot = {}, Nanoseconds settle = {});
  // Call when the debugger of --debug has ended.
  void let_go();
  // Suspend bounds, ranks and hosts from pause() to resume(), when the user suspends the run (Ctrl-Z).
  void pause();
  void resume();

  // Complete when run() has completed.
  const RunRecord& record() const noexcept { return record_; }
  RunRecord& record() noexcept { return record_; }

 private:
  io::Task<void> run_lanes();
  // Runs batches until none is left.
  io::Task<void> work(Lane& lane);
  io::Task<void> run_test(Lane& lane, PlannedTest& test, std::size_t index, bool stay);
  io::Task<void> run_in_suite(Lane& lane, PlannedTest& test, TestRecord& record, bool stay);
  void lose_host(const SuiteHost& host);
  void add_problem(const std::string& plugin, const char* phase, const std::string& text);
  void close_test(TestRecord record, std::size_t index, base::TimePoint started);
  void tell_suspicions();
  void run_out_of_time();
  void finish(base::TimePoint started);
  std::vector<Attempt*> attempts() const;
  // The clock without pauses, for durations.
  base::TimePoint active_now() const;

  io::Loop& loop_;
  launch::Node& node_;
  EventSink& events_;
  RunRecord record_;
  const proc::RunPlaces places_;
  const std::string directory_;  // in which the user has started the run
  NameWatch names_;
  WorkDirPool dirs_;
  std::optional<PrivateTmps> private_tmps_;  // if --private-tmp is given
  std::optional<mpi::Worlds> mpi_worlds_;    // if a test needs MPI
  RunContext context_;
  Preparation plugins_;
  std::vector<PlannedTest> tests_;
  Gathering gathering_{node_, record_, tests_, cancelled_};
  Hosts hosts_;
  std::vector<std::size_t> order_;   // of record_.tests: the index of each test in tests_
  std::optional<BatchQueue> queue_;  // once the tests are known
  std::vector<std::unique_ptr<Lane>> lanes_;
  int done_ = 0;
  bool stopped_ = false;                                // no further test begins
  base::TimePoint paused_at_ = base::TimePoint::max();  // max(): not paused
  Nanoseconds stood_{};                                 // sum of earlier pauses
  bool cancelled_ = false;
  bool interrupted_ = false;
  TimeLimit time_limit_;  // of --run-timeout
  OutsideLimit outside_limit_;
  std::optional<Stress> stress_;  // of --stress
};

}  // namespace distrun::runner
