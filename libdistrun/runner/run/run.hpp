#pragma once
// A run from start to end: lists plugins, plans, runs every test on one of its lanes (runner/run/lane.hpp), and keeps
// the record. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/wire/inspect.hpp>
#include <distrun/runner/plan/plan.hpp>
#include <distrun/runner/plan/schedule.hpp>
#include <distrun/runner/plan/selection.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/run/hosts.hpp>
#include <distrun/runner/run/lane.hpp>
#include <distrun/runner/run/preparation.hpp>

namespace distrun::runner {

class Run {
 public:
  // `node` and `events` must outlive it.
  Run(io::Loop& loop, launch::Node& node, EventSink& events, const proc::RunPlaces& places, Settings settings);
  ~Run();

  // Decides the order of the selected tests, which is that of declaration otherwise. Before run().
  void arrange(std::function<void(std::vector<PlannedTest>&)> arrange) { arrange_ = std::move(arrange); }
  // What programs write goes there too, as it comes. `sink` must outlive the run.
  void show_output(OutputSink& sink) { context_.output = &sink; }
  // Ranks write down what they do, and `sink` gets it. It must outlive the run.
  void trace_to(TraceSink& sink) { context_.traces = &sink; }

  // Once. Never throws for what a plugin does: that becomes a problem or a verdict.
  io::Task<void> run();
  // The user stops it: the current attempts are cancelled, the rest is not run. May be called again, more urgently.
  void cancel(Urgency urgency);
  // The same where it is not the user who stops it: the record is not that of an interrupted run.
  void stop(Urgency urgency);
  // Passes a user's signal on to programs.
  void pass_on(int signal);

  // What goes on, for whoever asks.
  wire::RunStatus status() const;
  // What ranks have waited for, or done, for longer than a second: "ranks 0, 2-3: 3.1 s in barrier ..."; or empty.
  std::string long_waits() const;
  // Reads the stacks of the ranks of every test that runs: told to the events, or to `on_look` alone. How many looks
  // are to come.
  using OnLook = std::function<void(const std::string& test, const Look& look)>;
  int look_now(const OnLook& on_look = {});
  // The debugger of --debug has ended.
  void let_go();
  // The user stops the clock (Ctrl-Z): bounds, ranks and hosts stand still from pause() to resume().
  void pause();
  void resume();

  // Complete once run() is.
  const RunRecord& record() const noexcept { return record_; }
  RunRecord& record() noexcept { return record_; }

 private:
  io::Task<void> list_plugins();
  void select_tests();
  void refuse_to_debug_many();
  // Where a private /tmp is wanted and denied, no test is run.
  io::Task<void> require_private_tmp();
  void refuse_to_start(std::string why);
  io::Task<void> run_lanes();
  // Batch after batch, until none is left.
  io::Task<void> work(Lane& lane);
  io::Task<void> run_test(Lane& lane, PlannedTest& test, std::size_t index, bool stay);
  io::Task<void> run_in_suite(Lane& lane, PlannedTest& test, TestRecord& record, bool stay);
  void lose_host(const SuiteHost& host);
  // Those that are left, in the end.
  io::Task<void> close_hosts();
  void add_problem(const std::string& plugin, const char* phase, const std::string& text);
  void close_test(TestRecord record, std::size_t index, base::TimePoint started);
  void tell_suspicions();
  void finish(base::TimePoint started);
  std::vector<Attempt*> attempts() const;
  // The time without pauses, of which durations are made.
  base::TimePoint active_now() const;

  io::Loop& loop_;
  launch::Node& node_;
  EventSink& events_;
  RunRecord record_;
  const std::string directory_;  // in which the user has started it
  NameWatch names_;
  WorkDirPool dirs_;
  std::optional<PrivateTmps> private_tmps_;  // with --private-tmp
  RunContext context_;
  Preparation plugins_;
  std::vector<PlannedTest> tests_;
  std::function<void(std::vector<PlannedTest>&)> arrange_;
  Hosts hosts_;
  std::vector<std::size_t> order_;  // of record_.tests: each test's place in tests_
  std::optional<Schedule> schedule_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::shared_ptr<io::OneShot<bool>> batch_over_;  // set when the next batch is over
  int done_ = 0;
  bool stopped_ = false;                                // no further test begins
  base::TimePoint paused_at_ = base::TimePoint::max();  // while paused
  Nanoseconds stood_{};                                 // in the pauses before
  bool cancelled_ = false;
  bool interrupted_ = false;
};

}  // namespace distrun::runner
