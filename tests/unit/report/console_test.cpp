#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/read_summary.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/text/console.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/run_text.hpp>

#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

// A console that writes to a file, with a clock that only the test advances.
class Screen {
 public:
  explicit Screen(const ConsoleOptions& options)
      : file_(open(scratch_.path("screen").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)),
        console_(file_.get(), options, clock_) {}

  Console& console() noexcept { return console_; }
  StillClock& clock() noexcept { return clock_; }
  std::string text() const { return content_of(scratch_.path("screen")); }
  // Returns the output since the last call.
  std::string news() {
    const std::string all = text();
    const std::string fresh = all.substr(seen_);
    seen_ = all.size();
    return fresh;
  }

 private:
  Scratch scratch_;
  base::Fd file_;
  StillClock clock_;
  Console console_;
  std::size_t seen_ = 0;
};

std::string shown(const runner::RunRecord& run, const ConsoleOptions& options) {
  Screen screen(options);
  screen.console().reports({"out/summary.json", "out/junit.xml"});
  replay(run, screen.console());
  return screen.text();
}

void check_golden(const std::string& name, const std::string& now) {
  INFO("DISTRUN_UPDATE_GOLDEN=1 rewrites tests/golden/report/" << name);
  CHECK(golden(name, now) == now);
}

// Starts test `id` of four ranks on `console`.
void start(Console& console, const runner::TestRecord& test) {
  const std::string id = test.info.id();
  console.on_test_start({test.info, id, test.plugin, test.variant, 0, 1});
  console.on_attempt_start({id, 1, runner::AttemptKind::First, 4});
}

// The one test of a run has begun.
void begin_test(Screen& screen) {
  const runner::RunRecord run = run_of(failing());
  screen.console().on_run_start(run, 1);
  start(screen.console(), run.tests[0]);
  screen.news();
}

}  // namespace

TEST_CASE("the console shows every way a test can end", "[report]") {
  for (auto make : {passing, failing, crashing, timing_out, deadlocked, skipped, leaking, flaky, failing_every_retry,
                    broken_machine, cancelled, wide, hostile}) {
    const runner::TestRecord test = make();
    const std::string name = test.info.suite == "Evil" ? "hostile" : test.info.name;
    check_golden(name + ".txt", shown(run_of(test), {}));
  }
}

TEST_CASE("the console renders a whole run", "[report]") {
  ConsoleOptions options;
  options.color = true;
  check_golden("color.txt", shown(full_run(), options));
}

TEST_CASE("a quiet console shows only problems", "[report]") {
  ConsoleOptions options;
  options.quiet = true;
  options.tty = true;
  runner::RunRecord run = run_of(failing());
  add(run, passing());
  add(run, skipped());
  check_golden("quiet.txt", shown(run, options));
}

TEST_CASE("the first line leaves out what neither the tests use nor the user has set", "[report]") {
  runner::RunRecord run = empty_run();
  run.uses_backend = run.uses_agent = false;
  CHECK_THAT(shown(run, {}), Catch::StartsWith("run 3f9c0a1b: 0 tests, world size 4, seed 17\n"));
  run.uses_agent = true;
  CHECK_THAT(shown(run, {}), Catch::StartsWith("run 3f9c0a1b: 0 tests, world size 4, agent pipe, seed 17\n"));
  run.settings.backend = "gloo";
  CHECK_THAT(shown(run, {}), Contains(", backend gloo, agent pipe, "));
}

TEST_CASE("live output of a test is between the line of its start and that of its end", "[report]") {
  ConsoleOptions options;
  options.tty = true;
  options.live.emplace();
  Screen screen(options);
  begin_test(screen);
  screen.console().live_output().on_output(1, launch::Stream::Err, "no end");
  runner::TestRecord test = failing();
  screen.console().on_attempt_end(test.info.id(), test.attempts.at(0));
  screen.console().on_test_end(test);
  CHECK_THAT(screen.news(), Catch::StartsWith("[rank 1] no end\nfail "));
}

TEST_CASE("the console shows output of passing ranks on request", "[report]") {
  ConsoleOptions options;
  options.output = true;
  runner::TestRecord test = passing();
  for (runner::RankRecord& rank : test.attempts.at(0).ranks) {
    rank.out.text = rank.rank == 1 ? "mine\n" : "loss 1\nloss 2\n";
  }
  test.attempts.at(0).ranks.at(1).err.text = "warned";
  check_golden("output.txt", shown(run_of(test), options));
  CHECK(shown(run_of(failing()), options) == shown(run_of(failing()), {}));
}

TEST_CASE("the console says that nothing ran", "[report]") {
  CHECK_THAT(shown(empty_run(), {}), Catch::EndsWith("no test was selected in 3.5 s\n"));
  runner::RunRecord run = empty_run();
  run.interrupted = true;
  CHECK_THAT(shown(run, {}), Contains("interrupted, no test was selected"));
  run.interrupted = false;
  run.problems.push_back({"a.so", "list", "it cannot be loaded"});
  CHECK_THAT(shown(run, {}), Catch::EndsWith("1 problem, and no test ran in 3.5 s\n"));
}

TEST_CASE("a problem is shown when it happens, and again at the end if other text was shown after it", "[report]") {
  const runner::Problem problem{"a.so", "list", "it cannot be loaded"};
  const auto times_in = [&](const std::string& text) {
    int count = 0;
    for (auto at = text.find(problem.text); at != std::string::npos; at = text.find(problem.text, at + 1)) ++count;
    return count;
  };
  runner::RunRecord nothing = empty_run(), something = run_of(failing());
  nothing.problems.push_back(problem);
  something.problems.push_back(problem);
  CHECK(times_in(shown(nothing, {})) == 1);
  CHECK(times_in(shown(something, {})) == 2);
  Screen of_the_end({});  // a problem that was not reported before
  of_the_end.console().on_run_end(nothing);
  CHECK(times_in(of_the_end.text()) == 1);
}

TEST_CASE("no escape sequence of a test reaches the terminal", "[report]") {
  const std::string text = shown(run_of(hostile()), {});
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') FAIL("a control character");
  }
  CHECK(text.find("\xc2\x9b") == std::string::npos);
  CHECK(text == base::valid_utf8(text));
}

TEST_CASE("a run of many tests is one line per test", "[report]") {
  runner::RunRecord run = empty_run();
  for (int i = 0; i < 1000; ++i) add(run, passing());
  CHECK(base::split_lines(shown(run, {})).size() == 1000 + 6);  // header, reports, totals
}

TEST_CASE("the first ones of very many failures are shown in full", "[report]") {
  runner::RunRecord run = empty_run();
  for (int i = 0; i < 60; ++i) add(run, deadlocked());
  CHECK_THAT(shown(run, {}), Contains("\n10 more are only in the reports\n"));
}

TEST_CASE("the status line shows what each rank does and is erased before other text", "[report]") {
  ConsoleOptions options;
  options.tty = true;
  Screen screen(options);
  runner::RunRecord run = run_of(failing());
  screen.console().on_run_start(run, 12);
  screen.news();
  start(screen.console(), run.tests[0]);
  CHECK(screen.news() == "\r\x1b[K0 of 12 | Ring.gather, 0 us | ");
  for (int rank = 0; rank < 3; ++rank) {
    screen.console().on_rank_phase("Ring.gather", 1, rank, wire::Phase::Body);
  }
  CHECK(screen.news().empty());  // too soon to redraw
  screen.clock().pass(3400ms);
  screen.console().tick();
  CHECK(screen.news() == "\r\x1b[K0 of 12 | Ring.gather, 3.4 s | 0-2 body, 3 spawn");
  screen.console().tick();
  CHECK(screen.news().empty());
  screen.console().on_test_end(run.tests[0]);
  CHECK(screen.news() == "\r\x1b[Kfail             12.3 ms  Ring.gather - rank 2 failed: sum == 6 left: 5, righ...\n");
}

TEST_CASE("the status line is drawn again below the text that erased it", "[report]") {
  ConsoleOptions options;
  options.tty = true;
  Screen screen(options);
  const runner::TestRecord test = failing();
  start(screen.console(), test);
  screen.clock().pass(100ms);
  screen.news();
  screen.console().on_problem({"", "report", "cannot write x"});
  CHECK(screen.news() ==
        "\r\x1b[Kproblem: report: cannot write x\n"
        "\r\x1b[K0 of 0 | Ring.gather, 100.0 ms | 0-3 spawn");
}

TEST_CASE("no status line is drawn while another program has the terminal, and it comes back", "[report]") {
  bool ours = true;
  ConsoleOptions options;
  options.tty = true;
  options.has_terminal = [&] { return ours; };
  Screen screen(options);
  start(screen.console(), failing());
  CHECK(screen.news().starts_with("\r\x1b[K0 of 0"));
  ours = false;
  screen.clock().pass(100ms);
  screen.console().tick();
  screen.console().on_problem({"", "report", "cannot write x"});
  CHECK(screen.news() == "problem: report: cannot write x\n");
  ours = true;
  screen.clock().pass(100ms);
  screen.console().tick();
  CHECK(screen.news() == "\r\x1b[K0 of 0 | Ring.gather, 200.0 ms | 0-3 spawn");
}

TEST_CASE("the status line fits any terminal", "[report]") {
  for (const int width : {2, 10, 20, 40, 80}) {
    ConsoleOptions options;
    options.tty = true;
    options.width = width;
    Screen screen(options);
    const runner::TestRecord test = hostile();
    start(screen.console(), test);
    const std::string status = screen.text();
    REQUIRE(status.starts_with("\r\x1b[K"));
    CHECK(display_width(status.substr(4)) < static_cast<std::size_t>(width));
  }
}

TEST_CASE("the time while a run is suspended does not count as test time", "[report]") {
  Screen screen({});
  begin_test(screen);
  screen.clock().pass(20s);
  screen.console().pause();
  screen.clock().pass(1000s);
  screen.console().tick();
  CHECK(screen.news().empty());
  screen.console().resume();
  screen.clock().pass(41s);
  screen.console().tick();
  CHECK(screen.news() == "still running             Ring.gather, 61.0 s | 0-3 spawn\n");
}

TEST_CASE("without a terminal a test that is silent for a minute gets a line", "[report]") {
  Screen screen({});
  begin_test(screen);
  screen.clock().pass(59s);
  screen.console().tick();
  CHECK(screen.news().empty());
  screen.clock().pass(2s);
  screen.console().tick();
  CHECK(screen.news() == "still running             Ring.gather, 61.0 s | 0-3 spawn\n");
  screen.console().tick();
  CHECK(screen.news().empty());
  CHECK_FALSE(screen.console().wants_waits());
  screen.console().waiting({{"Ring.gather", "ranks 0-2: 58.0 s in barrier"}, {"Ring.other", "rank 3: lost"}});
  screen.clock().pass(58s);
  screen.console().tick();
  CHECK(screen.news().empty());
  screen.clock().pass(1s);
  CHECK(screen.console().wants_waits());
  screen.console().tick();
  CHECK(screen.news() == "still running             Ring.gather, 2 min 00 s | ranks 0-2: 58.0 s in barrier\n");
}

TEST_CASE("a test that hangs for hours gets a line every five minutes, so that no CI takes it for dead", "[report]") {
  Screen screen({});
  begin_test(screen);
  int lines = 0;
  int silent_s = 0;
  int longest_s = 0;
  for (int second = 0; second < 7200; ++second) {
    screen.clock().pass(1s);
    screen.console().tick();
    ++silent_s;
    longest_s = std::max(longest_s, silent_s);
    if (screen.news().empty()) continue;
    ++lines;
    silent_s = 0;
  }
  CHECK(longest_s == 300);
  CHECK(lines == 4 + (7200 - 480) / 300);
}

TEST_CASE("a lock that another run has is named once", "[report]") {
  Screen screen({});
  screen.console().needs_lock("");
  CHECK(screen.news().empty());
  screen.console().needs_lock("port 8000");
  screen.console().needs_lock("port 8000");
  CHECK(screen.news() == "waiting                   for the lock \"port 8000\", which another run of yours has\n");
}

TEST_CASE("lines for slow tests can be left out", "[report]") {
  ConsoleOptions options;
  options.slow_after = 0s;
  Screen screen(options);
  begin_test(screen);
  screen.clock().pass(1000s);
  screen.console().tick();
  CHECK(screen.news().empty());
}

TEST_CASE("a blocked terminal delays the run only at the end", "[report]") {
  const base::FdPair pipe = base::make_pipe();
  const StillClock clock;
  Console console(pipe.second.get(), {}, clock);
  std::size_t lines = 0;
  for (; lines < 5000; ++lines) console.on_test_end(failing());  // would block a pipe of 64 KiB
  base::set_nonblocking(pipe.first.get());
  std::string received;
  char buffer[65536];
  for (int i = 0; i < 1000; ++i) {
    const ssize_t size = read(pipe.first.get(), buffer, sizeof buffer);
    if (size > 0) received.append(buffer, static_cast<std::size_t>(size));
    console.tick();
  }
  CHECK(base::split_lines(received).size() == lines);
}

TEST_CASE("a run shown from its summary looks the same", "[report]") {
  const runner::RunRecord run = full_run();
  const std::string text = show_text(read_summary(summary_json(run)), Paint(false));
  const std::string live = shown(run, {});
  CHECK(text.substr(text.find("\npass ")).substr(0, 4000) == live.substr(live.find("\npass ")).substr(0, 4000));
}
