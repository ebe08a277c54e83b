#pragma once
// Tracks which ranks wait in which barrier. Pure bookkeeping: the attempt feeds it and sends the releases it returns.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/common/base/rank_hosts.hpp>

namespace distrun::runner {

struct Release {
  std::string barrier;
  std::vector<int> ranks;
  std::string error;  // empty: all ranks arrived
  int because_of = -1;
};

class BarrierDesk {
 public:
  explicit BarrierDesk(int world_size);
  // Errors name these hosts of the ranks.
  void use(base::RankHosts hosts) { hosts_ = std::move(hosts); }

  // The rank waits. Returns a release if it was the last to arrive, or if a rank can no longer arrive.
  std::optional<Release> enter(int rank, const std::string& barrier);
  // The rank will enter no more barriers. If `declared`, the test wanted that and the others go on without it;
  // otherwise every barrier with waiting ranks is released with an error.
  std::vector<Release> leave(int rank, bool declared);
  // Returns `barrier "x"`, or empty.
  std::string waiting_in(int rank) const;
  // Returns whether the rank, since it last entered the barrier that it shows under this (possibly cut) name, has been
  // released from it. A rank without a CPU goes on showing it.
  bool has_passed(int rank, std::string_view shown) const;

 private:
  std::optional<Release> check(const std::string& barrier);

  int world_size_;
  base::RankHosts hosts_;
  std::set<int> excused_;  // declared deaths
  std::vector<int> gone_;  // the others, in the order in which they left
  std::map<std::string, std::set<int>> waiting_;
  std::map<int, std::string> passed_;  // by rank, the last barrier from which it was released
};

}  // namespace distrun::runner
