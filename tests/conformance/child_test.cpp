// The work of a rank besides its body: it listens, answers, and reports how it died.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

std::vector<pid_t> ranks_in(const Sandbox& sandbox) {
  std::vector<pid_t> ranks;
  for (const ProcessInfo& info : sandbox.processes()) {
    if (info.name.starts_with("distrun-rank")) ranks.push_back(info.pid);
  }
  return ranks;
}

}  // namespace

TEST_CASE("a fatal signal leaves the stacks of the rank, and it dies by that signal",
          "[row:multiprocess_child/fatal-signal-stack-traces]") {
  const AttemptResult attempt = run_case("Scenario.rank_3_crashes").attempt("Scenario.rank_3_crashes");
  CHECK(attempt.ranks.at(3).signal == SIGSEGV);
  REQUIRE(attempt.snapshots.size() == 1);
  CHECK_THAT(attempt.snapshots.front().text, Contains("rank 3") && Contains("rank_3_crashes"));
}

// The rank's child traces its main thread, which keeps the probe away from this one.
TEST_CASE("a rank reports its stacks itself if it cannot be traced",
          "[row:multiprocess_child/event-listener-thread][row:multiprocess_child/traceback-production]") {
  const std::string id = "Listener.answers_for_a_rank_that_is_traced";
  const AttemptResult attempt = run_case(id, {"--timeout", bound(500)}).attempt(id);
  CHECK(attempt.verdict == "timeout");
  REQUIRE(attempt.snapshots.size() == 1);
  const SeenProcess* seen = attempt.snapshots.front().find(1);
  REQUIRE(seen != nullptr);
  CHECK(seen->answered == Texts{"kernel", "probe", "listener"});
  CHECK(seen->threads_with_stacks > 0);
}

TEST_CASE("the stacks of ranks with blocked bodies are taken", "[row:multiprocess_child/traceback-production]") {
  const Sandbox sandbox(DISTRUN_BIN);
  Running run = sandbox.start({"run", "--output", sandbox.output(), "--timeout", "60s", "--filter",
                               "Scenario.two_finish_two_hang", cases_plugin()});
  Ended stacks;
  const bool seen = eventually(scaled(milliseconds(30'000)), [&] {
    const std::string id = sandbox.run_id_in_use();  // other runs may be in progress
    if (id.empty()) return false;
    stacks = sandbox.run({"stacks", id});
    return stacks.exit_code == 0 && stacks.out.find("nanosleep") != std::string::npos;
  });
  INFO(stacks.out << stacks.err);
  CHECK(seen);
  CHECK_THAT(stacks.out, Contains("two_finish_two_hang"));
  run.signal(SIGINT);
  CHECK(run.wait(scaled(milliseconds(10'000))).exit_code == 130);
}

// The ranks have asked the kernel not to end them with their parent: their listeners see the line close.
TEST_CASE("a rank exits when its coordinator is gone", "[row:multiprocess_child/event-listener-thread]") {
  const Sandbox sandbox(DISTRUN_BIN);
  Running run = sandbox.start(
      {"run", "--timeout", "60s", "--filter", "Listener.ends_a_rank_that_no_signal_ends", cases_plugin()});
  const auto are_ready = [&] {
    const std::vector<ProcessInfo> all = sandbox.processes();
    return std::count_if(all.begin(), all.end(), [](const auto& info) { return info.name == "outlives"; }) == 2;
  };
  CHECK(eventually(scaled(milliseconds(30'000)), are_ready));
  for (const ProcessInfo& info : sandbox.processes()) {
    if (info.name == "distrun") kill(info.pid, SIGKILL);  // guard and coordinator
  }
  CHECK(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().empty(); }));
  run.wait(scaled(milliseconds(10'000)));
  sandbox.sweep();
}

TEST_CASE("an error and a stack dump of one rank are separate messages",
          "[row:multiprocess/event-type][row:multiprocess/what-travels-on-the-connection]") {
  const std::string id = "Frames.error_and_stacks";
  const AttemptResult attempt = run_case(id, {"--timeout", bound(500)}).attempt(id);
  CHECK(attempt.verdict == "timeout");
  REQUIRE(attempt.ranks.at(1).error_texts.size() == 1);
  CHECK_THAT(attempt.ranks.at(1).error_texts.front(), Contains("rank.rank() == 0"));
  REQUIRE(attempt.snapshots.size() == 1);
  const SeenProcess* seen = attempt.snapshots.front().find(1);
  REQUIRE(seen != nullptr);
  CHECK(seen->threads_with_stacks > 0);
  CHECK_THAT(attempt.snapshots.front().text, Contains("error_and_stacks") && !Contains("CheckFailed"));
}

TEST_CASE("a rank that waits for a lock is shown with the holder", "[row:lock/_lock]") {
  const Sandbox sandbox(DISTRUN_BIN);
  Running run = sandbox.start({"run", "--output", sandbox.output(), "--timeout", "60s", "--filter",
                               "Files.one_holds_a_lock_and_hangs", cases_plugin()});
  Ended ps;
  const bool seen = eventually(scaled(milliseconds(30'000)), [&] {
    ps = sandbox.run({"ps"});  // of the other runs, too
    return ps.out.find(": lockfile\" (cases.cpp:") != std::string::npos;
  });
  INFO(ps.out << ps.err);
  CHECK(seen);
  const std::vector<pid_t> ranks = ranks_in(sandbox);
  CHECK(std::any_of(ranks.begin(), ranks.end(), [&](pid_t pid) {
    return ps.out.find("wait \"lock of process " + std::to_string(pid) + ": lockfile\"") != std::string::npos;
  }));
  run.signal(SIGINT);
  CHECK(run.wait(scaled(milliseconds(10'000))).exit_code == 130);
}

TEST_CASE("crash handler and listener exist before a set-up and after the body",
          "[row:multiprocess_child/order-of-actions-in-run_test]") {
  const CaseRun run = run_tests(cases_plugin(), {"ChildCrashes*"});
  for (const std::string where : {"SetUp", "TearDown"}) {
    const AttemptResult& attempt = run.attempt("ChildCrashesIn" + where + ".a_test");
    INFO(where);
    CHECK(attempt.verdict == "crash");
    CHECK(attempt.culprits == std::vector<int>{1});
    CHECK(attempt.ranks.at(1).signal == SIGSEGV);
    REQUIRE(attempt.snapshots.size() == 1);
    const SeenProcess* seen = attempt.snapshots.front().find(1);
    REQUIRE(seen != nullptr);
    CHECK(seen->threads_with_stacks > 0);
    CHECK_THAT(attempt.snapshots.front().text, Contains(where == "SetUp" ? "set_up" : "tear_down"));
  }
}

// The suite's Child tests cover the rest: an object for each rank and test, which knows its rank.
TEST_CASE("a rank that returns from its body exits with 0", "[row:multiprocess_child/rank-entry-point-_run]") {
  const std::string isolation = GENERATE(values<std::string>({"process", "exec"}));
  const AttemptResult attempt =
      run_case("Scenario.all_succeed", {"--isolation", isolation}).attempt("Scenario.all_succeed");
  for (const RankResult& rank : attempt.ranks) CHECK(rank.exit_code == 0);
}
