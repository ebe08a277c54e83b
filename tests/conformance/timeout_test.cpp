// The timeout that applies to a test's body.
#include <catch2/catch.hpp>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("the default timeout is set by a variable, and an option wins over it",
          "[row:env/DISTRIBUTED_TESTS_DEFAULT_TIMEOUT][row:timeout/default-test-timeout]") {
  const Sandbox sandbox(DISTRUN_BIN);
  const auto timed = [&](Texts options, const std::string& value) {
    Texts arguments{"run", "--output", sandbox.output(), "--filter", "Bounds.of_the_run"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(cases_plugin());
    Command command = sandbox.command(arguments);
    command.environment.push_back("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT=" + value);
    return Running(command).wait(scaled(milliseconds(30'000)));
  };
  CHECK(timed({}, "1").exit_code == 1);
  CHECK_THAT(sandbox.summary().tests.at(0).message, Contains("timed out after 1.0 s in the test body"));
  CHECK(timed({"--timeout", "300ms"}, "1").exit_code == 1);
  CHECK_THAT(sandbox.summary().tests.at(0).message, Contains("timed out after 300.0 ms"));
  const Ended wrong = timed({}, "soon");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT: --timeout soon"));
}

TEST_CASE("a timeout is the test's own, then the run's, then 300 seconds",
          "[row:timeout/TIMEOUT_OVERRIDE][row:timeout/get_timeout-test_id][row:timeout/default-test-timeout]"
          "[row:timeout/second-unused-timeout-table]") {
  const CaseRun run = run_tests(cases_plugin(), {"Bounds.*"}, {"--timeout", "600ms"});
  CHECK_THAT(run.test("Bounds.own").message, Contains("timed out after 200.0 ms"));
  CHECK_THAT(run.test("Bounds.of_the_run").message, Contains("timed out after 600.0 ms"));
  const CaseRun usual = run_case("Scenario.all_succeed");
  CHECK_THAT(usual.events, Contains("\"timeout_ms\":300000"));
}
