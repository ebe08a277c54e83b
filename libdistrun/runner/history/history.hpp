#pragma once
// The history of runs: what came of every test, run after run, in one SQLite file per user (place.hpp, schema.hpp).
//
// Any number of processes may record and read at once. A run is in the file as a whole or not at all, whenever its
// recorder is killed. What grows is bounded after each record: the oldest results and runs go.
// Lives on one thread. Whatever has to wait for another process waits for its patience at most, then throws
// Error{Timeout}; what is wrong with the file is an Error{Failed} with the way out. Nothing it does not understand is
// ever changed.
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

// What came of one test in one run.
struct Result {
  std::int64_t at_ms = 0;  // when the run began, since 1970
  std::string run_id;
  int position = 0;         // in its run
  std::string project;      // as it was recorded; empty: before there were any
  std::string plugin;       // as runner::plugin_name() says
  std::string test;         // Suite.name/key=value,...
  runner::Variant variant;  // without the GPU driver and reasons
  runner::Verdict verdict = runner::Verdict::Pass;
  base::Nanoseconds duration{};  // of one attempt: the longest good one, else the longest
  int attempts = 0;
  std::string message;
};

struct TestLine {
  std::string project;
  std::string plugin;
  std::string id;
  runner::Verdict verdict = runner::Verdict::Pass;  // of its newest result, whether that counts or not
  std::int64_t at_ms = 0;                           // of that
  Statistics statistics;
};

// Which results a question is about.
struct Selection {
  runner::Filter filter;
  std::int64_t since_ms = INT64_MIN;
  std::optional<std::string> project{};  // none: of all
};

class History {
 public:
  using Access = Database::Access;
  static constexpr base::Milliseconds kPatience{200};

  // To write, the file is made if there is none; to read, it has to be there. Each call waits for `patience` at most.
  History(const std::string& path, Access access, const Limits& limits = {}, base::Milliseconds patience = kPatience);
  // Gone with the object.
  static History in_memory(const Limits& limits = {}) { return History(limits); }

  // False: that run is in it already, and nothing has changed. `project` is any text that is the same for all runs of
  // the project and for no other (project.hpp).
  bool record(const runner::RunRecord& run, const std::string& project = "");
  // The same of plugins of several projects: `project_of` is asked for that of each, by its path.
  bool record(const runner::RunRecord& run, const ProjectOf& project_of);

  // Of all tests of a project, and of those that are of none, read at one go.
  runner::Hints hints(const std::string& project = "");
  // The most interesting first: those that fail now, then the flaky ones, then by name.
  std::vector<TestLine> tests(const Selection& selection);
  // The newest first, at most `limit`; 0: all.
  std::vector<Result> results(const Selection& selection, std::size_t limit);
  int runs();

 private:
  explicit History(const Limits& limits);

  Database database_;
  Limits limits_;
  base::Milliseconds patience_;
  bool empty_ = false;  // opened to read, and nothing is in it
};

}  // namespace distrun::history
