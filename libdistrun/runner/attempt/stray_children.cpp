#include <distrun/runner/attempt/stray_children.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace distrun::runner {
namespace {

// Returns what a process forked by the rank has done in the rank's place.
RankError stray_error(const std::string& rank, const board::Shown& seen) {
  RankError error;
  const std::string child = "a child that " + rank + " forked (process " + std::to_string(seen.stray_child) + ")";
  error.type = seen.child_returned ? "ChildReturned" : "ChildFailed";
  error.text =
      seen.child_returned ? child + " returned from the body" : "a check failed in " + child + "; see standard error";
  return error;
}

}  // namespace

std::optional<RankError> StrayChildren::look(const RankState& rank) const {
  const int number = rank.record.rank;
  const std::optional<board::Shown> seen = ranks_.world->shown(number);
  if (!seen || seen->stray_child == 0) return std::nullopt;
  return stray_error(ranks_.test.is_host() ? "the host" : ranks_.hosts().label(number), *seen);
}

bool StrayChildren::find(RankState& rank) {
  if (rank.stray_error || !rank.started || ranks_.test.is_program()) return false;
  std::optional<RankError> error = look(rank);
  if (!error) return false;
  ranks_.log.add_error(rank.record.rank, std::move(*error));
  rank.stray_error = rank.record.errors.size() - 1;
  if (!is_failure(rank.record.outcome)) failures_.fail(rank, {OutcomeKind::Failed, 0, ""});
  return true;
}

bool StrayChildren::find_all() {
  bool found = false;
  for (RankState& rank : ranks_.all) found = find(rank) || found;
  return found;
}

bool StrayChildren::has_found() const {
  return std::any_of(ranks_.all.begin(), ranks_.all.end(),
                     [](const RankState& rank) { return rank.stray_error.has_value(); });
}

// A child that had failed when it was seen may have returned from the body since, which says more. The rank's other
// errors follow from this one.
void StrayChildren::complete(RankState& rank) const {
  if (!rank.stray_error) return;
  const auto begin = rank.record.errors.begin();
  const auto at = begin + static_cast<std::ptrdiff_t>(*rank.stray_error);
  if (std::optional<RankError> latest = look(rank)) {
    at->type = std::move(latest->type);
    at->text = std::move(latest->text);
  }
  std::rotate(begin, at, at + 1);
}

}  // namespace distrun::runner
