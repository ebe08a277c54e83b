#pragma once
// The history of runs: the results of every test in every run, in one SQLite file per user (place.hpp, schema.hpp).
//
// Any number of processes may record and read concurrently. A run is recorded completely or not at all, even if its
// recorder is killed. The size is bounded after each record by removing the oldest results and runs. Lives on one
// thread. A call that waits for another process waits for at most its patience, then throws Error{Timeout}; a defect of
// the file is an Error{Failed} with the remedy. Files that it does not understand are never changed.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/history/database.hpp>
#include <distrun/runner/history/limits.hpp>
#include <distrun/runner/history/statistics.hpp>
#include <distrun/runner/plan/filter.hpp>
#include <distrun/runner/plan/ordering.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::history {

using ProjectOf = std::function<std::string(const std::string& plugin)>;

// The result of one test in one run.
struct Result {
  std::int64_t at_ms = 0;  // start of the run, since 1970
  std::string run_id;
  int position = 0;         // in its run
  std::string project;      // as recorded; empty: recorded before projects existed
  std::string plugin;       // as returned by runner::plugin_name()
  std::string test;         // Suite.name/key=value,...
  runner::Variant variant;  // without GPU driver and reasons
  runner::Verdict verdict = runner::Verdict::Pass;
  base::Nanoseconds duration{};  // of one attempt: the longest successful one, else the longest
  int attempts = 0;
  std::string message;
};

struct TestLine {
  std::string project;
  std::string plugin;
  std::string id;
  runner::Verdict verdict = runner::Verdict::Pass;  // of its newest result, whether that counts or not
  std::int64_t at_ms = 0;                           // of the same result
  Statistics statistics;
};

// Selects the results for a query.
struct Selection {
  runner::Filter filter;
  std::int64_t since_ms = INT64_MIN;
  std::optional<std::string> project{};  // empty: all projects
};

class History {
 public:
  using Access = Database::Access;
  static constexpr base::Milliseconds kPatience{200};

  // Creates a missing file when writing; when reading, it must exist. Each call waits for at most `patience`.
  History(const std::string& path, Access access, const Limits& limits = {}, base::Milliseconds patience = kPatience);
  // Creates a history that exists as long as this object.
  static History in_memory(const Limits& limits = {}) { return History(limits); }

  // Returns false, without a change, if the run is already recorded. `project` is any unique text (project.hpp).
  bool record(const runner::RunRecord& run, const std::string& project = "");
  // Records plugins of several projects: calls `project_of` with the path of each plugin.
  bool record(const runner::RunRecord& run, const ProjectOf& project_of);

  // Returns hints for all tests of a project, and for tests without a project, in one query.
  runner::Hints hints(const std::string& project = "");
  // Returns tests that fail now first, then flaky ones, then by name.
  std::vector<TestLine> tests(const Selection& selection);
  // Returns the newest results first, at most `limit`; 0: all.
  std::vector<Result> results(const Selection& selection, std::size_t limit);
  int runs();

 private:
  explicit History(const Limits& limits);

  Database database_;
  Limits limits_;
  base::Milliseconds patience_;
  bool empty_ = false;  // opened for reading, and the file is empty
};

}  // namespace distrun::history
