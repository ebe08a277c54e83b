// Traces of runs: each attempt has a file with its ranks' actions, however they ended.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using nlohmann::json;

std::vector<std::string> traced(const Sandbox& sandbox, const std::string& test, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"run",         "--trace",        sandbox.output() + "/traces",
                                     "--output",    sandbox.output(), "--timeout",
                                     "1s",          "--filter",       "Traced." + test,
                                     DISTRUN_TRACED};
  arguments.insert(arguments.end() - 1, more.begin(), more.end());
  return arguments;
}

json trace_of(const Sandbox& sandbox, const std::string& name) {
  return json::parse(read_file(sandbox.output() + "/traces/" + name));
}

std::vector<json> events_of(const json& trace, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

// Returns the slices of a rank with that name.
std::vector<json> slices(const json& trace, int rank, const std::string& name) {
  json process;
  for (const json& event : events_of(trace, "M")) {
    if (event["name"] != "process_name") continue;  // threads of ranks that share a process have names, too
    const std::string process_name = event["args"]["name"];
    const std::string wanted = "rank " + std::to_string(rank);
    if (process_name == wanted || process_name.starts_with(wanted + " on ")) process = event["pid"];
  }
  std::vector<json> found;
  for (const json& event : events_of(trace, "X")) {
    if (event["pid"] == process && event["name"] == name) found.push_back(event);
  }
  return found;
}

bool is_within(const json& event, const json& slice) {
  return event["pid"] == slice["pid"] && event["tid"] == slice["tid"] && event["ts"] >= slice["ts"] &&
         event["ts"].get<double>() < slice["ts"].get<double>() + slice["dur"].get<double>();
}

// Returns the stops of the arrows that begin in a slice: the slice, the handler, and the point where the answer is
// used.
std::vector<json> way_of(const json& trace, const json& call) {
  std::vector<json> way;
  for (const char* phase : {"s", "t", "f"}) {
    for (const json& event : events_of(trace, phase)) {
      const bool belongs = way.empty() ? is_within(event, call) : event["id"] == way.front()["id"];
      if (belongs && (!way.empty() || event["ph"] == "s")) way.push_back(event);
    }
  }
  return way;
}

double end_of(const json& slice) { return slice["ts"].get<double>() + slice["dur"].get<double>(); }
bool is_open(const json& slice) { return slice.contains("args") && slice["args"].value("open", false); }

}  // namespace

TEST_CASE("a trace shows calls with arrows to their handlers and back, in every isolation", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const std::string isolation = GENERATE("process", "exec", "pool", "threads");
  std::vector<std::string> more{"--isolation", isolation};
  if (isolation == "threads") more.insert(more.end(), {"--agent", "inproc"});
  const Ended ended = sandbox.run(traced(sandbox, "calls", more));
  INFO(isolation << ": " << ended.out << ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("/traces/*.json (traces, for ui.perfetto.dev)"));
  const json trace = trace_of(sandbox, "Traced.calls.json");
  std::set<json> processes;
  for (const json& event : trace["traceEvents"]) processes.insert(event["pid"]);
  CHECK(processes.size() == 2);
  CHECK(slices(trace, 0, "calls \"doubled\" of rank 1").size() == 2);
  CHECK(slices(trace, 0, "reply of \"doubled\" from rank 1").size() == 2);
  CHECK(slices(trace, 1, "handler \"doubled\" of rank 0").size() == 2);
  // None if rank 0 was the last to arrive.
  CHECK(slices(trace, 0, "waits in barrier \"all have called\" for rank 1").size() <= 1);
  for (const json& call : slices(trace, 0, "calls \"doubled\" of rank 1")) {
    const std::vector<json> way = way_of(trace, call);
    REQUIRE(way.size() == 3);
    CHECK(way[0]["pid"] == way[2]["pid"]);
    CHECK(way[0]["pid"] != way[1]["pid"]);
    CHECK(way[0]["ts"] < way[1]["ts"]);
    CHECK(way[1]["ts"] < way[2]["ts"]);
  }
  for (const json& event : events_of(trace, "X")) CHECK_FALSE(is_open(event));
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"), Contains("/traces/Traced.calls.json\""));
  CHECK(wrong_with_events(sandbox.output() + "/events.ndjson") == "");
  CHECK(sandbox.remains().empty());
}

TEST_CASE("the ranks of several hosts have one trace, with arrows from host to host", "[trace][hosts]") {
  constexpr double kOneClock = 100'000;  // microseconds: more than the error on a busy machine
  const Sandbox sandbox(distrun_program());
  const std::string isolation = GENERATE("process", "exec", "pool");
  const Ended ended = sandbox.run(traced(
      sandbox, "calls",
      {"--isolation", isolation, "--hosts", "a,b", "--launcher", "local", "--repeat", "2", "--timeout-scale", "20"}));
  INFO(isolation << ": " << ended.out << ended.err);
  REQUIRE(ended.exit_code == 0);
  for (const char* name : {"Traced.calls.json", "Traced.calls.attempt2.json"}) {
    const json trace = trace_of(sandbox, name);
    const std::vector<json> calls = slices(trace, 0, "calls \"doubled\" of rank 1");
    CHECK(calls.size() == 2);
    CHECK(slices(trace, 1, "handler \"doubled\" of rank 0").size() == 2);
    for (const json& call : calls) {
      const std::vector<json> way = way_of(trace, call);
      REQUIRE(way.size() == 3);
      CHECK(way[0]["pid"] != way[1]["pid"]);
      CHECK(way[1]["ts"].get<double>() > call["ts"].get<double>() - kOneClock);
      CHECK(way[1]["ts"].get<double>() < way[2]["ts"].get<double>() + kOneClock);
    }
    CHECK(trace["otherData"].contains("error of the times of rank 1"));
    CHECK_FALSE(trace["otherData"].contains("no records of rank 1"));
  }
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a trace shows operators, collectives, and the work of streams on separate tracks", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(traced(sandbox, "computes", {"--gpu-driver", "virtual", "--gpus", "1"}));
  INFO(ended.out << ended.err);
  REQUIRE(ended.exit_code == 0);
  const json trace = trace_of(sandbox, "Traced.computes.json");
  std::map<std::string, int> categories;
  std::set<json> tracks;
  for (const json& event : events_of(trace, "X")) {
    ++categories[event["cat"]];
    if (event["cat"] == "stream") tracks.insert(json::array({event["pid"], event["tid"]}));
  }
  CHECK(categories["operator"] >= 2);
  CHECK(categories["collective"] >= 2);
  CHECK(categories["stream"] >= 2);
  CHECK(tracks.size() == 2);
  for (const int rank : {0, 1}) {
    CHECK(slices(trace, rank, "add").size() >= 1);
    CHECK(slices(trace, rank, "all_reduce").size() == 1);
    REQUIRE(slices(trace, rank, "forward").size() == 1);
    CHECK(end_of(slices(trace, rank, "forward").front()) > end_of(slices(trace, rank, "all_reduce").front()));
  }
}

TEST_CASE("the trace of a rank that hangs shows its wait, up to the end", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(traced(sandbox, "hangs"));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const json trace = trace_of(sandbox, "Traced.hangs.json");
  CHECK(trace["otherData"]["verdict"] == "timeout");
  const std::vector<json> waits = slices(trace, 0, "waits in receive \"word\" for rank 1");
  REQUIRE(waits.size() == 1);
  CHECK(is_open(waits.front()));
  const std::vector<json> body = slices(trace, 0, "body");
  REQUIRE(body.size() == 1);
  CHECK(is_open(body.front()));
  CHECK(end_of(waits.front()) == Approx(end_of(body.front())));
  CHECK(waits.front()["dur"].get<double>() > 500'000);
  for (const json& wait : slices(trace, 0, "waits in barrier \"both begin\" for rank 1")) CHECK_FALSE(is_open(wait));
}

TEST_CASE("a rank that is killed leaves its part of the trace, in each attempt", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(traced(sandbox, "is_killed", {"--retries", "1"}));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  for (const char* name : {"Traced.is_killed.json", "Traced.is_killed.attempt2.json"}) {
    const json trace = trace_of(sandbox, name);
    std::vector<std::string> outcomes;
    for (const json& event : events_of(trace, "i")) outcomes.push_back(event["name"]);
    CHECK_THAT(outcomes, Catch::VectorContains(std::string("killed by signal 9 (SIGKILL)")));
    CHECK(slices(trace, 1, "body").size() == 1);
    CHECK(is_open(slices(trace, 1, "body").at(0)));
    CHECK(slices(trace, 1, "waits in receive \"nothing\" for rank 0").size() == 1);
  }
}

TEST_CASE("unusual names are in a trace as text", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(traced(sandbox, "has_odd_names"));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const json trace = trace_of(sandbox, "Traced.has_odd_names.json");
  std::string names;
  for (const json& event : events_of(trace, "X")) {
    if (event["cat"] == "wait") names += event["name"].get<std::string>();
  }
  CHECK_THAT(names, Contains("waits in barrier \"a \"quoted\"") && Contains("\\x01"));
}

TEST_CASE("a rank that is not traced has no trace memory", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--filter", "Traced.is_not_traced", DISTRUN_TRACED});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.run(traced(sandbox, "is_not_traced")).exit_code == 1);  // the test checks that
}

TEST_CASE("a run in the daemon writes traces in its client's directory", "[trace]") {
  const Daemon daemon(daemon_program());
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      daemon
          .start(sandbox, {"run", "--daemon", "--trace", "traces", "--filter", "Traced.has_odd_names", DISTRUN_TRACED})
          .wait(scaled(milliseconds(30'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(names_in(sandbox.start_directory() + "/traces").size() == 1);
}

TEST_CASE("an untraceable run is refused, or reported, and changes no verdict", "[trace]") {
  const Sandbox sandbox(distrun_program());
  const Ended program = sandbox.run({"exec", "--trace", "traces", "--", "/bin/true"});
  CHECK(program.exit_code == kUsage);
  CHECK_THAT(program.err, Contains("--trace works only with plugins"));
  const Ended few = sandbox.run({"run", "--trace-records", "1", DISTRUN_TRACED});
  CHECK(few.exit_code == kUsage);
  write_file(sandbox.output() + "/file", "x");
  const Ended no_directory = sandbox.run({"run", "--trace", sandbox.output() + "/file/traces", DISTRUN_TRACED});
  CHECK(no_directory.exit_code == kUsage);
  CHECK_THAT(no_directory.err, Contains("--trace") && Contains("cannot create the directory"));
  const Ended unwritable = sandbox.run({"run", "--trace", "/proc", "--json", sandbox.output() + "/summary.json",
                                        "--filter", "Traced.has_odd_names", DISTRUN_TRACED});
  INFO(unwritable.out << unwritable.err);
  CHECK_THAT(unwritable.out, Contains("no trace: cannot write /proc/Traced.has_odd_names.json"));
  CHECK(sandbox.summary().find("Traced.has_odd_names")->verdict == "pass");
}
