#pragma once
// The state of a rank during its attempt: its record, and what is needed to determine its outcome.
#include <optional>

#include <distrun/runner/proc/exit_status.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct RankState {
  RankRecord record;
  base::TimePoint deadline = base::TimePoint::max();  // of the current phase
  base::TimePoint lost_at = base::TimePoint::max();   // when a broken connection makes the rank lost
  base::Nanoseconds cpu_wait{};                       // how long its process has waited for a CPU, at the last reading
  base::Nanoseconds extended{};  // by how much the deadline was moved because ranks waited for a CPU
  bool started = false;
  bool ended = false;
  bool done = false;  // has sent its result
  bool done_passed = false;
  std::optional<wire::Phase> first_error_in;
  std::optional<std::size_t> stray_error;  // index of the error about a forked child that acted as the rank
  bool settled = false;                    // waits for its next test
  bool used_up = false;                    // its process is not fit for another test
  bool ran_others = false;                 // its process has run earlier tests
  bool shares_process = false;             // with the other ranks: the exit code belongs to no single rank
  bool signaled_by_us = false;
  bool is_held = false;  // its failure is decided once the deaths that may have caused it are reported
  std::optional<wire::SkipReport> skip;
  std::size_t kept_bytes = 0;  // of its notes and measured values

  bool alive() const noexcept { return started && !ended; }
  bool decided() const noexcept { return is_held || record.decided != 0; }
  bool has_fatal_error() const noexcept;
};

// Returns the outcome of a rank that has reported its result and lives on.
Outcome outcome_at_done(const RankState& rank);

// Returns whether the rank has reported a good result and ran earlier tests: how it ends then is not this test's doing.
bool ends_for_all(const RankState& rank);
// Notes such an end, which is bad. Returns the outcome that the rank's test keeps; the lane that gives the rank its
// tests reports the end.
Outcome end_for_all(RankState& rank, const Outcome& bad_end);

// Returns the outcome of a rank that has ended, from its report, from what we did to it, and from its exit status, in
// that order. An outcome decided before (a timeout, a lost connection) stands.
Outcome outcome_at_end(const RankState& rank, proc::ExitStatus status);

// The same for a rank that is a user's program: its exit code is its result.
Outcome outcome_of_program(const RankState& rank, proc::ExitStatus status);

// The same where the test declares deaths. A declared exit code of a rank without a result is that death, even if the
// code elsewhere means an error or a skip. Errors that the rank's checks found before still make it fail.
Outcome outcome_at_end(const RankState& rank, proc::ExitStatus status, const std::vector<wire::MayDie>& may_die);

// Returns whether the test declared this death.
bool is_declared(const std::vector<wire::MayDie>& may_die, int rank, const Outcome& outcome);

// Returns whether the outcome is bad in itself: failed, died, lost or timed out.
bool is_failure(const Outcome& outcome) noexcept;

}  // namespace distrun::runner
