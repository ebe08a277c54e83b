// In which order what happens to ranks decides.
#include <catch2/catch.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("an error decides before the others' end and before the bound",
          "[row:multiprocess_join/join-loop-order-per-iteration]") {
  const CaseRun run = run_case("Scenario.one_throws", {"--timeout", bound(400)});
  CHECK(run.test("Scenario.one_throws").verdict == "fail");
  CHECK_THAT(run.test("Scenario.one_throws").message, Contains("the shard is torn"));
}

TEST_CASE("any death ends a test early, and a declared one ends nothing",
          "[row:multiprocess_join/only-code-10-triggers-early-termination]") {
  const CaseRun crash = run_case("Scenario.rank_3_crashes");
  CHECK(crash.test("Scenario.rank_3_crashes").verdict == "crash");
  const AttemptResult declared = run_case("Scenario.declared_crash").attempt("Scenario.declared_crash");
  CHECK(declared.verdict == "pass");
  CHECK(outcomes_of(declared) == Texts{"passed", "passed", "passed", "signaled"});
}
