#pragma once
// Attempts as the runner might have recorded them.
#include <array>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner::samples {

inline constexpr std::array kFinalKinds{OutcomeKind::Passed, OutcomeKind::Failed,    OutcomeKind::Skipped,
                                        OutcomeKind::Exited, OutcomeKind::Signaled,  OutcomeKind::TimedOut,
                                        OutcomeKind::Lost,   OutcomeKind::KilledByUs};

inline Outcome outcome_of(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::Skipped: return {kind, 86, "no network"};
    case OutcomeKind::Exited: return {kind, 3, ""};
    case OutcomeKind::Signaled: return {kind, 11, ""};
    case OutcomeKind::TimedOut: return {kind, 0, "5.0 s"};
    case OutcomeKind::Lost: return {kind, 0, "its connection broke"};
    default: return {kind, 0, ""};
  }
}

inline RankError error_of(const std::string& text, bool ended_body = true) {
  RankError error;
  error.type = "RuntimeError";
  error.text = text;
  error.file = "ring.cpp";
  error.line = 41;
  error.ended_body = ended_body;
  return error;
}

// Outcomes in the order of the ranks' numbers, in the body.
inline AttemptRecord attempt_of(const std::vector<OutcomeKind>& kinds) {
  AttemptRecord attempt;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    RankRecord rank;
    rank.rank = static_cast<int>(i);
    rank.pid = 1000 + rank.rank;
    rank.outcome = outcome_of(kinds[i]);
    rank.phase = wire::Phase::Body;
    rank.decided = rank.rank + 1;
    if (kinds[i] == OutcomeKind::Failed) rank.errors.push_back(error_of("token is lost"));
    attempt.ranks.push_back(std::move(rank));
  }
  return attempt;
}

}  // namespace distrun::runner::samples
