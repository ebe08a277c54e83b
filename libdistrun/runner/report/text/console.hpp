#pragma once
// The run as people see it: a line per finished test, on a terminal a status line below them that
// shows what runs now, and in the end what went wrong and why.
// Lives on: control loop. Never waits for the terminal, except in on_run_end.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/report/files/outlet.hpp>
#include <distrun/runner/report/text/paint.hpp>
#include <distrun/runner/report/text/progress.hpp>

namespace distrun::report {

struct ConsoleOptions {
  bool color = false;
  bool tty = false;         // shows the status line
  int width = 0;            // columns; used on a terminal only, 0 there means 80
  std::size_t slow = 0;     // so many of the slowest tests are told in the end
  bool quiet = false;       // only what went wrong, and the totals
  bool output = false;      // what ranks wrote is shown although nothing went wrong
  bool silent = false;      // and nothing at all if nothing went wrong
  bool shown_live = false;  // what ranks write is shown when they write it
  bool verbose = false;     // notes that change no verdict, too
  // Whether the terminal is ours now, for a status line: a debugger may have it, or a shell. Empty: it always is.
  std::function<bool()> has_terminal = {};
};

class Console final : public runner::EventSink {
 public:
  // `fd` is not owned; `clock` must outlive the console.
  Console(int fd, const ConsoleOptions& options, const base::Clock& clock);
  ~Console() override;

  // Brings the status line up to date. To be called about ten times a second; without a terminal
  // too, where a run that has been silent for a minute gets a line that says what it is at.
  void tick();
  // What ranks have waited for, for long; for the status line.
  void waiting(std::string waits) { progress_.waiting(std::move(waits)); }
  // The run is suspended (Ctrl-Z), and goes on: that time is no test's.
  void pause() { progress_.pause(clock_.now()); }
  void resume() { progress_.resume(clock_.now()); }
  // The terminal has another width now.
  void resize(int width);
  // Where the reports are, or will be; before on_run_end.
  void reports(std::vector<std::string> paths) { reports_ = std::move(paths); }

  // The errno of what kept it from being read by somebody who wants to; 0: nothing. Whoever closes the pipe (head) or
  // the terminal has seen enough.
  int error() const noexcept { return out_.reader_has_gone() ? 0 : out_.error(); }

  void on_run_start(const runner::RunRecord& run, int tests) override;
  void on_problem(const runner::Problem& problem) override;
  void on_test_start(const runner::TestStart& start) override;
  void on_attempt_start(const runner::AttemptStart& start) override;
  void on_rank_start(const std::string& id, int attempt, int rank, int pid) override;
  void on_rank_phase(const std::string& id, int attempt, int rank, wire::Phase phase) override;
  void on_rank_error(const std::string& id, int attempt, int rank, const runner::RankError& error) override;
  void on_look(const std::string& id, int attempt, const runner::Look& look) override;
  void on_rank_end(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_attempt_end(const std::string& id, const runner::AttemptRecord& attempt) override;
  void on_test_end(const runner::TestRecord& test) override;
  void on_run_end(const runner::RunRecord& run) override;

 private:
  void print(const std::string& text);
  void draw_if_due();
  void say_if_slow();
  std::string erased_status();
  std::string shown_output(const runner::TestRecord& test) const;
  bool live() const;

  Outlet out_;
  ConsoleOptions options_;
  const base::Clock& clock_;
  Paint paint_;
  Progress progress_;
  std::vector<std::string> reports_;
  std::size_t problems_told_ = 0;
  std::string status_;  // as it stands on the terminal; empty: none does
  base::TimePoint drawn_at_{};
  base::TimePoint printed_at_{};
};

}  // namespace distrun::report
