#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/ctrf.hpp>
#include <distrun/runner/report/json/read_summary.hpp>
#include <distrun/runner/report/json/summary.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>
#include <distrun/runner/report/text/run_text.hpp>
#include <distrun/runner/report/xml/junit.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using nlohmann::json;

namespace {

std::string refusal(std::string_view text) {
  try {
    read_summary(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    return error.what();
  }
  return "none";
}

std::string with_schema(const std::string& fields) { return R"({"schema": "distrun.summary/1", )" + fields + "}"; }

}  // namespace

TEST_CASE("the summary of a run has its totals, problems and tests", "[report]") {
  const json summary = json::parse(summary_json(full_run()));
  CHECK(summary["schema"] == "distrun.summary/1");
  CHECK(summary["started"] == "2027-01-15T08:00:00.123Z");
  CHECK(summary["duration_ms"] == 3456.789);
  CHECK(summary["exit_code"] == 130);
  CHECK(summary["totals"].size() == 10);
  CHECK(summary["totals"]["fail"] == 3);
  CHECK(summary["problems"][0]["phase"] == "list");
  CHECK(summary["tests"].size() == full_run().tests.size());
}

TEST_CASE("the summary has the hosts of suites, and their outcomes", "[report]") {
  const json summary = json::parse(summary_json(run_with_hosts()));
  REQUIRE(summary["hosts"].size() == 2);
  CHECK(summary["hosts"][0]["suite"] == "Fleet");
  CHECK(summary["hosts"][0]["verdict"] == "fail");
  CHECK(summary["hosts"][0]["rank"]["rank"] == -1);
  CHECK(summary["hosts"][0]["rank"]["error"]["text"] == "no water");
  CHECK(summary["hosts"][1]["tear_down_ms"] == 4);
  CHECK(summary["tests"][0]["attempts"][0]["culprits"] == json::array({-1}));
  CHECK_FALSE(json::parse(summary_json(full_run())).contains("hosts"));
  CHECK(read_summary(summary_json(run_with_hosts())).tests.at(0).attempts.at(0).ranks.at(0).rank == -1);
}

TEST_CASE("the summary names the trace of an attempt, if it has one", "[report]") {
  runner::RunRecord run = run_of(passing());
  CHECK_FALSE(json::parse(summary_json(run))["tests"][0]["attempts"][0].contains("trace"));
  run.settings.trace_dir = "traces";
  run.tests.front().attempts.front().trace = "traces/Ring.pass.json";
  const std::string text = summary_json(run);
  CHECK(json::parse(text)["settings"]["trace"] == "traces");
  CHECK(read_summary(text).settings.trace_dir == "traces");
  CHECK(read_summary(text).tests.at(0).attempts.at(0).trace == "traces/Ring.pass.json");
}

TEST_CASE("the summary has the causes of a hang, the headline first, and they are read back as they were", "[report]") {
  const std::string text = summary_json(run_of(deadlocked()));
  const json causes = json::parse(text)["tests"][0]["attempts"][0]["hang_causes"];
  REQUIRE(causes.size() == 2);
  CHECK(causes[0]["kind"] == "deadlock");
  CHECK(causes[0]["certainty"] == "proven");
  CHECK(causes[0]["text"] == "deadlock (proven): ranks 0-1 wait for each other; rank 2 waits for them");
  CHECK(causes[0]["place"]["line"] == 60);
  CHECK(causes[0]["lasted_ms"] == 900);
  CHECK(causes[0]["chain"][1]["place"]["line"] == 62);
  const runner::RunRecord back = read_summary(text);
  CHECK(summary_json(back) == text);
  CHECK_FALSE(json::parse(summary_json(run_of(failing())))["tests"][0]["attempts"][0].contains("hang_causes"));
}

TEST_CASE("a summary whose causes of a hang are not as they must be is refused by the field", "[report]") {
  const auto with_cause = [](const std::string& fields) {
    return refusal(with_schema(R"("tests": [{"attempts": [{"hang_causes": [{)" + fields + "}]}]}]"));
  };
  CHECK_THAT(with_cause(R"("kind": "bad luck")"), Catch::Contains("kind"));
  CHECK_THAT(with_cause(R"("ranks": [0, "1"])"), Catch::Contains("ranks"));
  CHECK_THAT(with_cause(R"("place": 7)"), Catch::Contains("place"));
  CHECK_THAT(with_cause(R"("chain": [1])"), Catch::Contains("chain"));
  CHECK(with_cause(R"("kind": "slow")") == "none");
}

TEST_CASE("new names are in the summary, and in one line of the console", "[report]") {
  runner::RunRecord run = full_run();
  CHECK_FALSE(json::parse(summary_json(run)).contains("appeared"));
  CHECK(run_end_text(run, {}, Paint(false)).find("note: ") == std::string::npos);
  run.appeared = {"/tmp/a", "/tmp/b", "/tmp/c\n", "/dev/shm/d"};
  CHECK(read_summary(summary_json(run)).appeared == run.appeared);
  CHECK(run_end_text(run, {}, Paint(false)).find("note: ") == std::string::npos);
  CHECK_THAT(
      run_end_text(run, {}, Paint(false), 0, {}, true),
      Catch::Contains(
          "note: 4 new names appeared during the run, perhaps created by another program: /tmp/a, /tmp/b, /tmp/c") &&
          Catch::Contains(" and 1 more\n"));
  CHECK(exit_code_of(run) == exit_code_of(full_run()));
}

TEST_CASE("the summary of a test has its parameters in order of declaration", "[report]") {
  runner::RunRecord run = empty_run();
  add(run, passing());
  const auto summary = nlohmann::ordered_json::parse(summary_json(run));
  CHECK(summary["tests"][0]["parameters"].dump() == R"({"root":"3","dtype":"f32"})");
  CHECK(summary["tests"][0]["id"] == "Ring.broadcast/root=3,dtype=f32");
}

TEST_CASE("the summary of a rank has its first error separately and null for absent values", "[report]") {
  runner::RunRecord run = empty_run();
  add(run, failing());
  const json ranks = json::parse(summary_json(run))["tests"][0]["attempts"][0]["ranks"];
  CHECK(ranks[2]["error"]["text"] == "sum == 6\nleft: 5, right: 6");
  CHECK(ranks[2]["errors"].size() == 1);
  CHECK(ranks[2]["exit_code"] == 10);
  CHECK(ranks[2]["signal"].is_null());
  CHECK(ranks[2]["stdout"] == "step 1\nstep 2\n\nstep 3");
  CHECK(ranks[2]["stdout_bytes"] == 21);
  CHECK(ranks[0]["error"].is_null());
  CHECK(ranks[0]["because_of"] == 2);
  CHECK(ranks[1]["waiting_in"] == "barrier \"ready\"");
}

TEST_CASE("a summary that is read and written again is identical, byte by byte", "[report]") {
  const std::string first = summary_json(full_run());
  CHECK(summary_json(read_summary(first)) == first);
  const std::string empty = summary_json(empty_run());
  CHECK(summary_json(read_summary(empty)) == empty);
  const std::string with_hosts = summary_json(run_with_hosts());
  CHECK(summary_json(read_summary(with_hosts)) == with_hosts);
}

TEST_CASE("a summary names the variables of --env without their values, unless these are asked for", "[report]") {
  runner::RunRecord run = empty_run();
  run.settings.env = {{"TOKEN", "secret"}, {"B", ""}};
  run.settings.command_line = {"distrun", "--env", "TOKEN=secret", "--env=B=", "--filter", "TOKEN=secret", "ring.so"};
  add(run, crashing());
  const std::string told = summary_json(run);
  CHECK_THAT(told, Catch::Contains("TOKEN"));
  const runner::Settings back = read_summary(told).settings;
  CHECK(back.env == std::vector<wire::KeyValue>{{"TOKEN", ""}, {"B", ""}});
  CHECK(back.env_hidden);
  // The filter is not a variable.
  CHECK(back.command_line ==
        std::vector<std::string>{"distrun", "--env", "TOKEN", "--env=B", "--filter", "TOKEN=secret", "ring.so"});
  CHECK(summary_json(read_summary(told)) == told);
  run.settings.command_line = {"distrun", "--env", "TOKEN=secret", "ring.so"};
  for (const std::string& text : {summary_json(run), junit_xml(run), ctrf_json(run)}) {
    CHECK_THAT(text, Catch::Contains("--env TOKEN ") || Catch::Contains("\"TOKEN\""));
    CHECK_THAT(text, !Catch::Contains("secret"));
  }
  run.settings.env_values = true;
  CHECK_THAT(summary_json(run), Catch::Contains("secret"));
  CHECK_FALSE(read_summary(summary_json(run)).settings.env_hidden);
}

TEST_CASE("reading a summary gives the record that was written", "[report]") {
  runner::RunRecord run = empty_run();
  run.settings.env = {{"A", "1"}, {"A", "2"}};
  run.settings.env_values = true;
  run.settings.seed = 18'446'744'073'709'551'615U;
  run.settings.timeout_scale = 2.5;
  run.settings.leaks_strict = true;
  run.settings.quick_exit = true;
  add(run, crashing());
  const runner::RunRecord back = read_summary(summary_json(run));
  CHECK(back.settings.env == run.settings.env);
  CHECK(back.settings.seed == run.settings.seed);
  CHECK(back.settings.timeout_scale == 2.5);
  CHECK(back.settings.leaks_strict);
  CHECK(back.settings.quick_exit);
  CHECK(back.started_wall_ns == run.started_wall_ns);
  CHECK(back.totals == run.totals);
  REQUIRE(back.tests.size() == 1);
  const runner::AttemptRecord& attempt = back.tests[0].attempts.at(0);
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK(attempt.ranks.at(1).outcome == run.tests[0].attempts[0].ranks[1].outcome);
  CHECK(attempt.ranks.at(3).errors.at(0).because_of == 1);
}

TEST_CASE("outcomes of suite hosts are read back", "[report]") {
  const std::vector<runner::HostRecord> hosts = read_summary(summary_json(run_with_hosts())).hosts;
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0].suite == "Fleet");
  CHECK(hosts[0].plugin == "fleet.so");
  CHECK((hosts[0].verdict == runner::Verdict::Fail));
  CHECK(hosts[0].rank.rank == -1);
  CHECK(hosts[0].rank.errors.at(0).text == "no water");
  CHECK(hosts[1].set_up == std::chrono::milliseconds(3));
  CHECK(hosts[1].tear_down == std::chrono::milliseconds(4));
  CHECK(refusal(with_schema(R"("hosts": [7])")) == "\"hosts\" is 7, not an object");
  CHECK(refusal(with_schema(R"("hosts": [{"verdict": "great"}])")) == "\"verdict\" is \"great\", not a known name");
}

TEST_CASE("a summary has the grace periods, and fields that only some runs have", "[report]") {
  runner::RunRecord run = empty_run();
  json settings = json::parse(summary_json(run))["settings"];
  CHECK(settings["grace_ms"] == 500);
  CHECK(settings["kill_after_ms"] == 500);
  for (const char* name : {"stacks_after_ms", "debug_rank", "stdin_rank"}) CHECK(settings[name].is_null());
  run.settings.peer_grace = std::chrono::seconds(2);
  run.settings.terminate_grace = std::chrono::milliseconds(30);
  run.settings.stacks_after = std::chrono::seconds(7);
  run.settings.debug_rank = 0;
  run.settings.stdin_rank = 3;
  run.settings.stop_signal = SIGINT;
  run.settings.keep_output = false;
  settings = json::parse(summary_json(run))["settings"];
  CHECK(settings["stdin_rank"] == 3);
  const runner::Settings back = read_summary(summary_json(run)).settings;
  CHECK(back.peer_grace == run.settings.peer_grace);
  CHECK(back.terminate_grace == run.settings.terminate_grace);
  CHECK(back.stacks_after == run.settings.stacks_after);
  CHECK(back.debug_rank == 0);
  CHECK(back.stdin_rank == 3);
  CHECK(back.stop_signal == SIGINT);
  CHECK_FALSE(back.keep_output);
}

TEST_CASE("a summary is valid UTF-8 for any output of the tests", "[report]") {
  runner::RunRecord run = empty_run();
  add(run, hostile());
  const std::string text = summary_json(run);
  CHECK(text == base::valid_utf8(text));
  const json rank = json::parse(text)["tests"][0]["attempts"][0]["ranks"][0];
  CHECK(rank["stdout"].get<std::string>().starts_with("\x1b[31mred\x1b[0m \xef\xbf\xbd\xef\xbf\xbd"));
}

TEST_CASE("unknown fields are ignored and missing ones have their defaults", "[report]") {
  const runner::RunRecord run = read_summary(with_schema(R"("run_id": "x", "news": {"tests": [{}]}, "tests": )"
                                                         R"([{"suite": "S", "name": "n", "new": 1}])"));
  CHECK(run.run_id == "x");
  CHECK(run.settings.world_size == 4);
  REQUIRE(run.tests.size() == 1);
  CHECK(run.tests[0].info.id() == "S.n");
  CHECK(run.tests[0].verdict == runner::Verdict::Pass);
  CHECK_NOTHROW(read_summary(R"({"schema": "distrun.summary/1.7"})"));
}

TEST_CASE("another schema is refused with the schema found and the one that is supported", "[report]") {
  CHECK(refusal(R"({"schema": "distrun.summary/2", "tests": 7})") ==
        "the schema is \"distrun.summary/2\", but this program reads distrun.summary/1");
  CHECK(refusal(R"({"schema": "distrun.summary/10"})") ==
        "the schema is \"distrun.summary/10\", but this program reads distrun.summary/1");
  CHECK(refusal(R"({"schema": "distrun.event/1", "seq": 1})") ==
        "the schema is \"distrun.event/1\", but this program reads distrun.summary/1");
  CHECK(refusal(R"({"schema": 1})") == "\"schema\" is 1, not a string");
  CHECK(refusal(R"({"tests": []})") == "not a summary: it has no schema");
}

TEST_CASE("invalid text is refused with its position", "[report]") {
  CHECK(refusal("") == "not valid JSON: error at byte 1 of 0");
  CHECK(refusal(R"({"schema": "distrun.summary/1", "tests": [)") == "not valid JSON: error at byte 43 of 42");
  CHECK(refusal("[]") == "not a summary: it has no schema");
  CHECK(refusal("7") == "not a summary: it has no schema");
  CHECK(refusal(with_schema(R"("tests": 7)")) == "\"tests\" is 7, not a list of objects");
  CHECK(refusal(with_schema(R"("tests": [{}, 7])")) == "\"tests\" is [7], not a list of objects");
  CHECK(refusal(with_schema(R"("tests": {"a": {}})")) == "\"tests\" is {}, not a list of objects");
  CHECK(refusal(with_schema(R"("tests": [{}, {"verdict": "great"}])")) ==
        "test 2: \"verdict\" is \"great\", not a known name");
  CHECK(refusal(with_schema(R"("tests": [{"line": -1}])")) == "test 1: \"line\" is -1, not an integer in its range");
  CHECK(refusal(with_schema(R"("duration_ms": 1e300)")) == "\"duration_ms\" is 1e+300, not a duration in its range");
  CHECK(refusal(with_schema(R"("machine": [])")) == "\"machine\" is [], not an object");
  CHECK(refusal(with_schema(R"("started": "yesterday")")) ==
        "\"started\" is \"yesterday\", not a time like 2026-01-31T12:00:00.000Z");
  for (const char* year : {"1013", "-999", "1969", "9999"}) {  // outside the range of nanoseconds
    const std::string time = std::string(year) + "-01-31T12:00:00.000Z";
    CHECK(refusal(with_schema("\"started\": \"" + time + "\"")).starts_with("\"started\" is \"" + time));
  }
}

TEST_CASE("a summary cut at any byte is refused, never half read", "[report]") {
  runner::RunRecord run = empty_run();
  add(run, failing());
  const std::string text = summary_json(run);
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) {
    if (refusal(text.substr(0, size)) == "none") FAIL("a cut summary was read at " << size);
  }
}

TEST_CASE("the selection of a run's tests is read back as it was written", "[report]") {
  runner::RunRecord run = empty_run();
  run.selected = 12;
  run.uses_backend = false;
  run.settings.rerun_failed = "old/summary.json";
  run.settings.shard = {2, 3};
  run.settings.shuffle = true;
  run.settings.until_fail = 20;
  run.settings.config = "../.distrun.toml";
  add(run, failing());
  run.tests[0].attempts[0].ranks[0].body_began = std::chrono::milliseconds(3);
  run.tests[0].attempts[0].ranks[0].body_ended = std::chrono::milliseconds(7);
  const runner::RunRecord read = read_summary(summary_json(run));
  CHECK(read.selected == 12);
  CHECK_FALSE(read.uses_backend);
  CHECK(read.uses_agent);
  CHECK(read.settings.rerun_failed == "old/summary.json");
  CHECK(read.settings.shard.index == 2);
  CHECK(read.settings.shard.count == 3);
  CHECK(read.settings.shuffle);
  CHECK(read.settings.until_fail == 20);
  CHECK(read.settings.config == "../.distrun.toml");
  const runner::RankRecord& rank = read.tests[0].attempts[0].ranks[0];
  CHECK(rank.body_began == std::chrono::milliseconds(3));
  CHECK(rank.body_ended == std::chrono::milliseconds(7));
}

TEST_CASE("settings of retries, world sizes and overrides are read as they were written", "[report]") {
  runner::RunRecord run = run_of(failing());
  run.settings.retry_on = {"fail", "crash"};
  run.settings.flaky_fails = true;
  run.settings.run_timeout = std::chrono::minutes(10);
  run.settings.stress = std::chrono::minutes(2);
  run.settings.stress_load = {"cpu", "pause"};
  run.settings.world_size = 1;
  run.settings.world_sizes = {1, 2, 4};
  runner::Override changes;
  changes.filter = "tag:slow & \"x\"";
  changes.timeout = std::chrono::minutes(5);
  changes.retries = 0;
  changes.tags = {"a", "b"};
  changes.locks = {"port 8000"};
  changes.world_size = 8;
  run.settings.overrides = {changes};
  run.settings.lock_limits = {{"database", 3}};
  const runner::Settings read = read_summary(summary_json(run)).settings;
  CHECK(read.retry_on == run.settings.retry_on);
  CHECK(read.flaky_fails);
  CHECK(read.run_timeout == run.settings.run_timeout);
  CHECK(read.stress == run.settings.stress);
  CHECK(read.stress_load == run.settings.stress_load);
  REQUIRE(read.lock_limits.size() == 1);
  CHECK(read.lock_limits[0].lock == "database");
  CHECK(read.lock_limits[0].tests == 3);
  CHECK(read.world_sizes == run.settings.world_sizes);
  REQUIRE(read.overrides.size() == 1);
  CHECK(read.overrides[0].filter == changes.filter);
  CHECK(read.overrides[0].timeout == changes.timeout);
  CHECK(read.overrides[0].retries == 0);
  CHECK(read.overrides[0].tags == changes.tags);
  CHECK(read.overrides[0].locks == changes.locks);
  CHECK(read.overrides[0].world_size == 8);
  bool found = false;
  for (const wire::KeyValue& option : setting_options(read)) {
    if (option.key == "--world-size") CHECK(option.value == "1,2,4");
    if (option.key != "--overrides") continue;
    found = true;
    CHECK(option.value ==
          "{filter = \"tag:slow & \\\"x\\\"\", timeout = \"300s\", retries = 0, world-size = 8, "
          "tags = [\"a\", \"b\"], locks = [\"port 8000\"]}");
  }
  CHECK(found);
}

TEST_CASE("notices are in the summary and at the end of the text", "[report]") {
  runner::RunRecord run = full_run();
  CHECK_FALSE(json::parse(summary_json(run)).contains("notices"));
  run.notices = {"the allocation (Slurm job 17) ends in 30 s"};
  CHECK(read_summary(summary_json(run)).notices == run.notices);
  CHECK_THAT(run_end_text(run, {}, Paint(false)),
             Catch::Contains("notice: the allocation (Slurm job 17) ends in 30 s\n"));
}
