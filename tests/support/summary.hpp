#pragma once
// A run's summary.json as plain values.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace distrun::testing {

struct ErrorResult {
  std::string type;
  std::string text;
  std::string file;
  int line = 0;
  bool crash = false;
};

struct RankResult {
  int rank = -1;
  int pid = 0;
  std::string outcome;
  int exit_code = -1;
  int signal = 0;
  std::string reason;
  std::string phase;
  std::int64_t checks = 0;
  int because_of = -1;
  std::vector<std::string> error_types;
  std::vector<std::string> error_texts;
  std::vector<ErrorResult> errors;
  std::map<std::string, std::string> notes;
  std::string out;
  std::string err;
  std::int64_t out_bytes = 0;  // bytes written by the rank, kept or not
  std::int64_t err_bytes = 0;
};

struct LeakResult {
  std::string kind;
  std::string what;
  bool removed = false;
};

// One process in a snapshot.
struct SeenProcess {
  int rank = -1;
  std::vector<std::string> answered;      // names of sources
  std::vector<std::string> not_answered;  // "probe: reason"
  int threads = 0;
  int threads_with_stacks = 0;
};

struct SnapshotResult {
  std::string why;
  std::string text;  // all its lines
  std::vector<SeenProcess> processes;

  const SeenProcess* find(int rank) const;
};

struct AttemptResult {
  int n = 0;
  std::string kind;
  std::string verdict;
  std::string message;
  std::string phase;
  std::vector<int> culprits;
  std::string hang;               // the kind of the first cause of a hang; empty: none is told
  std::vector<int> hang_ranks{};  // to blame for it
  std::vector<LeakResult> leaks;
  std::vector<SnapshotResult> snapshots;
  std::string infra_error;
  std::int64_t duration_ms = -1;  // -1: not in the summary
  std::vector<RankResult> ranks;
};

struct TestResult {
  std::string id;
  std::string verdict;
  std::string message;
  std::int64_t duration_ms = 0;
  std::string isolation;
  std::string isolation_reason;
  std::vector<AttemptResult> attempts;
};

struct ProblemResult {
  std::string plugin;
  std::string phase;
  std::string text;
};

struct Summary {
  std::string schema;
  std::string run_id;
  int exit_code = -1;
  bool interrupted = false;
  std::uint64_t seed = 0;
  std::map<std::string, int> totals;
  std::vector<ProblemResult> problems;
  std::vector<std::string> appeared;
  std::vector<TestResult> tests;

  // Returns null if there is no test with this id.
  const TestResult* find(const std::string& id) const;
};

// Throws std::runtime_error with the cause: no file, not JSON, invalid UTF-8, a missing field.
Summary read_summary(const std::string& path);
// Returns the error in a file of JSON lines; empty if it is valid. A file without lines is an error.
std::string wrong_with_events(const std::string& path);
// The same for one JSON text.
std::string wrong_with_json(const std::string& text);

}  // namespace distrun::testing
