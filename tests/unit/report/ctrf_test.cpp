#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <limits>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/ctrf.hpp>

#include "nasty.hpp"
#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using nlohmann::json;
using runner::Verdict;

namespace {

json test_of(runner::TestRecord test) { return json::parse(ctrf_json(run_of(std::move(test))))["results"]["tests"][0]; }

std::size_t bytes_of(const json& lines) {
  std::size_t size = 0;
  for (const json& line : lines) size += line.get_ref<const std::string&>().size() + 1;
  return size;
}

}  // namespace

TEST_CASE("CTRF has the agreed layout", "[report]") {
  runner::RunRecord run = run_of(failing());
  add(run, flaky());
  add(run, passing());
  run.problems.push_back({"build/plugins/torn.so", "list", "cannot load it:\nundefined symbol: f"});
  const std::string now = ctrf_json(run);
  INFO("DISTRUN_UPDATE_GOLDEN=1 rewrites tests/golden/report/ctrf.json");
  CHECK(golden("ctrf.json", now) == now);
}

TEST_CASE("CTRF has a status for each verdict, and no bad verdict is green", "[report]") {
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    runner::TestRecord test = failing();
    test.verdict = verdict;
    const bool passed = test_of(std::move(test))["status"] == "passed";
    CHECK(passed == (verdict == Verdict::Pass || verdict == Verdict::Flaky));
  }
  CHECK(test_of(skipped())["status"] == "skipped");
  CHECK(test_of(cancelled())["status"] == "other");
  CHECK(test_of(broken_machine())["status"] == "failed");
  CHECK(test_of(broken_machine())["rawStatus"] == "infra-error");
  CHECK(test_of(leaking())["status"] == "failed");
  CHECK(test_of(leaking())["extra"]["leaks"].size() == 2);
}

TEST_CASE("CTRF counts tests and problems", "[report]") {
  const json summary = json::parse(ctrf_json(full_run()))["results"]["summary"];
  CHECK(summary["tests"] == full_run().tests.size() + 1);
  CHECK(summary["passed"] == 2);
  CHECK(summary["flaky"] == 1);
  CHECK(summary["skipped"] == 1);
  CHECK(summary["other"] == 1);
  CHECK(summary["failed"] == 10);
  CHECK(summary["stop"].get<std::int64_t>() - summary["start"].get<std::int64_t>() == 3456);
}

TEST_CASE("CTRF describes a failure with its message, place, trace, output and ranks", "[report]") {
  const json test = test_of(failing());
  CHECK(test["name"] == "gather");
  CHECK(test["suite"] == json::array({"ring", "Ring"}));
  CHECK(test["message"] == failing().message);
  CHECK(test["trace"].get<std::string>().starts_with("rank 2: CheckFailed: sum == 6\n"));
  CHECK(test["stdout"][0] == "[rank 2] step 1");
  CHECK(test["stderr"] == json::array({"[rank 2] warning: slow"}));
  CHECK(test["extra"]["culprits"] == json::array({2}));
  CHECK(test["extra"]["ranks"].size() == 4);
  CHECK(test["extra"]["ranks"][2]["outcome"] == "failed");
  CHECK(test["extra"]["again"].get<std::string>().starts_with("distrun --world-size 4"));
}

TEST_CASE("CTRF has the attempts that were retried", "[report]") {
  const json flaky_test = test_of(flaky());
  CHECK(flaky_test["flaky"] == true);
  CHECK(flaky_test["retries"] == 1);
  REQUIRE(flaky_test["retryAttempts"].size() == 1);
  CHECK(flaky_test["retryAttempts"][0]["attempt"] == 1);
  CHECK(flaky_test["retryAttempts"][0]["status"] == "failed");
  CHECK(flaky_test["retryAttempts"][0]["line"] == 41);
  const json never = test_of(failing_every_retry());
  CHECK(never["flaky"] == false);
  CHECK(never["retryAttempts"].size() == 1);
  runner::TestRecord repeated = passing();
  repeated.attempts.push_back(repeated.attempts[0]);
  repeated.attempts.back().kind = runner::AttemptKind::Repeat;
  CHECK(test_of(repeated)["retries"] == 0);
}

TEST_CASE("CTRF has a timeout for each test", "[report]") {
  runner::TestRecord test = failing();
  std::string flood;
  for (int i = 0; i < 10'000; ++i) flood += "line " + std::to_string(i) + "\n";
  for (runner::RankRecord& rank : test.attempts[0].ranks) rank.out.text = rank.err.text = flood;
  for (int i = 0; i < 20; ++i) {
    test.attempts.push_back(test.attempts[0]);
    test.attempts.back().kind = runner::AttemptKind::Retry;
  }
  test.message = std::string(1U << 20U, 'x');
  const json told = test_of(test);
  CHECK(told["message"].get<std::string>().size() < 5000);
  CHECK(bytes_of(told["stdout"]) < 55U * 1024U);
  CHECK(told["retryAttempts"].size() == 20);
  CHECK(bytes_of(told["retryAttempts"][9]["stdout"]) < 5U * 1024U);
  CHECK(told["retryAttempts"][10].count("stdout") == 0);
}

TEST_CASE("CTRF has a time even for a run that ended later than a clock can show", "[report]") {
  runner::RunRecord run = empty_run();
  run.started_wall_ns = std::numeric_limits<std::int64_t>::max();
  run.duration = base::Nanoseconds::max();
  CHECK(json::parse(ctrf_json(run))["timestamp"].get<std::string>().starts_with("2262-"));
}

TEST_CASE("CTRF is valid JSON for any texts of a test", "[report]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  for (const std::string& nasty : nasty_texts(seed)) {
    const std::string text = ctrf_json(run_of(test_saying(nasty)));
    const json test = json::parse(text)["results"]["tests"][0];  // throws if it is missing
    CHECK(test["extra"]["id"] == base::valid_utf8(test_saying(nasty).info.id()));
    CHECK(test["status"] == "failed");
  }
}
