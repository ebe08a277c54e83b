#include <distrun/runtime/core/deaths.hpp>

#include <algorithm>

#include <distrun/common/board/describe.hpp>
#include <distrun/runtime/core/hosts.hpp>

namespace distrun::core {
namespace {

constexpr int kRanksShown = 256;

std::optional<board::Shown> shown_of(int rank) {
  const RankLine* const line = rank_state().line();
  return line != nullptr && rank >= 0 ? line->look_at(rank) : std::nullopt;
}

// The process of a rank on another host is another process here, or none.
bool has_ended(const Hosts& hosts, int rank, const board::Shown& shown) {
  return shown.pid != 0 && hosts.is_here(rank) && is_ending(shown.pid);
}

std::string ended_text(int pid) { return "its process " + std::to_string(pid) + " has ended"; }

}  // namespace

std::optional<Death> death_of(int rank) {
  const auto shown = shown_of(rank);
  if (!shown || !has_ended(known_hosts(), rank, *shown)) return std::nullopt;
  return Death{rank, shown->pid};
}

std::optional<Death> first_death() {
  if (rank_state().line() == nullptr) return std::nullopt;
  std::vector<int> declared;
  {
    const PeerDiedCall ask(rank_state(), [&](int rank) { declared.push_back(rank); });
  }
  const Hosts& hosts = known_hosts();
  for (int rank = 0; rank < kRanksShown; ++rank) {
    if (std::find(declared.begin(), declared.end(), rank) != declared.end()) continue;
    const auto shown = shown_of(rank);
    if (shown && shown->phase <= wire::Phase::Body && has_ended(hosts, rank, *shown)) return Death{rank, shown->pid};
  }
  return std::nullopt;
}

bool are_all_ranks(std::size_t count) {
  if (const Hosts& hosts = known_hosts(); hosts.are_several()) return hosts.rank_count() == count;
  int last = kRanksShown - 1;
  while (last >= 0 && !shown_of(last)) --last;
  return static_cast<std::size_t>(last + 1) == count;
}

std::string text_of(const Death& death) {
  return "rank " + std::to_string(death.rank) + " is gone: " + ended_text(death.pid);
}

std::string what_they_do(const std::vector<int>& ranks) {
  std::string text;
  const Hosts& hosts = known_hosts();
  for (const int rank : ranks) {
    const auto shown = shown_of(rank);
    std::string what = shown ? board::doing(*shown) : "";
    if (shown && has_ended(hosts, rank, *shown)) what = ended_text(shown->pid);
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) + (what.empty() ? "" : " (" + what + ")");
  }
  return text;
}

}  // namespace distrun::core
