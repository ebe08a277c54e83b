// Reports about ranks that ran on several hosts.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/ctrf.hpp>
#include <distrun/runner/report/json/event_stream.hpp>
#include <distrun/runner/report/json/read_summary.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/text/attempt_text.hpp>
#include <distrun/runner/report/text/failure_text.hpp>
#include <distrun/runner/report/text/output_text.hpp>
#include <distrun/runner/report/text/progress.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using nlohmann::json;

TEST_CASE("the summary says where each rank ran, and is read back and written again as it was", "[report]") {
  const std::string text = summary_json(run_of(on_two_nodes(crashing())));
  const json ranks = json::parse(text)["tests"][0]["attempts"][0]["ranks"];
  REQUIRE(ranks.size() == 4);
  CHECK(ranks[0]["host"] == "node01");
  CHECK(ranks[3]["host"] == "node02");
  CHECK(summary_json(read_summary(text)) == text);
  CHECK_FALSE(json::parse(summary_json(run_of(crashing())))["tests"][0]["attempts"][0]["ranks"][0].contains("host"));
}

TEST_CASE("the causes of a hang that are read back name the hosts of their ranks", "[report]") {
  const runner::RunRecord run = read_summary(summary_json(run_of(on_two_nodes(deadlocked()))));
  const runner::AttemptRecord& attempt = run.tests.at(0).attempts.at(0);
  REQUIRE_FALSE(attempt.hang.empty());
  const std::string text = attempt_text(attempt, Paint(false));
  CHECK_THAT(text, Catch::Contains(" on node01"));
  CHECK(text == attempt_text(on_two_nodes(deadlocked()).attempts.at(0), Paint(false)));
}

TEST_CASE("events and other reports say where a rank ran", "[report]") {
  const Scratch scratch;
  const std::string path = scratch.path("events.ndjson");
  const runner::RunRecord run = run_of(on_two_nodes(crashing()));
  {
    EventStream stream(path, base::system_clock());
    replay(run, stream);
  }
  int told = 0;
  for (const std::string& line : base::split_lines(content_of(path))) {
    if (line.empty()) continue;
    const json event = json::parse(line);
    if (event["kind"] != "rank_start" && event["kind"] != "rank_end") continue;
    ++told;
    CHECK(event["host"] == (event["rank"] < 2 ? "node01" : "node02"));
  }
  CHECK(told == 8);
  const json test = json::parse(ctrf_json(run))["results"]["tests"][0];
  CHECK(test["extra"]["ranks"][3]["host"] == "node02");
  CHECK_THAT(junit_xml(run), Catch::Contains("[rank 1 on node01] line 29\n"));
}

TEST_CASE("the text of a failure names the host of each rank that it tells of", "[report]") {
  const runner::TestRecord test = on_two_nodes(crashing());
  const runner::AttemptRecord& attempt = test.attempts.at(0);
  const std::string text = attempt_text(attempt, Paint(false));
  for (const int culprit : attempt.culprits) {
    CHECK_THAT(text, Catch::Contains("rank " + std::to_string(culprit) + " on node"));
  }
  CHECK_THAT(failure_text({}, test, Paint(false), false), Catch::Contains(", world size 4 on 2 hosts, "));
  CHECK_THAT(output_of_all(attempt, Paint(false)), Catch::Contains(" on node"));
}

TEST_CASE("the status line names the host of ranks that do the same there", "[report]") {
  const std::vector<std::string> hosts{"node01", "node01", "node02", "node02"};
  CHECK(activity_text({"body", "body", "body", "set-up"}, hosts) == "0-2 body, 3 on node02 set-up");
  CHECK(activity_text({"body", "body", "set-up", "set-up"}, hosts) == "0-1 on node01 body, 2-3 on node02 set-up");
  CHECK(activity_text({"body", "set-up"}) == "0 body, 1 set-up");
  Progress progress;
  progress.run_started(1);
  progress.test_started("Ring.pass", {});
  progress.attempt_started("Ring.pass", 2);
  progress.rank_on_host("Ring.pass", 1, "node02");
  progress.rank_in_phase("Ring.pass", 1, wire::Phase::Body);
  CHECK(progress.status({}, 80) == "0 of 1 | Ring.pass, 0 us | 0 spawn, 1 on node02 body");
}
