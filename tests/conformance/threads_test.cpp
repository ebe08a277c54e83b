// Ranks that are threads of one process, seen from outside.
#include <catch2/catch.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("failures of threads are judged like those of processes",
          "[row:multithread/judging-threads][row:multithread/joining-threads]"
          "[row:multithread/exception-queue-is-shared]") {
  const CaseRun run = run_tests(cases_plugin(), {"ThreadRanks.*"});
  const AttemptResult& thrown = run.attempt("ThreadRanks.a_one_throws");
  CHECK(thrown.verdict == "fail");
  CHECK(thrown.culprits == std::vector<int>{1});
  CHECK_THAT(thrown.message, Contains("thread trouble"));
  CHECK(run.test("ThreadRanks.b_passes").verdict == "pass");  // nothing is left of the failure
  CHECK(run.test("ThreadRanks.c_one_skips").verdict == "fail");
  CHECK_THAT(run.test("ThreadRanks.c_one_skips").message, Contains("rank 1 skipped"));
  CHECK(run.test("ThreadRanks.d_all_skip").verdict == "skip");
  CHECK(run.test("ThreadRanks.e_one_exits_0").verdict == "crash");
  const AttemptResult& hang = run.attempt("ThreadRanks.f_one_hangs");
  CHECK(hang.verdict == "timeout");
  CHECK(hang.culprits == std::vector<int>{1});
  CHECK(run.test("ThreadRanks.g_passes").verdict == "pass");
}

TEST_CASE("an error in the set-up of one thread is that rank's failure",
          "[row:multithread/running-one-thread][row:multithread/MultiThreadedTestCase-role-of-set-up-hooks]") {
  const AttemptResult attempt = run_case("ThreadSetUp.fails").attempt("ThreadSetUp.fails");
  CHECK(attempt.verdict == "fail");
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK_THAT(attempt.message, Contains("in set-up") && Contains("set-up trouble"));
}
