#pragma once
// The judge: pure functions that turn records into a verdict. The rules; the first match wins:
//
//   the user stopped the attempt                                     cancelled
//   distrun could not do its part                                    infra-error
//   it was proven, while it ran, that it can never end               deadlock
//   there is a first cause: failed                                   fail
//                           killed by a signal, exited, lost         crash
//                           timed out                                timeout
//                           ended by us without any cause            infra-error
//   some ranks skipped and others passed, or for other reasons       fail
//   all ranks skipped for one reason                                 skip
//   all passed, something outlived them                              leak
//   all passed                                                       pass
//
// A rank that died as the test declared counts as passed. An outcome that follows from another rank's outcome names
// that rank and is no first cause. The first cause is a death that no earlier failure has prompted, or else the outcome
// learned first; on several hosts, the one that was first by their clocks, if these can tell (at_once.hpp). Among ranks
// that did the same, or failed at the same time on different hosts, the lowest comes first. Among ranks that timed out,
// those that the others waited for are to blame (standstill.hpp).
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

struct Judgement {
  Verdict verdict = Verdict::Pass;
  std::vector<int> culprits;  // the first cause first
  wire::Phase phase = wire::Phase::Exit;
  Cause cause;
};

// Reads ranks, leaks, the snapshot of a timeout, the proven causes of a hang, infra_error and cancelled. A rank without
// outcome: infra-error.
Judgement judge(const AttemptRecord& attempt);
// Judges the attempt and stores verdict, culprits, phase, cause, the causes of a hang and message in it.
void conclude(AttemptRecord& attempt);

// Returns the verdict of a test from those of its attempts, in order: of a repeat, the last retry counts; the first bad
// one wins; else flaky if any needed a retry, skip if all skipped, pass.
Verdict judge_test(const std::vector<AttemptRecord>& attempts);

}  // namespace distrun::runner
