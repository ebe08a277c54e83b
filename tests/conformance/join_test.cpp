// The order in which events of ranks decide the verdict.
#include <catch2/catch.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("an error decides before the end of the others and before the timeout",
          "[row:multiprocess_join/join-loop-order-per-iteration]") {
  const CaseRun run = run_case("Scenario.one_throws", {"--timeout", bound(400)});
  CHECK(run.test("Scenario.one_throws").verdict == "fail");
  CHECK_THAT(run.test("Scenario.one_throws").message, Contains("the shard is torn"));
}

TEST_CASE("any death ends a test early, and a declared one does not",
          "[row:multiprocess_join/only-code-10-triggers-early-termination]") {
  const std::string waiting = "Scenario.rank_3_crashes_while_others_wait";
  const AttemptResult crash = run_case(waiting, {"--timeout", "50s"}).attempt(waiting);
  CHECK(crash.verdict == "crash");
  CHECK(crash.culprits == std::vector<int>{3});
  CHECK(outcomes_of(crash) == Texts{"killed by us", "killed by us", "killed by us", "signaled"});
  CHECK(crash.duration_ms < scaled(milliseconds(10'000)).count());  // far below the bound
  const std::string declared = "Scenario.others_go_on_after_a_declared_crash";
  const AttemptResult gone_on = run_case(declared).attempt(declared);
  CHECK(gone_on.verdict == "pass");
  CHECK(outcomes_of(gone_on) == Texts{"passed", "passed", "passed", "signaled"});
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK(gone_on.ranks.at(rank).notes.at("went on") == "yes");
}
