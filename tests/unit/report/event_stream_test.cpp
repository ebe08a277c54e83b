#include <catch2/catch.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/event_stream.hpp>

#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using nlohmann::json;

namespace {

// Returns the event stream of `run`.
std::string streamed(const runner::RunRecord& run) {
  const Scratch scratch;
  const StillClock clock;
  EventStream stream(scratch.path("events"), clock);
  replay(run, stream);
  REQUIRE(stream.error().empty());
  return content_of(scratch.path("events"));
}

std::vector<json> events_of(const runner::RunRecord& run) {
  std::vector<json> events;
  for (const std::string& line : base::split_lines(streamed(run))) {
    events.push_back(json::parse(line));
  }
  return events;
}

json first_of(const std::vector<json>& events, const std::string& kind, int rank = -1) {
  for (const json& event : events) {
    if (event["kind"] == kind && (rank < 0 || event["rank"] == rank)) return event;
  }
  FAIL("no event " << kind);
  return {};
}

}  // namespace

TEST_CASE("every line of the event stream has its kind, time and run", "[report]") {
  std::uint64_t seq = 0;
  for (const json& event : events_of(full_run())) {
    CHECK(event["schema"] == "distrun.event/1");
    CHECK(event["seq"] == ++seq);
    CHECK(event["t_mono_ns"] == 1'000'000'000'000);
    CHECK(event["t_wall"] == "2027-01-15T08:00:00.000Z");
    CHECK(event["run_id"] == "3f9c0a1b");
  }
}

TEST_CASE("the events of a failing test are in chronological order", "[report]") {
  std::string kinds;
  for (const json& event : events_of(run_of(failing()))) {
    kinds += event["kind"].get<std::string>() + " ";
  }
  CHECK(kinds ==
        "run_start test_start attempt_start rank_start phase rank_end rank_start phase rank_end "
        "rank_start phase error rank_end rank_start phase rank_end attempt_end test_end run_end ");
}

TEST_CASE("run_start has machine, settings and the number of tests", "[report]") {
  const json event = first_of(events_of(full_run()), "run_start");
  CHECK(event["machine"]["hostname"] == "node1");
  CHECK(event["settings"]["seed"] == 17);
  CHECK(event["settings"]["timeout_ms"] == 300'000);
  CHECK(event["tests"] == full_run().tests.size());
}

TEST_CASE("a problem has its plugin, phase and text", "[report]") {
  const json event = first_of(events_of(full_run()), "problem");
  CHECK(event["plugin"] == "build/plugins/torn.so");
  CHECK(event["phase"] == "list");
  CHECK(event["text"] == "cannot load it:\nundefined symbol: f");
}

TEST_CASE("test_start and attempt_start have the test and its settings", "[report]") {
  const std::vector<json> events = events_of(run_of(passing()));
  const json test = first_of(events, "test_start");
  CHECK(test["test"] == "Ring.broadcast/root=3,dtype=f32");
  CHECK(test["parameters"] == json{{"root", "3"}, {"dtype", "f32"}});
  CHECK(test["variant"]["backend"] == "shm");
  CHECK(test["index"] == 0);
  CHECK(test["count"] == 1);
  const json attempt = first_of(events, "attempt_start");
  CHECK(attempt["attempt"] == 1);
  CHECK(attempt["attempt_kind"] == "first");
  CHECK(attempt["world_size"] == 4);
}

TEST_CASE("events of a rank have test, attempt and rank", "[report]") {
  const std::vector<json> events = events_of(run_of(failing()));
  for (const char* kind : {"rank_start", "phase", "error", "rank_end"}) {
    const json event = first_of(events, kind, 2);
    CHECK(event["test"] == "Ring.gather");
    CHECK(event["attempt"] == 1);
  }
  CHECK(first_of(events, "rank_start", 2)["pid"] == 4002);
  CHECK(first_of(events, "phase", 2)["phase"] == "body");
  const json error = first_of(events, "error", 2);
  CHECK(error["type"] == "CheckFailed");
  CHECK(error["text"] == "sum == 6\nleft: 5, right: 6");
  CHECK(error["line"] == 41);
  CHECK(error["ends_body"] == true);
  CHECK(error["because_of"].is_null());
  CHECK(error["at_ms"] == 3);
}

TEST_CASE("rank_end distinguishes exit code, signal and skip code", "[report]") {
  const std::vector<json> failed = events_of(run_of(failing()));
  CHECK(first_of(failed, "rank_end", 2)["outcome"] == "failed");
  CHECK(first_of(failed, "rank_end", 2)["exit_code"] == 10);
  CHECK(first_of(failed, "rank_end", 2)["signal"].is_null());
  CHECK(first_of(failed, "rank_end", 0)["outcome"] == "killed by us");
  CHECK(first_of(failed, "rank_end", 0)["because_of"] == 2);
  CHECK(first_of(failed, "rank_end", 0)["duration_ms"] == 11.25);
  const json crashed = first_of(events_of(run_of(crashing())), "rank_end", 1);
  CHECK(crashed["outcome"] == "signaled");
  CHECK(crashed["signal"] == 11);
  CHECK(crashed["exit_code"].is_null());
  CHECK(crashed["skip_code"].is_null());
}

TEST_CASE("attempt_end, test_end and run_end have verdict, cause and totals", "[report]") {
  const std::vector<json> events = events_of(run_of(leaking()));
  const json attempt = first_of(events, "attempt_end");
  CHECK(attempt["verdict"] == "leak");
  CHECK(attempt["leaks"][1] == json{{"kind", "shared memory"}, {"what", "/dev/shm/ring"}, {"removed", false}});
  const json test = first_of(events, "test_end");
  CHECK(test["verdict"] == "leak");
  CHECK(test["duration_ms"] == 12.345);
  const json run = first_of(events, "run_end");
  CHECK(run["totals"]["leak"] == 1);
  CHECK(run["totals"]["infra-error"] == 0);
  CHECK(run["exit_code"] == 1);
  CHECK(run["interrupted"] == false);
}

TEST_CASE("the reason of a skip is the message of its test_end", "[report]") {
  const json event = first_of(events_of(run_of(skipped())), "test_end");
  CHECK(event["verdict"] == "skip");
  CHECK(event["message"] == "needs 2 GPUs, 0 are there");
  CHECK(event["attempts"] == 0);
}

TEST_CASE("an event stream cut at any byte is whole lines before the cut", "[report]") {
  const std::vector<std::string> lines = base::split_lines(streamed(run_of(hostile())));
  CHECK(lines.size() == 13);
  for (const std::string& line : lines) {
    CHECK(json::accept(line));
    // The beginning of a line must not be valid JSON.
    for (std::size_t cut = 1; cut < line.size(); ++cut) {
      if (json::accept(line.substr(0, cut))) FAIL("half a line reads as one: " << line);
    }
  }
}

TEST_CASE("invalid bytes, escapes and control characters stay inside their strings", "[report]") {
  const std::string bytes = streamed(run_of(hostile()));
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') FAIL("a control character got through");
  }
  CHECK(bytes == base::valid_utf8(bytes));
  CHECK(bytes.find('\x7f') == std::string::npos);
}

TEST_CASE("a stream onto a full device loses lines, says so and throws nothing", "[report]") {
  const StillClock clock;
  EventStream stream("/dev/full", clock);
  replay(full_run(), stream);
  CHECK(stream.error() ==
        "cannot write /dev/full: No space left on device (ENOSPC); free some space, or use another path");
}
