// Properties of isolations beyond the verdicts that expected.hpp compares in each; several tests at a time.
#include <catch2/catch.hpp>

#include <sys/types.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"
#include "support/environment.hpp"
#include "support/victims.hpp"

namespace {

using namespace distrun::testing;

std::string fixture(const std::string& name) { return std::string(DISTRUN_PLUGIN_DIR) + "/fixture_" + name + ".so"; }

Summary run_isolated(const Sandbox& sandbox, Texts arguments) {
  arguments.insert(arguments.begin(), {"run", "--output", sandbox.output(), "--color", "never"});
  if (time_scale() != 1) arguments.insert(arguments.end(), {"--timeout-scale", std::to_string(time_scale())});
  const Ended ended = sandbox.run(std::move(arguments), scaled(milliseconds(60'000)));
  INFO("the console got: " << ended.out << ended.err);
  REQUIRE_FALSE(ended.out_of_time);
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  sandbox.sweep();
  return sandbox.summary();
}

// Returns the processes of rank 1, with the number of tests that each of them ran.
std::map<int, int> tests_by_process(const Summary& summary) {
  std::map<int, int> counts;
  for (const TestResult& test : summary.tests) ++counts[test.attempts.at(0).ranks.at(1).pid];
  return counts;
}

// A process's use of limited resources.
struct Holdings {
  long descriptors = 0;
  long mappings = 0;
  long children = 0;
  long kilobytes = 0;

  static Holdings of(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    const std::string status = read_file(folder + "/status");
    const std::size_t at = status.find("VmRSS:");
    return {static_cast<long>(names_in(folder + "/fd").size()),
            static_cast<long>(count_of(read_file(folder + "/maps"), "\n")), static_cast<long>(children_of(pid).size()),
            at == std::string::npos ? 0 : std::atol(status.c_str() + at + sizeof "VmRSS:")};
  }
};

// Returns the maxima over `looks` samples: the process holds more while it starts ranks.
Holdings most_of(pid_t pid, int snapshots) {
  Holdings most;
  for (int i = 0; i < snapshots; ++i) {
    const Holdings now = Holdings::of(pid);
    most = {std::max(most.descriptors, now.descriptors), std::max(most.mappings, now.mappings),
            std::max(most.children, now.children), std::max(most.kilobytes, now.kilobytes)};
    pause_for(milliseconds(3));
  }
  return most;
}

}  // namespace

TEST_CASE("a pool that crashes a thousand times leaves nothing, and its coordinator does not grow", "[isolation]") {
  constexpr long kEarly = 150;
  constexpr long kLate = 850;
  constexpr int kLooks = 30;
  constexpr long kKilobytesOfCrash = 8;  // a crash's record, kept for the final report
  const Sandbox sandbox(DISTRUN_BIN);
  Running running = sandbox.start({"run", "--output", sandbox.output(), "--isolation", "pool", "--quiet", "--filter",
                                   "Alternates.*act=crash", fixture("alternates")});
  const auto comes_to = [&](std::size_t crashes) {
    return eventually(at_latest(milliseconds(60'000)), [&] {
      pause_for(milliseconds(50));
      return count_of(read_file(sandbox.output() + "/events.ndjson"), "\"kind\":\"test_end\"") >= crashes;
    });
  };
  REQUIRE(comes_to(kEarly));
  const std::vector<pid_t> coordinators = victims_of(running, nullptr, Victim::Coordinator);
  REQUIRE(coordinators.size() == 1);
  const Holdings early = most_of(coordinators.front(), kLooks);
  REQUIRE(comes_to(kLate));
  const Holdings late = most_of(coordinators.front(), kLooks);
  const Ended ended = running.wait(at_latest(milliseconds(60'000)));
  CHECK(ended.exit_code == 1);
  CHECK(early.descriptors > 0);
  CHECK(late.descriptors <= early.descriptors + 4);
  CHECK(late.mappings <= early.mappings + (DISTRUN_SANITIZED_THREADS != 0 ? 50 : 8));  // TSan maps memory as it runs
  CHECK(late.children <= early.children + 2);
  CHECK(late.kilobytes <= early.kilobytes + (kLate - kEarly) * kKilobytesOfCrash);
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  CHECK(sandbox.summary().totals.at("crash") == 1000);
}

TEST_CASE("a crash of persistent ranks does not reach the next test, a hundred times", "[isolation]") {
  const std::string isolation = GENERATE("pool", "threads");
  const Sandbox sandbox(DISTRUN_BIN);
  const Summary summary =
      run_isolated(sandbox, {"--isolation", isolation, "--filter", "Alternates.*/hundred=3,*", fixture("alternates")});
  CHECK(summary.tests.size() == 200);
  for (const TestResult& test : summary.tests) {
    INFO(test.id << ": " << test.message);
    CHECK(test.verdict == (test.id.ends_with("crash") ? "crash" : "pass"));
  }
}

TEST_CASE("a process that replaces itself all the time is ended with the test that left it, twenty times",
          "[isolation]") {
  const std::string isolation = GENERATE("process", "exec", "pool", "threads");
  const Sandbox sandbox(DISTRUN_BIN);
  const Summary summary = run_isolated(
      sandbox, {"--isolation", isolation, "--filter", "Alternates.replace_and_pass/*", fixture("alternates")});
  CHECK(summary.tests.size() == 40);
  for (const TestResult& test : summary.tests) {
    INFO(isolation << ", " << test.id << ": " << test.message);
    CHECK(test.verdict == (test.id.find("act=pass") == std::string::npos ? "leak" : "pass"));
  }
}

TEST_CASE("ranks serve one test in process, and all tests of a suite in pool", "[isolation]") {
  const Texts tests{"--filter", "Passes.trivial", "--filter",       "Passes.barriers",
                    "--filter", "Passes.ring",    fixture("passes")};
  const auto processes = [&](const std::string& isolation) {
    const Sandbox sandbox(DISTRUN_BIN);
    Texts arguments{"--isolation", isolation};
    arguments.insert(arguments.end(), tests.begin(), tests.end());
    return tests_by_process(run_isolated(sandbox, arguments));
  };
  CHECK(processes("process").size() == 3);
  CHECK(processes("pool").size() == 1);
  CHECK(processes("threads").size() == 1);
}

TEST_CASE("a handler that still runs is a note of the test that left it, and the next test has fresh ranks",
          "[isolation]") {
  const std::string isolation = GENERATE("pool", "threads", "process");
  const Sandbox sandbox(DISTRUN_BIN);
  const Summary summary = run_isolated(sandbox, {"--isolation", isolation, "--world-size", "2", fixture("handlers")});
  INFO("with isolation " << isolation);
  const AttemptResult& first = summary.find("Handlers.one_is_left_running")->attempts.at(0);
  const AttemptResult& next = summary.find("Handlers.the_next_test_shuts_down")->attempts.at(0);
  CHECK(first.verdict == "pass");
  CHECK(next.verdict == "pass");
  const auto& notes = first.ranks.at(1).notes;
  REQUIRE(notes.count("left running") == 1);
  CHECK_THAT(notes.at("left running"),
             Catch::StartsWith("handler \"run_for_ever\", called by worker 0, which has run for "));
  CHECK(next.ranks.at(1).notes.count("left running") == 0);
  CHECK(first.ranks.at(1).pid != next.ranks.at(1).pid);
}

TEST_CASE("with strict leaks a handler that still runs is a leak of the test that left it", "[isolation]") {
  const std::string isolation = GENERATE("pool", "threads", "process");
  const Sandbox sandbox(DISTRUN_BIN);
  const Summary summary =
      run_isolated(sandbox, {"--isolation", isolation, "--leaks", "strict", "--world-size", "2", fixture("handlers")});
  INFO("with isolation " << isolation);
  const TestResult& first = *summary.find("Handlers.one_is_left_running");
  CHECK(first.verdict == "leak");
  CHECK_THAT(first.message, Catch::Contains("thread of rank 1: handler \"run_for_ever\", called by worker 0"));
  CHECK(summary.find("Handlers.the_next_test_shuts_down")->verdict == "pass");
}

TEST_CASE("in threads all ranks are one process", "[isolation]") {
  const Sandbox sandbox(DISTRUN_BIN);
  const Summary summary =
      run_isolated(sandbox, {"--isolation", "threads", "--filter", "Passes.trivial", fixture("passes")});
  std::set<int> pids;
  for (const RankResult& rank : summary.tests.at(0).attempts.at(0).ranks) pids.insert(rank.pid);
  CHECK(pids.size() == 1);
}

TEST_CASE("tests that overlap with --jobs have the same results as alone", "[isolation]") {
  // Only the first two are used, unless tests run whole.
  const std::vector<std::string> isolations{"process", "threads", "exec", "pool"};
  const std::string isolation = isolations[GENERATE(range(std::size_t{0}, runs_whole() ? std::size_t{4} : 2))];
  const Sandbox sandbox(DISTRUN_BIN);
  const auto verdicts = [&](const std::string& jobs) {
    const Summary summary = run_isolated(sandbox, {"--jobs", jobs, "--isolation", isolation, "--timeout", "20s",
                                                   fixture("fails"), fixture("passes"), fixture("exits")});
    std::map<std::string, std::string> all;
    for (const TestResult& test : summary.tests) all[test.id] = test.verdict;
    return all;
  };
  const auto alone = verdicts("1");
  for (const auto& [test, verdict] : verdicts("4")) {
    INFO(test << " with isolation " << isolation);
    CHECK(verdict == alone.at(test));
  }
  int running = 0;
  int most = 0;
  std::ifstream events(sandbox.output() + "/events.ndjson");
  for (std::string line; std::getline(events, line);) {
    running += line.find("\"kind\":\"test_start\"") != line.npos ? 1 : 0;
    running -= line.find("\"kind\":\"test_end\"") != line.npos ? 1 : 0;
    most = std::max(most, running);
  }
  CHECK(most > 1);
  CHECK(most <= 4);
}
