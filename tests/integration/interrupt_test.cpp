// A run that is interrupted, or that loses its console.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "programs.hpp"
#include "support/victims.hpp"

namespace {

using namespace distrun::testing;

constexpr milliseconds kEndsWithin{2000};

// Starts a run and waits until its ranks hang; they hang for longer than the test takes.
Running start_hanging(const Sandbox& sandbox, const std::string& filter, const std::string& isolation) {
  Running running =
      sandbox.start({"run", "--output", sandbox.output(), "--timeout", "100s", "--isolation", isolation, "--filter",
                     filter, "--filter", "Passes.trivial", plugin("hangs"), plugin("passes")});
  // guard, coordinator, four ranks
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= 6; }));
  pause_for(milliseconds(100));
  return running;
}

void expect_interrupted(const Sandbox& sandbox, const Ended& ended) {
  INFO("the console got: " << ended.out << ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == kInterrupted);
  CHECK(sandbox.remains() == std::vector<std::string>{});
  const Summary summary = sandbox.summary();
  CHECK(summary.interrupted);
  CHECK(summary.exit_code == kInterrupted);
  for (const TestResult& test : summary.tests) {
    INFO(test.id);
    CHECK(test.verdict == "cancelled");
  }
  sandbox.sweep();
}

}  // namespace

TEST_CASE("a signal ends a run in time, and nothing is left", "[interrupt]") {
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const std::string isolation = GENERATE("process", "exec");
  const Sandbox sandbox(distrun_program());
  Running running = start_hanging(sandbox, "Hangs.one_sleeps", isolation);
  INFO("signal " << number << ", isolation " << isolation);
  running.signal(number);
  expect_interrupted(sandbox, running.wait(scaled(kEndsWithin)));
}

TEST_CASE("a coordinator or a guard that is stopped from outside does not block its run, and is reported",
          "[interrupt]") {
  const std::string who = GENERATE("coordinator", "guard");
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start(
      {"run", "--output", sandbox.output(), "--timeout", "5s", "--filter", "Hangs.one_sleeps", plugin("hangs")});
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= 6; }));
  pid_t stopped = running.pid();
  for (const ProcessInfo& process : sandbox.processes()) {
    const bool is_coordinator = process.parent == running.pid();
    if (who == "coordinator" && is_coordinator) stopped = process.pid;
  }
  CHECK((stopped == running.pid()) == (who == "guard"));
  ::kill(stopped, SIGSTOP);
  const Ended ended = running.wait(scaled(milliseconds(20'000)));
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.err,
             Catch::Contains("the " + who + " (process " + std::to_string(stopped) + ") was stopped from outside"));
  CHECK(sandbox.summary().tests.at(0).verdict == "timeout");
  CHECK(sandbox.remains() == std::vector<std::string>{});
  sandbox.sweep();
}

TEST_CASE("ranks that resist do not delay the end of an interrupted run", "[interrupt]") {
  const std::string filter = GENERATE("Hangs.stopped", "Hangs.signals_blocked", "Hangs.termination_ignored");
  const Sandbox sandbox(distrun_program());
  Running running = start_hanging(sandbox, filter, "process");
  INFO(filter);
  running.signal(SIGINT);
  expect_interrupted(sandbox, running.wait(scaled(kEndsWithin)));
}

TEST_CASE("a snapshot of a test that hangs is taken before its run is interrupted", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running = start_hanging(sandbox, "Hangs.one_sleeps", "process");
  pause_for(milliseconds(1500));
  running.signal(SIGINT);
  const Ended ended = running.wait(scaled(kEndsWithin));
  CHECK_THAT(ended.out, Catch::Contains("in barrier \"meet\" (hangs.cpp:") && Catch::Contains("fixture::hang"));
  expect_interrupted(sandbox, ended);
}

TEST_CASE("a second signal does not wait for the grace period of the ranks", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  const std::string begun = sandbox.output() + "/begun";
  Running running =
      sandbox.start({"exec", "-w", "2", "--output", sandbox.output(), "--kill-after", "100s", "--", "/bin/sh", "-c",
                     "trap '' TERM; echo begun >>" + begun + "; while :; do sleep 1; done"});
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return read_file(begun) == "begun\nbegun\n"; }));
  running.signal(SIGINT);
  CHECK_FALSE(running.ends_within(milliseconds(1500)));  // its ranks get their grace period
  running.signal(SIGINT);
  expect_interrupted(sandbox, running.wait(scaled(kEndsWithin)));
}

TEST_CASE("a run with a traced and stopped coordinator ends at the second signal, in seconds", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running = start_hanging(sandbox, "Hangs.one_sleeps", "process");
  const std::vector<pid_t> coordinators = children_of(running.pid());
  REQUIRE(coordinators.size() == 1);
  // Holds the coordinator like a debugger: a signal does not wake it.
  REQUIRE(::ptrace(PTRACE_SEIZE, coordinators.front(), nullptr, nullptr) == 0);
  REQUIRE(::ptrace(PTRACE_INTERRUPT, coordinators.front(), nullptr, nullptr) == 0);
  running.signal(SIGINT);
  pause_for(milliseconds(300));
  running.signal(SIGINT);
  const Ended ended = running.wait(scaled(milliseconds(10'000)));
  CHECK(ended.exit_code == kInterrupted);
  CHECK_THAT(ended.err, Catch::Contains("did not end within") && Catch::Contains("while Hangs.one_sleeps ran"));
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
}

// A terminal signals the whole group, and an impatient user does so more than once.
TEST_CASE("many signals at once are one interruption", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running = start_hanging(sandbox, "Hangs.one_sleeps", "process");
  for (int i = 0; i < 5; ++i) kill(-running.pid(), SIGINT);
  expect_interrupted(sandbox, running.wait(scaled(kEndsWithin)));
}

TEST_CASE("a run is interrupted while it lists its plugins", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"run", "--output", sandbox.output(), plugin("load_hang")});
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= 3; }));
  running.signal(SIGINT);
  expect_interrupted(sandbox, running.wait(scaled(kEndsWithin)));
}

TEST_CASE("a console reader that exits does not stop the run", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  int line[2];
  REQUIRE(pipe2(line, O_CLOEXEC) == 0);
  Command command = sandbox.command({"run", "--output", sandbox.output(), "--repeat", "20", "--filter",
                                     "Passes.trivial", "--filter", "Passes.ring", plugin("passes")});
  command.standard_output = line[1];
  Running running(command);
  close(line[1]);
  close(line[0]);  // like head
  const Ended ended = running.wait(scaled(milliseconds(20'000)));
  INFO(ended.err);
  CHECK(ended.signal == 0);
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.summary().find("Passes.ring")->attempts.size() == 20);
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

// Descriptor 1 is free then; whichever file is opened next must become neither the console nor a rank's output.
TEST_CASE("a run without standard output works", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command(
      {"run", "--output", sandbox.output(), "--filter", "Passes.*", "--filter", "Promises.*", plugin("passes")});
  command.standard_output = -1;
  const Ended ended = Running(command).wait(scaled(milliseconds(20'000)));
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

TEST_CASE("a full console does not change the results of tests", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Command command =
      sandbox.command({"run", "--output", sandbox.output(), "--filter", "Fails.require", plugin("fails")});
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  command.standard_output = full;
  const Ended ended = Running(command).wait(scaled(milliseconds(20'000)));
  close(full);
  CHECK(ended.exit_code == 3);  // its output is lost
  CHECK_THAT(ended.err, Catch::Contains("distrun: cannot write standard output: No space left on device (ENOSPC)"));
  CHECK(sandbox.summary().tests.front().verdict == "fail");
  CHECK(sandbox.summary().exit_code == 3);
}

TEST_CASE("any command that cannot print reports it, and exits with 3", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  const std::string report = sandbox.output() + "/summary.json";
  REQUIRE(
      sandbox.run({"run", "--output", sandbox.output(), "--filter", "Passes.trivial", plugin("passes")}).exit_code ==
      0);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "--filter", "Passes.trivial", plugin("passes")},
                                             {"run", "--quiet", "--filter", "Passes.trivial", plugin("passes")},
                                             {"list", plugin("passes")},
                                             {"list", "--json", plugin("passes")},
                                             {"show", report},
                                             {"ps"},
                                             {"--help"},
                                             {"--version"},
                                             {"completion", "bash"},
                                             {"man"}}) {
    INFO(words.front() << " " << words.back());
    Command command = sandbox.command(words);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    command.standard_output = full;
    const Ended ended = Running(command).wait(scaled(milliseconds(20'000)));
    close(full);
    CHECK(ended.exit_code == 3);
    CHECK_THAT(ended.err, Catch::Contains("distrun: cannot write standard output: No space left on device (ENOSPC)"));
  }
}

TEST_CASE("signals that request nothing do not end a run", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  Running running = start_hanging(sandbox, "Hangs.one_sleeps", "process");
  const std::vector<pid_t> coordinators = children_of(running.pid());
  REQUIRE(coordinators.size() == 1);
  for (const int number : {SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE, SIGPROF, SIGIO, SIGPWR, SIGRTMIN + 1}) {
    running.signal(number);
    kill(coordinators.front(), number);
  }
  CHECK_FALSE(running.ends_within(milliseconds(500)));
  running.signal(SIGINT);
  expect_interrupted(sandbox, running.wait(scaled(kEndsWithin)));
}

TEST_CASE("a run that takes too long is ended, with what its tests wait for", "[interrupt]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      sandbox.run({"run", "--output", sandbox.output(), "--run-timeout", "2s", "--filter", "Hangs.one_sleeps",
                   "--filter", "Passes.trivial", "--suspect-after", "0", plugin("hangs"), plugin("passes")});
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.out, Catch::Contains("it has taken 2.0 s (--run-timeout) and was ended; 0 of 2 tests had finished"));
  CHECK_THAT(ended.out, Catch::Contains("cancelled") && Catch::Contains("hangs.cpp"));
  CHECK_FALSE(sandbox.summary().interrupted);
  CHECK(sandbox.summary().problems.size() == 1);
  CHECK(sandbox.remains().empty());
}
