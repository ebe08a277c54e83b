#pragma once
// Shows the run to people: a line per finished test, on a terminal a status line below them with the running tests, and
// finally the failures and their causes. Lives on: control loop. Never blocks on the terminal, except in on_run_end.
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/silent_sink.hpp>
#include <distrun/runner/record/stress.hpp>
#include <distrun/runner/report/files/outlet.hpp>
#include <distrun/runner/report/text/live_output.hpp>
#include <distrun/runner/report/text/paint.hpp>
#include <distrun/runner/report/text/progress.hpp>

namespace distrun::report {

struct ConsoleOptions {
  bool color = false;
  bool tty = false;                      // shows the status line
  int width = 0;                         // columns; used only on a terminal, where 0 means 80
  std::size_t slow = 0;                  // number of slowest tests to list at the end
  bool quiet = false;                    // shows only failures and the totals
  bool output = false;                   // shows the output of ranks even without a failure
  bool silent = false;                   // shows nothing unless there is a failure
  bool shown_live = false;               // output of ranks is shown as it is written, here or elsewhere
  std::optional<LiveOptions> live = {};  // the console shows it, and no status line
  bool verbose = false;                  // includes notes that change no verdict
  // Without a terminal, a test that runs for so long gets a line, and again after twice the time; 0: never.
  base::Nanoseconds slow_after = std::chrono::seconds(60);
  // Returns whether distrun may draw a status line now: a debugger or shell may have the terminal. Empty: always.
  std::function<bool()> has_terminal = {};
};

class Console final : public runner::SilentSink {
 public:
  // `fd` is not owned; `clock` must outlive the console.
  Console(int fd, const ConsoleOptions& options, const base::Clock& clock);
  ~Console() override;

  // Updates the status line, or without a terminal prints a line for each slow test. Call ten times a second, without a
  // terminal twice.
  void tick();
  // Returns whether tick() would show the long waits now: without a terminal they are rarely needed, and cost CPU.
  bool wants_waits() const;
  // Sets the long waits of ranks by test, for the status line and the lines of slow tests.
  void waiting(std::map<std::string, std::string> waits) { progress_.waiting(std::move(waits)); }
  // The usual durations of the tests, for the status line. Null without a status line.
  Estimate* estimate() noexcept { return has_status_line() ? &progress_.estimate() : nullptr; }
  // Says once that the next test needs a lock that another run has; an empty name: it does not.
  void needs_lock(const std::string& name);
  // Shows the state of a stress run of this length: on a terminal in the status line, once a second; otherwise in a
  // line every ten seconds. Call with each tick().
  void stress(const runner::StressStatus& status, base::Nanoseconds length);
  // The run is suspended (Ctrl-Z) and resumed: that time counts for no test.
  void pause() { progress_.pause(clock_.now()); }
  void resume() { progress_.resume(clock_.now()); }
  // Sets a new width of the terminal.
  void resize(int width);
  // Sets the paths of the reports, which may not exist yet; call before on_run_end.
  void reports(std::vector<std::string> paths) { reports_ = std::move(paths); }

  // Shows the output of the ranks of one attempt at a time; only with ConsoleOptions::live.
  launch::OutputSink& live_output() { return *live_; }

  // Returns the errno of lost output; 0: none. A reader that closes the pipe (head) or the terminal is no error.
  int error() const noexcept { return out_.reader_has_gone() ? 0 : out_.error(); }

  void on_run_start(const runner::RunRecord& run, int tests) override;
  void on_problem(const runner::Problem& problem) override;
  void on_notice(const std::string& text) override;
  void on_test_start(const runner::TestStart& start) override;
  void on_attempt_start(const runner::AttemptStart& start) override;
  void on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) override;
  void on_snapshot(const std::string& id, int attempt, const runner::Snapshot& snapshot) override;
  void on_rank_end(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_attempt_end(const std::string& id, const runner::AttemptRecord& attempt) override;
  void on_test_end(const runner::TestRecord& test) override;
  void on_run_end(const runner::RunRecord& run) override;

 private:
  void print(const std::string& text);
  void draw_if_due();
  void tell_slow_tests();
  std::string erased_status();
  std::string shown_output(const runner::TestRecord& test) const;
  bool has_status_line() const;

  Outlet out_;
  ConsoleOptions options_;
  const base::Clock& clock_;
  std::optional<LiveOutput> live_;
  Paint paint_;
  Progress progress_;
  std::vector<std::string> reports_;
  std::size_t problems_told_ = 0;
  std::string awaited_lock_;
  std::string stress_;  // the state of a stress run; empty: it is none
  base::TimePoint stress_told_{};
  std::string status_;  // as shown on the terminal; empty: not shown
  base::TimePoint drawn_at_{};
};

}  // namespace distrun::report
