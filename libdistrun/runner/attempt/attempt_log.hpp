#pragma once
// Writes the record of an attempt while it runs, and reports each entry as an event of the run. What ranks send is kept
// up to a limit. Lives on: the coordinator's loop.
#include <vector>

#include <distrun/runner/attempt/clocks.hpp>
#include <distrun/runner/attempt/rank_state.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

class AttemptLog {
 public:
  // `n` counts the attempts of the test. All arguments must outlive this; `ranks` and `clocks` are the attempt's.
  AttemptLog(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind, std::vector<RankState>& ranks,
             Clocks& clocks);

  // The record without its ranks, which are in their states until the attempt ends.
  AttemptRecord& record() noexcept { return record_; }
  const AttemptRecord& record() const noexcept { return record_; }
  base::TimePoint started() const noexcept { return started_; }
  // Returns the age of the attempt without pauses.
  Nanoseconds age() const { return clocks_.now() - started_ - clocks_.stood(); }

  void tell_start();
  void add_start(RankState& rank, int pid);
  // The rank enters a phase, and the bound of that phase begins.
  void enter_phase(RankState& rank, wire::Phase phase);
  void add_error(int rank, RankError error);
  // Returns null if the rank has no such error.
  RankError* find_error(int rank, std::size_t index);
  void add_note(int rank, wire::KeyValue note);
  void add_measure(int rank, wire::Measure measure);
  void add_leak(int rank, const wire::LeakReport& leak);
  void add_snapshot(Snapshot snapshot);
  // Reports, in a line that the record does not keep, why the attempt seems to hang.
  void tell_suspicion(const HangCause& cause);
  // Reports the end of a rank. Its record is complete.
  void tell_end(const RankState& rank);

 private:
  void note_waits(const Snapshot& snapshot);
  RankState& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  const RunContext& run_;
  const PlannedTest& test_;
  std::vector<RankState>& ranks_;
  Clocks& clocks_;
  const base::TimePoint started_;
  AttemptRecord record_;
};

}  // namespace distrun::runner
