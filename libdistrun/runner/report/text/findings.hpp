#pragma once
// What came of the ranks of an attempt, told in as few words as possible: ranks to which the same
// happened are one finding.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

struct Finding {
  std::vector<int> ranks;            // ascending
  const runner::RankRecord* sample;  // one of them; lives as long as the attempt
  std::string story;                 // "killed by signal 11 (SIGSEGV) in body"
};

struct Findings {
  std::vector<Finding> culprits;  // in the order of the judge
  std::vector<Finding> others;    // by first rank
};

Findings findings_of(const runner::AttemptRecord& attempt);

// "ended by distrun after rank 2 failed, waiting in barrier \"ready\"".
std::string story_of(const runner::AttemptRecord& attempt, const runner::RankRecord& rank);

// Those of `attempt.culprits` that it has a record of, then all others.
std::vector<const runner::RankRecord*> culprits_first(const runner::AttemptRecord& attempt);

}  // namespace distrun::report
