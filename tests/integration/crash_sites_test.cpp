// Every way to crash, through the whole runner: what a user is told of it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "fixtures/crash_sites.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using distrun::fixtures::CrashSite;

const ErrorResult* crash_of(const RankResult& rank) {
  const auto found =
      std::find_if(rank.errors.begin(), rank.errors.end(), [](const auto& error) { return error.crash; });
  return found == rank.errors.end() ? nullptr : &*found;
}

std::string sentence(const CrashSite& site) { return "CrashSites." + site.site; }

void compare_place(const CrashSite& site, const AttemptResult& attempt, const ErrorResult& crash) {
  CHECK_THAT(crash.text, Catch::Contains(site.function));
  CHECK_THAT(crash.file, Catch::EndsWith(std::string(distrun::fixtures::kCrashSource)));
  if (site.line_known) CHECK(crash.line == distrun::fixtures::line_of_marker(DISTRUN_CRASH_SOURCE, site.site));
  CHECK_THAT(attempt.message, Catch::Contains(site.function));
  if (site.exception_type.empty()) return;
  CHECK(crash.type == site.exception_type);
  CHECK_THAT(crash.text, Catch::Contains(site.exception_text));
}

void compare(const CrashSite& site, const TestResult& test) {
  CHECK(test.verdict == "crash");
  REQUIRE(test.attempts.size() == 1);
  const AttemptResult& attempt = test.attempts.front();
  CHECK(attempt.culprits == std::vector<int>{1});
  const RankResult& rank = attempt.ranks.at(1);
  CHECK(rank.signal == site.signal);
  const ErrorResult* crash = crash_of(rank);
  CHECK((crash != nullptr) == site.recorded);
  if (crash == nullptr) return;
  compare_place(site, attempt, *crash);
  const auto look = std::find_if(attempt.looks.begin(), attempt.looks.end(),
                                 [](const LookResult& each) { return each.why == "crash"; });
  REQUIRE(look != attempt.looks.end());
  CHECK_THAT(look->text, Catch::Contains("rank 1 (") && Catch::Contains("crashed"));
}

int rounds() {
  const char* text = std::getenv("DISTRUN_CRASH_ROUNDS");
  return text == nullptr ? 1 : std::max(std::atoi(text), 1);
}

}  // namespace

TEST_CASE("every crash names its place, and the rank dies by the very signal", "[crash]") {
  for (int round = 0; round < rounds(); ++round) {
    const Sandbox sandbox(distrun_program());
    const Ended ended = sandbox.run({"run", "--output", sandbox.output(), plugin("crash_sites")},
                                    scaled(milliseconds(60'000)));
    INFO("round " << round << ", the console got: " << ended.out << ended.err);
    REQUIRE(ended.exit_code == 1);
    const Summary summary = sandbox.summary();
    for (const CrashSite& site : distrun::fixtures::crash_sites()) {
      INFO(sentence(site));
      if (DISTRUN_SANITIZED && !site.sanitized) continue;
      // It delivers signals later, and then knows nothing of handlers in handlers.
      if (DISTRUN_SANITIZED_THREADS && site.site == "signal_handler") continue;
      const TestResult* test = summary.find(sentence(site));
      REQUIRE(test != nullptr);
      INFO(test->message);
      compare(site, *test);
    }
    CHECK(wrong_with_reports(sandbox) == "");
    CHECK(sandbox.remains() == std::vector<std::string>{});
  }
}
