// What a rank does beside its body: it listens, answers, and tells how it died.
#include <catch2/catch.hpp>

#include <signal.h>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("a fatal signal leaves the stacks of the rank, and it dies by that signal",
          "[row:multiprocess_child/fatal-signal-stack-traces]") {
  const AttemptResult attempt = run_case("Scenario.rank_3_crashes").attempt("Scenario.rank_3_crashes");
  CHECK(attempt.ranks.at(3).signal == SIGSEGV);
  REQUIRE(attempt.looks.size() == 1);
  CHECK_THAT(attempt.looks.front().text, Contains("rank 3") && Contains("rank_3_crashes"));
}

TEST_CASE("ranks answer for their stacks while their bodies are blocked",
          "[row:multiprocess_child/event-listener-thread][row:multiprocess_child/traceback-production]") {
  const Sandbox sandbox(DISTRUN_BIN);
  Running run = sandbox.start({"run", "--output", sandbox.output(), "--timeout", "60s", "--filter",
                               "Scenario.two_finish_two_hang", cases_plugin()});
  Ended stacks;
  const bool seen = eventually(scaled(milliseconds(30'000)), [&] {
    const std::string id = sandbox.run_id_in_use();  // others may run beside it
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

// Guard, coordinator, and ranks are six processes, a zygote a seventh.
TEST_CASE("a rank whose coordinator is gone ends", "[row:multiprocess_child/event-listener-thread]") {
  const Sandbox sandbox(DISTRUN_BIN);
  Running run = sandbox.start({"run", "--timeout", "60s", "--filter", "Scenario.one_ignores_termination",
                               cases_plugin()});
  CHECK(eventually(scaled(milliseconds(30'000)), [&] { return sandbox.processes().size() >= 6; }));
  for (const ProcessInfo& info : sandbox.processes()) {
    if (info.name == "distrun") kill(info.pid, SIGKILL);  // guard and coordinator
  }
  CHECK(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().empty(); }));
  run.wait(scaled(milliseconds(10'000)));
  sandbox.sweep();
}

TEST_CASE("an error and a stack dump of one rank are told apart",
          "[row:multiprocess/event-type][row:multiprocess/what-travels-on-the-connection]") {
  const std::string id = "Frames.error_and_stacks";
  const AttemptResult attempt = run_case(id, {"--timeout", bound(500)}).attempt(id);
  CHECK(attempt.verdict == "timeout");
  REQUIRE(attempt.ranks.at(1).error_texts.size() == 1);
  CHECK_THAT(attempt.ranks.at(1).error_texts.front(), Contains("rank.rank() == 0"));
  REQUIRE(attempt.looks.size() == 1);
  const SeenProcess* seen = attempt.looks.front().find(1);
  REQUIRE(seen != nullptr);
  CHECK(seen->threads_with_stacks > 0);
  CHECK_THAT(attempt.looks.front().text, Contains("error_and_stacks") && !Contains("CheckFailed"));
}
