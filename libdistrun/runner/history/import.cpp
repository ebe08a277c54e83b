#include <distrun/runner/history/import.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/read_summary.hpp>

namespace distrun::history {
namespace {

constexpr std::size_t kRunIdMax = 64;
constexpr std::size_t kTestIdMax = std::size_t{16} * 1024;
// Clocks of machines may differ by up to this.
constexpr std::int64_t kAheadMaxNs = std::int64_t{24} * 3600 * 1'000'000'000;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::InvalidArgument, what); }

void check_run(const runner::RunRecord& run, const base::Clock& clock) {
  if (run.run_id.empty()) refuse("the run has no id");
  if (run.run_id.size() > kRunIdMax || base::one_line(run.run_id) != run.run_id) {
    refuse("the run's id is " + base::one_line(run.run_id, 80) + ", which is not a word of at most " +
           std::to_string(kRunIdMax) + " characters");
  }
  if (run.started_wall_ns <= 0) refuse("the summary has no start time of the run");
  if (run.started_wall_ns > clock.wall_ns() + kAheadMaxNs) {
    refuse("the run began at " + base::iso8601(run.started_wall_ns) + ", which is in the future");
  }
  if (run.tests.empty()) refuse("no test ran");
}

// The id must be one that a plugin may use, and must split into its parts again.
void check_test(const runner::TestRecord& test, std::size_t number) {
  const std::string which = "test " + std::to_string(number);
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (test.info.suite.empty() || test.info.name.empty()) refuse(which + " has an empty suite or name");
#endif
  if (test.info.suite.find_first_of("./") != std::string::npos) {
    refuse(which + ": its suite is " + base::one_line(test.info.suite, 80) + ", which contains '.' or '/'");
  }
  if (const std::size_t size = test.info.id().size(); size > kTestIdMax) {
    refuse(which + ": its id has " + std::to_string(size) + " bytes, the limit is " + std::to_string(kTestIdMax));
  }
}

}  // namespace

Imported import_summary(History& history, std::string_view json, const base::Clock& clock, const std::string& project) {
  const runner::RunRecord run = report::read_summary(json);
  check_run(run, clock);
  for (std::size_t i = 0; i < run.tests.size(); ++i) check_test(run.tests[i], i + 1);
  return {run.run_id, static_cast<int>(run.tests.size()), history.record(run, project)};
}

}  // namespace distrun::history
