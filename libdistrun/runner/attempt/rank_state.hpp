#pragma once
// One rank while its attempt goes on: its record, and what is needed to come to its outcome.
#include <optional>

#include <distrun/runner/proc/exit_status.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct RankState {
  RankRecord record;
  base::TimePoint deadline = base::TimePoint::max();  // of its current phase
  base::TimePoint lost_at = base::TimePoint::max();   // when a broken connection makes it a lost rank
  base::Nanoseconds cpu_wait{};  // when it was last read: how long its process has waited for a CPU
  base::Nanoseconds extended{};  // by how much the deadline was moved because ranks waited for a CPU
  bool started = false;
  bool ended = false;
  bool done = false;  // sent its result
  bool done_passed = false;
  std::optional<wire::Phase> first_error_in;
  std::optional<std::size_t> stray_error;  // of a process that it has forked, which did what only a rank may
  bool settled = false;                    // and waits for its next test
  bool used_up = false;                    // its process is no longer fit for another
  bool ran_others = false;                 // its process has run other tests before
  bool shares_process = false;             // with the other ranks: what a code of its end means is nobody's
  bool signaled_by_us = false;
  bool is_held = false;  // its failure is decided once the deaths that it may follow from are told
  std::optional<wire::SkipReport> skip;

  bool alive() const noexcept { return started && !ended; }
  bool decided() const noexcept { return is_held || record.decided != 0; }
  bool has_fatal_error() const noexcept;
};

// The outcome of a rank that has told its result and lives on.
Outcome outcome_at_done(const RankState& rank);

// Whether the rank has told a good result and has run other tests before: how it ends then is no single test's.
bool ends_for_all(const RankState& rank);

// The outcome of a rank that has ended: what it reported, what we did to it, and its exit status, in
// that order. An outcome that was decided before (a timeout, a lost connection) stays.
Outcome outcome_at_end(const RankState& rank, proc::ExitStatus status);

// The same of a rank that is somebody's program: its exit code is its result.
Outcome outcome_of_program(const RankState& rank, proc::ExitStatus status);

// The same where the test declares deaths. A declared exit code of a rank that told no result is that death, though it
// stands for an error or a skip elsewhere. What a check of the rank has found before stays a failure.
Outcome outcome_at_end(const RankState& rank, proc::ExitStatus status, const std::vector<wire::MayDie>& may_die);

// Whether the test declared this death.
bool is_declared(const std::vector<wire::MayDie>& may_die, int rank, const Outcome& outcome);

// A bad outcome of its own: failed, died, lost or timed out.
bool is_failure(const Outcome& outcome) noexcept;

}  // namespace distrun::runner
