#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/history/import.hpp>
#include <distrun/runner/report/json/summary.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::history;
using namespace distrun::history::samples;
using Catch::Contains;

namespace {

std::string summary_of(const std::string& run_id, int day) {
  return report::summary_json(
      run_of(run_id, day, {test_of("Ring.a"), test_of("Ring.b", Verdict::Fail, 3ms, "rank 2 failed")}));
}

std::string with_instead(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

void expect_refusal(const std::string& json, const std::string& reason) {
  History history = History::in_memory();
  INFO(json.substr(0, 400));
  CHECK_THROWS_WITH(import_summary(history, json), Contains(reason));
  CHECK(history.runs() == 0);
  CHECK(history.tests({}).empty());
}

}  // namespace

TEST_CASE("a summary imports its run once") {
  History history = History::in_memory();
  const Imported first = import_summary(history, summary_of("run0", 3));
  CHECK(first.run_id == "run0");
  CHECK(first.tests == 2);
  CHECK(first.is_new);
  CHECK_FALSE(import_summary(history, summary_of("run0", 3)).is_new);
  const std::vector<Result> results = history.results({}, 0);
  REQUIRE(results.size() == 2);
  CHECK(results[0].test == "Ring.b");
  CHECK(results[0].verdict == Verdict::Fail);
  CHECK(results[0].message == "rank 2 failed");
  CHECK(results[0].duration == 3ms);
  CHECK(results[0].at_ms == 3 * kDayMs);
  CHECK(results[0].variant.world_size == 4);
}

TEST_CASE("a run that recorded itself is not imported again from its own summary") {
  History history = History::in_memory();
  history.record(run_of("run0", 3, {test_of("Ring.a")}));
  CHECK_FALSE(import_summary(history, summary_of("run0", 3)).is_new);
  CHECK(history.results({}, 0).size() == 1);
}

TEST_CASE("an invalid summary is refused, and nothing of it is recorded") {
  expect_refusal("", "not valid JSON");
  expect_refusal("{\"tests\": []}", "schema");
  expect_refusal("[1, 2]", "summary");
  const std::string good = summary_of("run0", 3);
  expect_refusal(good.substr(0, good.size() / 2), "not valid JSON");
  expect_refusal(with_instead(good, "\"verdict\": \"pass\"", "\"verdict\": \"splendid\""), "splendid");
  expect_refusal(with_instead(good, "distrun.summary/1", "distrun.summary/2"), "distrun.summary/2");
}

TEST_CASE("a summary that does not identify its run and tests is refused") {
  const std::string good = summary_of("run0", 3);
  expect_refusal(with_instead(good, "\"run0\"", "\"\""), "no id");
  expect_refusal(with_instead(good, "\"run0\"", "\"" + std::string(65, 'a') + "\""), "at most 64");
  expect_refusal(with_instead(good, "\"run0\"", "\"a\\u001b[2J\""), "not a word");
  expect_refusal(with_instead(good, "1970-01-04T", "2200-01-04T"), "in the future");
  expect_refusal(with_instead(good, "\"started\"", "\"startled\""), "no start time");
  expect_refusal(with_instead(good, "\"name\": \"a\"", "\"name\": \"\""), "test 1 has an empty suite or name");
  expect_refusal(with_instead(good, "\"name\": \"b\"", "\"name\": \"" + std::string(20'000, 'b') + "\""), "test 2");
  expect_refusal(report::summary_json(run_of("run0", 3, {})), "no test ran");
}
