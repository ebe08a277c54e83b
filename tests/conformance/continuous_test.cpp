// Persistent ranks, seen from outside.
#include <catch2/catch.hpp>

#include "run_case.hpp"

using namespace distrun::testing;

TEST_CASE("the backend of a suite is the run's", "[row:continuous/backend_str-opts]") {
  const std::string id = "Continuous.the_run_names_the_backend";
  for (const std::string backend : {"gloo", "nccl"}) {
    const AttemptResult attempt = run_tests(DISTRUN_HARNESS, {id}, {"--backend", backend}).attempt(id);
    CHECK(attempt.verdict == "pass");
    for (const RankResult& rank : attempt.ranks) CHECK(rank.notes.at("backend") == backend);
  }
}

TEST_CASE("one set of ranks runs a suite, and a hang affects that set and no other test",
          "[row:continuous/class-variables][row:continuous/run_rank-entry]") {
  const CaseRun run = run_tests(cases_plugin(), {"Pool.*"});
  const std::string first = run.attempt("Pool.a_passes").ranks.at(0).notes.at("pid");
  CHECK(run.attempt("Pool.b_passes").ranks.at(0).notes.at("pid") == first);
  const AttemptResult& hang = run.attempt("Pool.c_hangs");
  CHECK(hang.verdict == "timeout");
  CHECK(hang.culprits == std::vector<int>{1});
  CHECK(hang.snapshots.size() == 1);
  CHECK(run.test("Pool.d_passes").verdict == "pass");
  CHECK(run.attempt("Pool.d_passes").ranks.at(0).notes.at("pid") != first);
}
