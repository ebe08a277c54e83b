#include <distrun/runner/report/text/console.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/text/measured.hpp>
#include <distrun/runner/report/text/output_text.hpp>
#include <distrun/runner/report/text/run_text.hpp>
#include <distrun/runner/report/text/snapshot_text.hpp>
#include <distrun/runner/report/text/stress_text.hpp>
#include <distrun/runner/report/text/test_line.hpp>

namespace distrun::report {
namespace {

constexpr base::Milliseconds kRedrawInterval{50};
// A pager that takes nothing for this long is considered abandoned.
constexpr base::Milliseconds kPatience = std::chrono::minutes(10);

constexpr base::Nanoseconds kStressInterval = std::chrono::seconds(1);          // on a terminal
constexpr base::Nanoseconds kStressIntervalOfLines = std::chrono::seconds(10);  // without one

constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

Console::Console(int fd, const ConsoleOptions& options, const base::Clock& clock)
    : out_(fd), options_(options), clock_(clock), paint_(options.color) {
  resize(options.width);
  if (options.live) live_.emplace(out_, nullptr, *options.live, clock);
}

Console::~Console() { out_.write(erased_status()); }

void Console::resize(int width) { options_.width = width > 0 ? width : 80; }

void Console::tick() {
  live_ ? live_->tick() : out_.flush();
  draw_if_due();
  tell_slow_tests();
}

void Console::on_run_start(const runner::RunRecord& run, int tests) {
  progress_.run_started(tests);
  if (!options_.quiet) print(run_line(run, tests, paint_) + "\n");
}

void Console::on_problem(const runner::Problem& problem) {
  ++problems_told_;
  print(problem_lines(problem, paint_));
}

void Console::on_notice(const std::string& text) { print(notice_line(text, paint_)); }

void Console::on_test_start(const runner::TestStart& start) {
  progress_.test_started(start.id, clock_.now());
  draw_if_due();
}

void Console::on_attempt_start(const runner::AttemptStart& start) {
  progress_.attempt_started(start.id, start.world_size);
  if (live_) live_->from_one_process(start.one_process);
  if (live_ && start.world_size > 0) print(start_line(start, paint_) + "\n");
  draw_if_due();
}

void Console::on_rank_start(const std::string& id, int, const runner::RankRecord& rank) {
  progress_.rank_on_host(id, rank.rank, rank.host);
  if (live_ && rank.rank >= 0) live_->set_host(rank.rank, rank.host);
  draw_if_due();
}

void Console::on_rank_phase(const std::string& id, int, int rank, wire::Phase phase) {
  progress_.rank_in_phase(id, rank, phase);
  draw_if_due();
}

// A failure's snapshot is shown with the failure.
void Console::on_snapshot(const std::string& id, int, const runner::Snapshot& snapshot) {
  if (snapshot.kind == runner::SnapshotKind::Slow || snapshot.kind == runner::SnapshotKind::Asked)
    print(snapshot_text(id, snapshot, paint_));
  if (snapshot.kind == runner::SnapshotKind::Suspect) print(suspicion_text(id, snapshot, paint_));
}

void Console::on_rank_end(const std::string& id, int, const runner::RankRecord& rank) {
  progress_.rank_ended(id, rank.rank, rank.outcome.kind);
  draw_if_due();
}

void Console::on_attempt_end(const std::string&, const runner::AttemptRecord&) {
  if (live_) live_->end_lines();
}

void Console::on_test_end(const runner::TestRecord& test) {
  progress_.test_ended(test);
  if (options_.silent) return;  // there is one test, and its failure is shown in full
  const bool worth_a_line = !options_.quiet || test.verdict == runner::Verdict::Flaky || !is_good(test.verdict);
  if (!worth_a_line) return;
  const int width = options_.tty ? options_.width : 0;
  print(test_line(test, paint_, width) + "\n" + measured_lines(test, paint_, width) + shown_output(test));
}

// Output of a failed test is shown with the failure.
std::string Console::shown_output(const runner::TestRecord& test) const {
  if (!options_.output || !is_good(test.verdict) || test.attempts.empty()) return "";
  const std::string text = output_of_all(test.attempts.back(), paint_);
  return text.empty() ? "" : text.substr(1);
}

void Console::on_run_end(const runner::RunRecord& run) {
  const bool worth_a_word = !options_.silent || exit_code_of(run) != 0;
  const ToldBefore told{problems_told_ == run.problems.size(), options_.shown_live};
  if (worth_a_word) print(run_end_text(run, reports_, paint_, options_.slow, told, options_.verbose));
  out_.write(erased_status());
  out_.drain(kPatience);
}

// Erases the status line and prints text and new status line in one write, to avoid flicker.
void Console::print(const std::string& text) {
  out_.write(erased_status() + text);
  draw_if_due();
}

bool Console::has_status_line() const {
  return options_.tty && !live_ && !options_.quiet && (!options_.has_terminal || options_.has_terminal());
}

void Console::draw_if_due() {
  if (progress_.idle()) return;
  const base::TimePoint now = clock_.now();
  if (now - drawn_at_ < kRedrawInterval || !has_status_line()) return;
  drawn_at_ = now;
  // One column stays free: some terminals wrap as soon as the last one is used.
  const std::size_t width = static_cast<std::size_t>(options_.width) - 1;
  std::string status = stress_.empty() ? progress_.status(now, width) : stress_.substr(0, width);
  if (status == status_) return;
  status_ = std::move(status);
  out_.write(kEraseLine + paint_(Style::Dim, status_));
}

bool Console::wants_waits() const {
  if (options_.quiet || progress_.idle() || !stress_.empty()) return false;
  return options_.tty || (options_.slow_after.count() > 0 && progress_.has_slow(clock_.now(), options_.slow_after));
}

void Console::needs_lock(const std::string& name) {
  if (name == awaited_lock_) return;
  awaited_lock_ = name;
  if (!name.empty() && !options_.quiet) {
    print("waiting                   for the lock \"" + base::one_line(name) + "\", which another run of yours has\n");
  }
}

void Console::stress(const runner::StressStatus& status, base::Nanoseconds length) {
  const base::TimePoint now = clock_.now();
  const bool is_due = now - stress_told_ >= (options_.tty ? kStressInterval : kStressIntervalOfLines);
  if (options_.quiet || (!is_due && !stress_.empty())) return;
  const bool is_first = stress_.empty();
  stress_ = stress_line(status, length);
  stress_told_ = now;
  if (!options_.tty && !is_first) print(stress_ + "\n");
}

void Console::tell_slow_tests() {
  if (options_.tty || options_.quiet || options_.slow_after.count() <= 0 || !stress_.empty()) return;
  for (const std::string& line : progress_.slow_tests(clock_.now(), options_.slow_after)) {
    print("still running             " + line + "\n");
  }
}

// Another program may have written since the terminal was lost; its text is not erased.
std::string Console::erased_status() {
  if (status_.empty()) return "";
  status_.clear();
  return has_status_line() ? kEraseLine : "";
}

}  // namespace distrun::report
