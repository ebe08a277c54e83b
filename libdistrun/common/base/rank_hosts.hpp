#pragma once
// Names ranks in texts where they run on several hosts: "rank 5 on node02". Where all ranks run on this machine, the
// names are those of rank_list.hpp, so that texts need not distinguish the two.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::base {

// Which host each rank runs on. A plain value, cheap to copy.
class RankHosts {
 public:
  // All ranks run on this machine.
  RankHosts() = default;
  // `by_rank` has the name of each rank's host; an empty name is this machine.
  explicit RankHosts(std::vector<std::string> by_rank);

  // Returns whether all ranks run on this machine: texts name no host then.
  bool empty() const noexcept { return by_rank_ == nullptr; }
  // Returns the host of the rank; empty: this machine, or an unknown rank.
  const std::string& of(int rank) const;
  // Returns "rank 5", or "rank 5 on node02".
  std::string label(int rank) const;
  // Returns "ranks 0-2, 5", "ranks 4-5 on node02", "ranks 0-3 on node01, 4-7 on node02", or
  // "130 ranks (0, 2, 4, 6, ...) on 12 hosts". `ranks` must be ascending.
  std::string label(const std::vector<int>& ranks) const;

 private:
  std::string name_of_host(int rank) const;

  std::shared_ptr<const std::vector<std::string>> by_rank_;  // null: all ranks run on this machine
};

}  // namespace distrun::base
