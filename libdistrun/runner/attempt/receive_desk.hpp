#pragma once
// Tracks which ranks wait for a message, and from which rank. Pure bookkeeping, like the barrier desk: a rank that
// waits for a finished rank must be notified, and the report of a timeout should name the waiting ranks.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/wire/control.hpp>

namespace distrun::runner {

class ReceiveDesk {
 public:
  // Waits are described with these hosts of the ranks.
  void use(base::RankHosts hosts) { hosts_ = std::move(hosts); }
  // The rank waits. Returns the ranks that it waits for and that have finished; it must be notified of each.
  std::vector<int> wait(int rank, const wire::ReceiveWait& wait, int world_size);
  // One such wait of the rank has ended.
  void end(int rank, const wire::ReceiveWait& wait);
  // The rank sends nothing more. Returns the ranks that wait for it; they must be notified.
  std::vector<int> leave(int rank);
  // Returns its oldest wait as `receive("token") from rank 1`, or empty.
  std::string waiting_in(int rank) const;

 private:
  static bool waits_for(const wire::ReceiveWait& wait, int from) { return wait.from < 0 || wait.from == from; }
  static bool wait_for(const std::vector<wire::ReceiveWait>& waits, int from);

  std::map<int, std::vector<wire::ReceiveWait>> waiting_;  // by rank, one per waiting thread; no empty lists
  std::set<int> gone_;
  base::RankHosts hosts_;
};

}  // namespace distrun::runner
