#include <distrun/runner/record/at_once.hpp>

#include <algorithm>

namespace distrun::runner {
namespace {

bool have_own_clocks(const RankRecord& a, const RankRecord& b) {
  return a.failed_at && b.failed_at && a.host != b.host;
}

// The errors of both add up.
Nanoseconds error_between(const RankRecord& a, const RankRecord& b) { return a.failed_at->error + b.failed_at->error; }

}  // namespace

bool is_surely_before(const RankRecord& a, const RankRecord& b) {
  return have_own_clocks(a, b) && b.failed_at->at - a.failed_at->at > error_between(a, b);
}

bool is_at_once(const RankRecord& a, const RankRecord& b) {
  return have_own_clocks(a, b) && !is_surely_before(a, b) && !is_surely_before(b, a);
}

AtOnce at_once_with(const AttemptRecord& attempt, const RankRecord& cause, const std::vector<int>& ranks) {
  AtOnce found;
  for (const int number : ranks) {
    const RankRecord& rank = attempt.ranks.at(static_cast<std::size_t>(number));
    if (!is_at_once(rank, cause)) continue;
    found.ranks.push_back(number);
    found.within = std::max(found.within, error_between(rank, cause));
  }
  return found;
}

}  // namespace distrun::runner
