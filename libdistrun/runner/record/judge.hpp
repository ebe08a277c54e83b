#pragma once
// The judge: pure functions from what was recorded to a verdict. Its rules, first match wins:
//
//   the user stopped the attempt                                     cancelled
//   distrun could not do its part                                    infra-error
//   there is a first cause: failed                                   fail
//                           killed by a signal, exited, lost         crash
//                           timed out                                timeout
//                           ended by us without any cause            infra-error
//   some ranks skipped and others passed, or for other reasons       fail
//   all ranks skipped for one reason                                 skip
//   all passed, something outlived them                              leak
//   all passed                                                       pass
//
// A rank that died as the test declared counts as passed. Outcomes that follow from another rank's name that rank. The
// first cause is among the others: a death that no earlier failure has prompted, or else what was learned first. Of
// ranks that did the same the lowest stands first. Of ranks that ran out of time those are to blame that the others
// waited for (standstill.hpp).
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct Judgement {
  Verdict verdict = Verdict::Pass;
  std::vector<int> culprits;  // the first cause first
  wire::Phase phase = wire::Phase::Exit;
  Cause cause;
};

// Reads ranks, leaks, the look of a timeout, infra_error and cancelled. Every rank should have an outcome; one without
// is an infra-error.
Judgement judge(const AttemptRecord& attempt);
// Judges it, and writes down verdict, culprits, phase, cause and its message.
void conclude(AttemptRecord& attempt);

// The verdict of a test from those of its attempts, in order: a repeat counts by its last retry; the first
// bad one wins; else flaky if any needed a retry, skip if all skipped, pass.
Verdict judge_test(const std::vector<AttemptRecord>& attempts);

}  // namespace distrun::runner
