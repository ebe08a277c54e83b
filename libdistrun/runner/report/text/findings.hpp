#pragma once
// Summarises the results of an attempt's ranks: ranks with the same result form one finding.
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::report {

struct Finding {
  std::vector<int> ranks;            // ascending
  const runner::RankRecord* sample;  // one of the ranks; valid as long as the attempt
  std::string story;                 // "killed by signal 11 (SIGSEGV) in body"
};

struct Findings {
  std::vector<Finding> culprits;  // in the judge's order
  std::vector<Finding> others;    // sorted by first rank
};

Findings findings_of(const runner::AttemptRecord& attempt);

// Returns "ended by distrun after rank 2 failed, waiting in barrier \"ready\"".
std::string story_of(const runner::AttemptRecord& attempt, const runner::RankRecord& rank);

// Returns the records of `attempt.culprits`, as far as they exist, then all others.
std::vector<const runner::RankRecord*> culprits_first(const runner::AttemptRecord& attempt);

}  // namespace distrun::report
