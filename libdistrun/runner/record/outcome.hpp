#pragma once
// The outcome of a rank. A value: failures of tests are never exceptions.
#include <cstdint>
#include <string>

namespace distrun::runner {

enum class OutcomeKind : std::uint8_t {
  Running,  // not decided yet
  Passed,
  Failed,      // it reported an error that ended its body or a failed check, or exited with code 10
  Skipped,     // by a skip frame, or by an exit code of the skip table
  Exited,      // left without a result, with this exit code (0 included), or after it with a code that does not match
  Signaled,    // killed by a signal that we did not send
  TimedOut,    // a phase ran past its bound
  Lost,        // its connection broke, or it could no longer be watched
  KilledByUs,  // ended by distrun after another rank's failure
};
const char* name_of(OutcomeKind kind) noexcept;  // "passed", "killed by us"

struct Outcome {
  OutcomeKind kind = OutcomeKind::Running;
  int value = 0;     // exit code, signal or skip code
  std::string text;  // the skip reason; what was lost; how a program failed; or that it exited after its result

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Returns "passed", "killed by signal 11 (SIGSEGV)", "exited with code 0 without a result".
std::string describe(const Outcome& outcome);

enum class Verdict : std::uint8_t {
  Pass,
  Fail,
  Crash,
  Timeout,
  Deadlock,
  Skip,
  Leak,
  Flaky,
  InfraError,
  Cancelled,
};
inline constexpr int kVerdictCount = 10;
const char* name_of(Verdict verdict) noexcept;  // "pass", "infra-error"
// Returns whether it needs no alarm and no retry: pass, skip, flaky.
bool is_good(Verdict verdict) noexcept;

}  // namespace distrun::runner
