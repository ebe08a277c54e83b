// Exceptions from sites of every kind, through the whole runner: checks what the user sees of their origin.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "fixtures/crash_sites/sites.hpp"
#include "fixtures/throw_sites/sites.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using distrun::fixtures::ThrowSite;

Summary throw_everywhere(const Sandbox& sandbox, const std::string& isolation) {
  const Ended ended = sandbox.run(
      {"run", "--isolation", isolation, "--world-size", "4", "--output", sandbox.output(), plugin("throw_sites")},
      scaled(milliseconds(60'000)));
  INFO("the console got: " << ended.out << ended.err);
  REQUIRE(ended.exit_code == 1);
  return sandbox.summary();
}

const SnapshotResult* look_at_exceptions(const AttemptResult& attempt) {
  const auto found = std::find_if(attempt.snapshots.begin(), attempt.snapshots.end(),
                                  [](const SnapshotResult& snapshot) { return snapshot.why == "exception"; });
  return found == attempt.snapshots.end() ? nullptr : &*found;
}

const ErrorResult& error_of(const AttemptResult& attempt, int rank) {
  const auto found = std::find_if(attempt.ranks.begin(), attempt.ranks.end(),
                                  [rank](const RankResult& each) { return each.rank == rank; });
  REQUIRE(found != attempt.ranks.end());
  REQUIRE_FALSE(found->errors.empty());
  return found->errors.front();
}

void compare_throw(const ThrowSite& site, const TestResult& test) {
  CHECK(test.verdict == "fail");
  REQUIRE(test.attempts.size() == 1);
  const AttemptResult& attempt = test.attempts.front();
  const ErrorResult& error = error_of(attempt, site.rank);
  const auto place = distrun::fixtures::place_of(DISTRUN_THROW_SOURCES, site.site);
  CHECK_THAT(error.text, Contains(site.text));
  if (!site.type.empty()) CHECK(error.type == site.type);
  CHECK_FALSE(error.crash);
  CHECK_THAT(error.file, Catch::EndsWith("/throw_sites/" + place.file));
  CHECK(error.line == place.line);
  CHECK_THAT(attempt.message, Contains(site.text) && Contains(place.file + ":" + std::to_string(place.line)));
  const SnapshotResult* snapshot = look_at_exceptions(attempt);
  REQUIRE(snapshot != nullptr);
  CHECK_THAT(snapshot->text, Contains("threw " + error.type) && Contains(site.function));
  CHECK_THAT(snapshot->text, !Contains("__cxa_throw") && !Contains("_Unwind_"));
}

void compare_throws(const Summary& summary) {
  for (const ThrowSite& site : distrun::fixtures::throw_sites()) {
    INFO(site.test);
    const TestResult* test = summary.find(site.test);
    REQUIRE(test != nullptr);
    INFO(test->message);
    compare_throw(site, *test);
  }
}

}  // namespace

TEST_CASE("every exception names the line of the test's own code that threw it", "[throw]") {
  for (const char* isolation : {"process", "threads"}) {
    INFO(isolation);
    const Sandbox sandbox(distrun_program());
    compare_throws(throw_everywhere(sandbox, isolation));
    CHECK(wrong_with_reports(sandbox) == "");
    CHECK(sandbox.remains() == std::vector<std::string>{});
  }
}

TEST_CASE("ranks that throw at the same place are reported together", "[throw]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(
      {"run", "--filter", "ThrowEverywhere", "--world-size", "4", "--output", sandbox.output(), plugin("throw_sites")},
      scaled(milliseconds(20'000)));
  CHECK_THAT(ended.out, Contains("ranks 0-3: std::runtime_error: no more paper"));
  CHECK_THAT(ended.out, Contains("ranks 0-3 (main threads, threw std::runtime_error)"));
  const Summary summary = sandbox.summary();
  const TestResult* test = summary.find("ThrowEverywhere.at_the_same_place");
  REQUIRE(test != nullptr);
  REQUIRE(test->attempts.size() == 1);
  CHECK(test->attempts.front().snapshots.size() == 1);
}
