#pragma once
// Which of two failures on different hosts came first. The times of other machines are known with an error (the clocks
// of two hosts are compared over the network), so the order of two failures may not be known. Pure functions.
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Returns whether `a` failed before `b`, even with the largest errors of their clocks. False for ranks of one machine.
bool is_surely_before(const RankRecord& a, const RankRecord& b);
// Returns whether they failed on different machines, and their clocks cannot tell which failed first.
bool is_at_once(const RankRecord& a, const RankRecord& b);

struct AtOnce {
  std::vector<int> ranks;  // ascending
  Nanoseconds within{};    // the largest error of a comparison
};
// Returns those of `ranks` that failed at the same time as `cause`.
AtOnce at_once_with(const AttemptRecord& attempt, const RankRecord& cause, const std::vector<int>& ranks);

}  // namespace distrun::runner
