#include <distrun/runner/attempt/rank_state.hpp>

#include <algorithm>

#include <distrun/common/wire/skip_table.hpp>

namespace distrun::runner {
namespace {

// Returns the outcome of a rank that left without reporting a result.
Outcome from_exit_code(int code) {
  if (code == wire::kTestErrorExitCode) return {OutcomeKind::Failed, code, ""};
  if (const auto skip = wire::find_skip(code)) return {OutcomeKind::Skipped, code, std::string(skip->message)};
  if (code < 0) return {OutcomeKind::Lost, 0, "its exit status was collected by other code"};
  return {OutcomeKind::Exited, code, ""};
}

bool has_skipped(const RankState& rank) { return rank.skip && rank.record.errors.empty(); }

// Returns the exit code that a rank should have after its result. (A process shared by ranks ends with 0.)
int owed_code(const RankState& rank) {
  if (rank.shares_process || rank.done_passed) return 0;
  return has_skipped(rank) ? wire::find_skip("generic")->exit_code : wire::kTestErrorExitCode;
}

// Returns the outcome of a rank that reported its result and then ended with `code`.
Outcome from_result(const RankState& rank, int code) {
  if (rank.has_fatal_error()) return {OutcomeKind::Failed, code, ""};
  if (!has_skipped(rank) && (!rank.done_passed || !rank.record.errors.empty())) return {OutcomeKind::Failed, code, ""};
  if (rank.done && code != owed_code(rank)) return {OutcomeKind::Exited, code, "after reporting its result"};
  if (has_skipped(rank)) return {OutcomeKind::Skipped, rank.skip->code, rank.skip->reason};
  return {OutcomeKind::Passed, 0, ""};
}

// The same for a rank without an exit code, or without one yet.
Outcome from_result_alone(const RankState& rank) {
  Outcome outcome = from_result(rank, owed_code(rank));
  if (outcome.kind == OutcomeKind::Failed) outcome.value = 0;
  return outcome;
}

// If the rank reported nothing, its exit code is taken literally.
Outcome death_at_end(const RankState& rank, proc::ExitStatus status) {
  const bool told = rank.done || rank.skip || rank.has_fatal_error() || is_failure(rank.record.outcome);
  if (told || rank.signaled_by_us || !status.exited() || status.code() < 0) return outcome_at_end(rank, status);
  return {OutcomeKind::Exited, status.code(), ""};
}

}  // namespace

bool RankState::has_fatal_error() const noexcept {
  return std::any_of(record.errors.begin(), record.errors.end(), [](const RankError& e) { return e.ended_body; });
}

Outcome outcome_at_done(const RankState& rank) { return from_result_alone(rank); }

bool ends_for_all(const RankState& rank) {
  return rank.ran_others && rank.done && !rank.decided() && !is_failure(outcome_at_done(rank));
}

Outcome end_for_all(RankState& rank, const Outcome& bad_end) {
  if (!rank.record.bad_end) rank.record.bad_end = bad_end;
  return outcome_at_done(rank);
}

Outcome outcome_at_end(const RankState& rank, proc::ExitStatus status) {
  if (is_failure(rank.record.outcome)) return rank.record.outcome;
  const bool told = rank.done || rank.has_fatal_error();
  if (told && (!status.signaled() || rank.signaled_by_us || rank.has_fatal_error())) {
    return status.signaled() ? from_result_alone(rank) : from_result(rank, status.code());
  }
  if (rank.signaled_by_us) return {OutcomeKind::KilledByUs, 0, ""};
  if (status.signaled()) return {OutcomeKind::Signaled, status.signal(), ""};
  if (rank.shares_process && status.code() >= 0) return {OutcomeKind::Exited, status.code(), ""};
  return from_exit_code(status.code());
}

Outcome outcome_at_end(const RankState& rank, proc::ExitStatus status, const std::vector<wire::MayDie>& may_die) {
  const Outcome death = death_at_end(rank, status);
  if (!is_declared(may_die, rank.record.rank, death)) return outcome_at_end(rank, status);
  return rank.record.errors.empty() ? death : Outcome{OutcomeKind::Failed, 0, ""};
}

Outcome outcome_of_program(const RankState& rank, proc::ExitStatus status) {
  if (is_failure(rank.record.outcome)) return rank.record.outcome;
  if (status.exited() && status.code() == 0) return {OutcomeKind::Passed, 0, ""};
  if (rank.signaled_by_us) return {OutcomeKind::KilledByUs, 0, ""};
  if (status.signaled()) return {OutcomeKind::Signaled, status.signal(), ""};
  if (status.code() < 0) return {OutcomeKind::Lost, 0, "its exit status was collected by other code"};
  return {OutcomeKind::Failed, status.code(), "exited with code " + std::to_string(status.code())};
}

bool is_declared(const std::vector<wire::MayDie>& may_die, int rank, const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::Signaled && outcome.kind != OutcomeKind::Exited) return false;
  const auto how = outcome.kind == OutcomeKind::Signaled ? wire::DeathKind::Signal : wire::DeathKind::ExitCode;
  return std::any_of(may_die.begin(), may_die.end(), [&](const wire::MayDie& death) {
    if (death.rank >= 0 && death.rank != rank) return false;
    return death.how == wire::DeathKind::Any || (death.how == how && death.value == outcome.value);
  });
}

bool is_failure(const Outcome& outcome) noexcept {
  switch (outcome.kind) {
    case OutcomeKind::Failed:
    case OutcomeKind::Exited:
    case OutcomeKind::Signaled:
    case OutcomeKind::TimedOut:
    case OutcomeKind::Lost: return true;
    default: return false;
  }
}

}  // namespace distrun::runner
