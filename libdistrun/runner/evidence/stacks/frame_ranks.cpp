#include <distrun/runner/evidence/stacks/frame_ranks.hpp>

#include <algorithm>
#include <iterator>

#include <distrun/common/base/rank_list.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kListMax = 60;  // bytes

using Ranks = std::vector<int>;

void add_all(const Ranks& more, Ranks& to) {
  Ranks sum;
  std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(sum));
  to = std::move(sum);
}

// The holders are sorted by rank.
Ranks ranks_of(const Stacks& stacks, const Group& group) {
  Ranks ranks;
  for (const Holder& holder : group.holders) {
    const int rank = stacks.processes[holder.process].rank;
    if (rank >= 0 && (ranks.empty() || ranks.back() != rank)) ranks.push_back(rank);
  }
  return ranks;
}

std::string list_of(const Ranks& ranks) {
  std::string text = base::rank_list(ranks);
  if (text.size() > kListMax) text = text.substr(0, text.rfind(',', kListMax)) + ", ...";
  return "[" + text + "]";
}

}  // namespace

FrameRanks::FrameRanks(const Stacks& stacks, const StackTree& tree) : tree_(tree), ranks_(tree.frames.size()) {
  for (const Group& group : tree.groups) {
    if (group.frames.empty()) continue;
    const Ranks ranks = ranks_of(stacks, group);
    add_all(ranks, all_);
    for (const std::uint32_t frame : group.frames) {
      if (tree.is_user(frame) && !std::includes(ranks_[frame].begin(), ranks_[frame].end(), ranks.begin(), ranks.end()))
        add_all(ranks, ranks_[frame]);
    }
  }
}

std::map<std::uint32_t, std::string> FrameRanks::notes_of(const std::vector<std::uint32_t>& frames) const {
  std::map<std::uint32_t, std::string> notes;
  const Ranks* outer = &all_;
  for (const std::uint32_t frame : frames) {
    if (!tree_.is_user(frame) || ranks_[frame] == *outer) continue;
    outer = &ranks_[frame];
    if (2 * outer->size() > all_.size() && outer->size() < all_.size()) notes.emplace(frame, note_of(*outer));
  }
  return notes;
}

std::string FrameRanks::note_of(const Ranks& ranks) const {
  Ranks others;
  std::set_difference(all_.begin(), all_.end(), ranks.begin(), ranks.end(), std::back_inserter(others));
  return "ranks in " + list_of(ranks) + " | not in " + list_of(others);
}

}  // namespace distrun::evidence
