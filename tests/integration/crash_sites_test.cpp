// Every signal at every crash site, through the whole runner: checks what the user sees.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "fixtures/crash_sites/sites.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using distrun::fixtures::crash_sites;
using distrun::fixtures::CrashSite;
using distrun::fixtures::holds;
using distrun::fixtures::name_of_signal;
using distrun::fixtures::Sanitizer;

std::string id_of(const CrashSite& site, int signal) {
  return "CrashSites." + site.site + "/signal=" + name_of_signal(signal);
}

bool is_changed(const CrashSite& site) {
  const Sanitizer here = DISTRUN_SANITIZED_THREADS ? Sanitizer::Threads
                         : DISTRUN_SANITIZED       ? Sanitizer::Address
                                                   : Sanitizer::None;
  return here != Sanitizer::None && (site.changed_by == here || site.changed_by == Sanitizer::Any);
}

const ErrorResult* crash_of(const RankResult& rank) {
  const auto found =
      std::find_if(rank.errors.begin(), rank.errors.end(), [](const auto& error) { return error.crash; });
  return found == rank.errors.end() ? nullptr : &*found;
}

void compare_place(const CrashSite& site, int signal, const AttemptResult& attempt, const ErrorResult& crash) {
  const auto place = distrun::fixtures::place_of(DISTRUN_CRASH_SOURCES, site.site);
  CHECK_THAT(crash.text, Catch::Contains(site.function) && Catch::Contains(site.says));
  CHECK_THAT(crash.file, Catch::EndsWith("/crash_sites/" + place.file));
  if (!holds(site.any_line, signal)) CHECK(crash.line == place.line);
  CHECK_THAT(attempt.message, Catch::Contains(site.function));
  CHECK(crash.type == (site.exception_type.empty() ? "SIG" + name_of_signal(signal) : site.exception_type));
  CHECK_THAT(crash.text, Catch::Contains(site.exception_text));
}

void compare(const CrashSite& site, int signal, const TestResult& test) {
  CHECK(test.verdict == "crash");
  REQUIRE(test.attempts.size() == 1);
  const AttemptResult& attempt = test.attempts.front();
  const int last = static_cast<int>(attempt.ranks.size()) - 1;
  CHECK(attempt.culprits == std::vector<int>{last});
  const RankResult& rank = attempt.ranks.at(static_cast<std::size_t>(last));
  CHECK(rank.outcome == "signaled");
  CHECK(rank.signal == signal);
  const ErrorResult* crash = crash_of(rank);
  CHECK((crash == nullptr) == holds(site.unseen, signal));
  if (crash == nullptr) return;
  compare_place(site, signal, attempt, *crash);
  const auto snapshot = std::find_if(attempt.snapshots.begin(), attempt.snapshots.end(),
                                     [](const SnapshotResult& each) { return each.why == "crash"; });
  REQUIRE(snapshot != attempt.snapshots.end());
  CHECK_THAT(snapshot->text, Catch::Contains("rank " + std::to_string(last) + " (") && Catch::Contains("crashed"));
  CHECK_THAT(snapshot->text, Catch::Contains(site.function));
  if (site.above_body) CHECK_THAT(snapshot->text, Catch::Contains("crash_last_rank"));
}

// Returns the number of crashes in the table.
std::size_t crash_count() {
  std::size_t count = 0;
  for (const CrashSite& site : crash_sites()) count += site.signals.size();
  return count;
}

Summary crash_everywhere(const Sandbox& sandbox, int world_size) {
  // The bound is for sites that do not crash as they should.
  const Ended ended = sandbox.run({"run", "--timeout", "10s", "--world-size", std::to_string(world_size), "--output",
                                   sandbox.output(), plugin("crash_sites")},
                                  scaled(milliseconds(120'000)));
  INFO("the console got: " << ended.out << ended.err);
  REQUIRE(ended.exit_code == 1);
  return sandbox.summary();
}

void compare_all(const Summary& summary) {
  CHECK(summary.tests.size() == crash_count());
  for (const CrashSite& site : crash_sites()) {
    if (is_changed(site)) continue;
    for (const int signal : site.signals) {
      INFO(id_of(site, signal));
      const TestResult* test = summary.find(id_of(site, signal));
      REQUIRE(test != nullptr);
      INFO(test->message);
      compare(site, signal, *test);
    }
  }
}

int rounds() {
  const char* text = std::getenv("DISTRUN_CRASH_ROUNDS");
  return text == nullptr ? 1 : std::max(std::atoi(text), 1);
}

}  // namespace

TEST_CASE("a crash site that lacks one of the five signals has a reason", "[crash]") {
  int complete = 0;
  for (const CrashSite& site : crash_sites()) {
    INFO(site.site);
    const bool has_all = site.signals == distrun::fixtures::kCrashSignals;
    CHECK(site.why_no_other.empty() == has_all);
    complete += has_all ? 1 : 0;
  }
  CHECK(complete >= 20);
}

TEST_CASE("every crash names its place, and the rank dies by the same signal", "[crash]") {
  for (int round = 0; round < rounds(); ++round) {
    INFO("round " << round);
    const Sandbox sandbox(distrun_program());
    // Peers make no difference to a site: after the first round a rank crashes alone.
    compare_all(crash_everywhere(sandbox, round == 0 ? 4 : 1));
    if (round == 0) CHECK(wrong_with_reports(sandbox) == "");
    CHECK(sandbox.remains() == std::vector<std::string>{});
  }
}
