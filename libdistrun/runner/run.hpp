#pragma once
// A run from start to end: lists plugins, plans, runs every test with its repeats and retries, one at a
// time, and keeps the record. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <distrun/runner/attempt.hpp>
#include <distrun/runner/events.hpp>
#include <distrun/runner/plan.hpp>
#include <distrun/wire/inspect.hpp>

namespace distrun::runner {

class Run {
 public:
  // `node` and `events` must outlive it.
  Run(io::Loop& loop, launch::Node& node, EventSink& events, const proc::RunPlaces& places, Settings settings);
  ~Run();

  // What programs write goes there too, as it comes. `sink` must outlive the run.
  void show_output(OutputSink& sink) { context_.output = &sink; }

  // Once. Never throws for what a plugin does: that becomes a problem or a verdict.
  io::Task<void> run();
  // Stops: the current attempt is cancelled, the rest is not run. May be called again, more urgently.
  void cancel(Urgency urgency);

  // What goes on, for whoever asks.
  wire::RunStatus status() const;
  // What ranks have waited for, or done, for longer than a second: "ranks 0, 2-3: 3.1 s in barrier ..."; or empty.
  std::string long_waits() const;
  // Reads the stacks of the ranks that run: told to the events, or to `on_look` alone. False if none runs.
  bool look_now(std::function<void(const Look&)> on_look = {});
  // The debugger of --debug has ended.
  void let_go();
  // The user stops the clock (Ctrl-Z): bounds and ranks stand still from pause() to resume().
  void pause();
  void resume();

  // Complete once run() is.
  const RunRecord& record() const noexcept { return record_; }
  RunRecord& record() noexcept { return record_; }

 private:
  io::Task<void> list_plugins();
  void refuse_to_debug_many();
  io::Task<void> run_test(PlannedTest& test, int index, int count);
  io::Task<void> run_attempts(PlannedTest& test, TestRecord& record);
  // False if the test cannot be run any further.
  // `stay`: another attempt of the same kind follows, for which ranks may stay.
  io::Task<bool> run_attempt(PlannedTest& test, TestRecord& record, AttemptKind kind, bool stay);
  // Ends ranks that stayed and are of no use for the test; none: of no use at all.
  io::Task<void> end_standing(const PlannedTest* test);
  bool next_is_alike(const PlannedTest& test) const;
  io::Task<bool> prepare(PlannedTest& test);
  void add_problem(const std::string& plugin, const char* phase, const std::string& text);
  void close_test(TestRecord record, base::TimePoint started);

  io::Loop& loop_;
  launch::Node& node_;
  EventSink& events_;
  RunRecord record_;
  proc::LeakScan scan_;
  WorkDirPool dirs_;
  RunContext context_;
  std::vector<PlannedTest> tests_;
  std::set<std::string> unusable_;    // plugins that cannot be loaded
  StandingWorld standing_;
  std::unique_ptr<Attempt> attempt_;  // the current one
  int done_ = 0;
  bool cancelled_ = false;
};

}  // namespace distrun::runner
