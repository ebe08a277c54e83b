#include <distrun/runner/record/outcome.hpp>

#include <distrun/common/base/text.hpp>

namespace distrun::runner {

const char* name_of(OutcomeKind kind) noexcept {
  switch (kind) {
    case OutcomeKind::Running: return "running";
    case OutcomeKind::Passed: return "passed";
    case OutcomeKind::Failed: return "failed";
    case OutcomeKind::Skipped: return "skipped";
    case OutcomeKind::Exited: return "exited";
    case OutcomeKind::Signaled: return "signaled";
    case OutcomeKind::TimedOut: return "timed out";
    case OutcomeKind::Lost: return "lost";
    case OutcomeKind::KilledByUs: return "killed by us";
  }
  return "unknown";
}

std::string describe(const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::Skipped: return "skipped: " + outcome.text;
    case OutcomeKind::Failed: return outcome.text.empty() ? name_of(outcome.kind) : outcome.text;
    case OutcomeKind::Exited:
      return "exited with code " + std::to_string(outcome.value) + " " +
             (outcome.text.empty() ? "without a result" : outcome.text);
    case OutcomeKind::Signaled:
      return "killed by signal " + std::to_string(outcome.value) + " (" + base::signal_name(outcome.value) + ")";
    case OutcomeKind::Lost: return outcome.text.empty() ? "lost" : "lost: " + outcome.text;
    case OutcomeKind::KilledByUs: return "ended by distrun";
    default: return name_of(outcome.kind);
  }
}

const char* name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Pass: return "pass";
    case Verdict::Fail: return "fail";
    case Verdict::Crash: return "crash";
    case Verdict::Timeout: return "timeout";
    case Verdict::Deadlock: return "deadlock";
    case Verdict::Skip: return "skip";
    case Verdict::Leak: return "leak";
    case Verdict::Flaky: return "flaky";
    case Verdict::InfraError: return "infra-error";
    case Verdict::Cancelled: return "cancelled";
  }
  return "unknown";
}

bool is_good(Verdict verdict) noexcept {
  return verdict == Verdict::Pass || verdict == Verdict::Skip || verdict == Verdict::Flaky;
}

}  // namespace distrun::runner
