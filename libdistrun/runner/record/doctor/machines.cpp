#include <distrun/runner/record/doctor/machines.hpp>

namespace distrun::runner::doctor {

Machines::Machines(const Snapshot& snapshot) {
  if (!snapshot.stacks.processes.empty()) first_ = snapshot.stacks.processes.front().host;
  std::map<std::string, int> by_name;
  for (const evidence::Process& process : snapshot.stacks.processes) {
    const int rank = process.rank >= 0 ? process.rank : process.of_rank;
    if (rank < 0) continue;
    by_rank_.try_emplace(rank, process.host);
    const std::string& name = snapshot.hosts.of(rank);
    if (name.empty()) continue;
    by_name.try_emplace(name, process.host);
    names_.try_emplace(process.host, name);
  }
  int unseen = 0;
  for (const RankView& view : snapshot.ranks) {
    const std::string& name = snapshot.hosts.of(view.rank);
    if (name.empty()) continue;
    const auto [found, is_new] = by_name.try_emplace(name, unseen - 1);
    if (is_new) names_.try_emplace(--unseen, name);
    by_rank_.try_emplace(view.rank, found->second);
  }
}

int Machines::of_rank(int rank) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? first_ : found->second;
}

}  // namespace distrun::runner::doctor
