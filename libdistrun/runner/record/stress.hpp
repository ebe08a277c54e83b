#pragma once
// The numbers of a stress run (--stress): how often a test fails, and in which ways. Plain values.
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Counts an attempt. Returns true if it failed in a way that none before it did, and that is kept apart.
bool count(StressRecord& stress, const AttemptRecord& attempt);

// Returns the message with every number replaced by "N": failures that differ only in numbers are of one kind.
std::string without_numbers(std::string_view message);

struct Interval {
  double low = 0;
  double high = 1;
};
// Returns the 95 % interval of the probability of a failure after `failures` of `runs` attempts: Clopper and Pearson's,
// which is exact if attempts are independent. 0 to 1 without attempts.
Interval failure_interval(int failures, int runs);

// Returns the share of the attempts that failed; 0 without any.
double failure_share(const StressRecord& stress);
// Returns "0.23 %" with two significant digits, "0 %".
std::string percent(double share);
// Returns "29 of 12345 runs failed (0.23 %)".
std::string failures_text(const StressRecord& stress);

// The state of a stress run in progress, over all of its tests.
struct StressStatus {
  Nanoseconds elapsed{};
  int running = 0;  // attempts
  StressRecord all;
};
}  // namespace distrun::runner
