#include "summary.hpp"

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "scratch.hpp"

namespace distrun::testing {
namespace {

using Json = nlohmann::json;

// Reads a field that the schema promises; null leaves `value` unchanged.
template <class T>
void get(const Json& object, const char* name, T& value) {
  if (!object.contains(name)) throw std::runtime_error(std::string("no field ") + name);
  if (!object[name].is_null()) object[name].get_to(value);
}

ErrorResult read_error(const Json& json) {
  ErrorResult error;
  get(json, "type", error.type);
  get(json, "text", error.text);
  get(json, "file", error.file);
  get(json, "line", error.line);
  get(json, "crash", error.crash);
  return error;
}

SeenProcess read_process(const Json& json) {
  SeenProcess process;
  get(json, "rank", process.rank);
  for (const Json& source : json.at("sources")) {
    const auto name = source.at("name").get<std::string>();
    if (source.at("answered").get<bool>()) {
      process.answered.push_back(name);
    } else {
      process.not_answered.push_back(name + ": " + source.at("why_not").get<std::string>());
    }
  }
  for (const Json& thread : json.at("threads")) {
    ++process.threads;
    process.threads_with_stacks += thread.at("frames").empty() ? 0 : 1;
  }
  return process;
}

SnapshotResult read_snapshot(const Json& json) {
  SnapshotResult snapshot;
  get(json, "why", snapshot.why);
  for (const Json& line : json.at("text")) snapshot.text += line.get<std::string>() + "\n";
  for (const Json& process : json.at("processes")) snapshot.processes.push_back(read_process(process));
  return snapshot;
}

RankResult read_rank(const Json& json) {
  RankResult rank;
  get(json, "rank", rank.rank);
  get(json, "pid", rank.pid);
  get(json, "outcome", rank.outcome);
  get(json, "exit_code", rank.exit_code);
  get(json, "signal", rank.signal);
  get(json, "reason", rank.reason);
  get(json, "phase", rank.phase);
  get(json, "checks", rank.checks);
  get(json, "because_of", rank.because_of);
  for (const Json& error : json.at("errors")) {
    get(error, "type", rank.error_types.emplace_back());
    get(error, "text", rank.error_texts.emplace_back());
    rank.errors.push_back(read_error(error));
  }
  for (const Json& note : json.at("notes")) {
    rank.notes[note.at("key").get<std::string>()] = note.at("value").get<std::string>();
  }
  get(json, "stdout", rank.out);
  get(json, "stderr", rank.err);
  get(json, "stdout_bytes", rank.out_bytes);
  get(json, "stderr_bytes", rank.err_bytes);
  return rank;
}

LeakResult read_leak(const Json& json) {
  LeakResult leak;
  get(json, "kind", leak.kind);
  get(json, "what", leak.what);
  get(json, "removed", leak.removed);
  return leak;
}

AttemptResult read_attempt(const Json& json) {
  AttemptResult attempt;
  get(json, "n", attempt.n);
  get(json, "kind", attempt.kind);
  get(json, "verdict", attempt.verdict);
  get(json, "message", attempt.message);
  get(json, "phase", attempt.phase);
  get(json, "culprits", attempt.culprits);
  get(json, "infra_error", attempt.infra_error);
  if (json.contains("hang_causes")) {
    get(json.at("hang_causes").at(0), "kind", attempt.hang);
    get(json.at("hang_causes").at(0), "ranks", attempt.hang_ranks);
  }
  get(json, "duration_ms", attempt.duration_ms);
  for (const Json& snapshot : json.at("snapshots")) attempt.snapshots.push_back(read_snapshot(snapshot));
  for (const Json& leak : json.at("leaks")) attempt.leaks.push_back(read_leak(leak));
  for (const Json& rank : json.at("ranks")) attempt.ranks.push_back(read_rank(rank));
  return attempt;
}

TestResult read_test(const Json& json) {
  TestResult test;
  get(json, "id", test.id);
  get(json, "verdict", test.verdict);
  get(json, "message", test.message);
  get(json, "duration_ms", test.duration_ms);
  get(json.at("variant"), "isolation", test.isolation);
  get(json.at("variant"), "isolation_reason", test.isolation_reason);
  for (const Json& attempt : json.at("attempts")) test.attempts.push_back(read_attempt(attempt));
  return test;
}

Summary read(const Json& json) {
  Summary summary;
  get(json, "schema", summary.schema);
  get(json, "run_id", summary.run_id);
  get(json, "exit_code", summary.exit_code);
  get(json, "interrupted", summary.interrupted);
  get(json.at("settings"), "seed", summary.seed);
  get(json, "totals", summary.totals);
  for (const Json& problem : json.at("problems")) {
    ProblemResult& result = summary.problems.emplace_back();
    get(problem, "plugin", result.plugin);
    get(problem, "phase", result.phase);
    get(problem, "text", result.text);
  }
  if (json.contains("appeared")) get(json, "appeared", summary.appeared);
  for (const Json& test : json.at("tests")) summary.tests.push_back(read_test(test));
  return summary;
}

}  // namespace

const SeenProcess* SnapshotResult::find(int rank) const {
  for (const SeenProcess& process : processes) {
    if (process.rank == rank) return &process;
  }
  return nullptr;
}

const TestResult* Summary::find(const std::string& id) const {
  for (const TestResult& test : tests) {
    if (test.id == id) return &test;
  }
  return nullptr;
}

Summary read_summary(const std::string& path) {
  if (!exists(path)) throw std::runtime_error("there is no " + path);
  try {
    return read(Json::parse(read_file(path)));
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

std::string wrong_with_events(const std::string& path) {
  std::istringstream in(read_file(path));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string wrong = wrong_with_json(line);
    if (!wrong.empty()) return "line " + std::to_string(number) + ": " + wrong;
  }
  return number == 0 ? "no events" : "";
}

std::string wrong_with_json(const std::string& text) {
  try {
    const Json parsed = Json::parse(text);
    return parsed.is_null() ? "null" : "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace distrun::testing
