#include <distrun/runner/attempt/barrier_desk.hpp>

#include <algorithm>

#include <distrun/common/board/layout.hpp>

namespace distrun::runner {
namespace {

bool is_name(std::string_view barrier, std::string_view shown) { return barrier.substr(0, board::kNameSize) == shown; }

}  // namespace

BarrierDesk::BarrierDesk(int world_size) : world_size_(world_size) {}

std::optional<Release> BarrierDesk::enter(int rank, const std::string& barrier) {
  waiting_[barrier].insert(rank);
  return check(barrier);
}

std::vector<Release> BarrierDesk::leave(int rank, bool declared) {
  if (declared) {
    excused_.insert(rank);
  } else {
    gone_.push_back(rank);
  }
  std::vector<std::string> barriers;
  for (auto& [barrier, ranks] : waiting_) {
    ranks.erase(rank);
    barriers.push_back(barrier);
  }
  std::vector<Release> releases;
  for (const std::string& barrier : barriers) {
    if (auto release = check(barrier)) releases.push_back(std::move(*release));
  }
  return releases;
}

std::optional<Release> BarrierDesk::check(const std::string& barrier) {
  const auto found = waiting_.find(barrier);
  if (found == waiting_.end()) return std::nullopt;
  const std::set<int>& ranks = found->second;
  const bool complete = gone_.empty() && static_cast<int>(ranks.size() + excused_.size()) == world_size_;
  if (!complete && gone_.empty()) return std::nullopt;
  Release release{barrier, {ranks.begin(), ranks.end()}, "", -1};
  if (!complete) {
    release.because_of = gone_.front();
    release.error = hosts_.label(gone_.front()) + " finished without entering barrier \"" + barrier + "\"";
  }
  waiting_.erase(found);
  for (const int rank : release.ranks) passed_[rank] = barrier;
  if (release.ranks.empty()) return std::nullopt;
  return release;
}

std::string BarrierDesk::waiting_in(int rank) const {
  for (const auto& [barrier, ranks] : waiting_) {
    if (ranks.contains(rank)) return "barrier \"" + barrier + "\"";
  }
  return "";
}

bool BarrierDesk::has_passed(int rank, std::string_view shown) const {
  const auto last = passed_.find(rank);
  if (last == passed_.end() || !is_name(last->second, shown)) return false;
  return std::none_of(waiting_.begin(), waiting_.end(),
                      [&](const auto& entry) { return is_name(entry.first, shown) && entry.second.contains(rank); });
}

}  // namespace distrun::runner
