#include <distrun/runner/history/history.hpp>

#include <distrun/runner/history/place.hpp>
#include <distrun/runner/history/recorder.hpp>
#include <distrun/runner/history/schema.hpp>

namespace distrun::history {
namespace {

const std::string& made(const std::string& path, Database::Access access) {
  access == Database::Access::Write ? make_place(path) : check_place(path);
  return path;
}

}  // namespace

History::History(const std::string& path, Access access, const Limits& limits, base::Milliseconds patience)
    : database_(made(path, access), access, patience), limits_(limits), patience_(patience) {
  const Journal journal = is_shared_by_hosts(path) ? Journal::Rollback : Journal::Log;
  if (access == Access::Write) {
    prepare(database_, journal);
    return;
  }
  const State found = check(database_);
  empty_ = found == State::Empty;
  if (found != State::Old) return;
  Database writer(path, Access::Write, patience);
  prepare(writer, journal);
}

History::History(const Limits& limits) : database_(Database::in_memory()), limits_(limits), patience_(kPatience) {
  prepare(database_, Journal::Rollback);
}

bool History::record(const runner::RunRecord& run, const std::string& project) {
  return record(run, [&](const std::string&) { return project; });
}

bool History::record(const runner::RunRecord& run, const ProjectOf& project_of) {
  database_.be_patient(patience_);
  {
    Transaction transaction(database_, Access::Write);
    Recorder recorder(database_, limits_.results_per_test);
    if (!recorder.record(run, project_of)) return false;
    keep_limits(database_, limits_);
    transaction.commit();
  }
  give_back_space(database_, limits_);
  database_.shorten_log();
  return true;
}

}  // namespace distrun::history
