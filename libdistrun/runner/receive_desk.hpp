#pragma once
// Who waits for a message from whom. Pure bookkeeping, like the barrier desk: a rank that waits for one that
// has finished must be told, and a report of a time-out should say who waited.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/wire/control.hpp>

namespace distrun::runner {

class ReceiveDesk {
 public:
  // The rank waits. The ranks among those it waits for that have finished: it must be told each of them.
  std::vector<int> wait(int rank, const wire::ReceiveWait& wait, int world_size);
  // A message is on its way: if it is the one waited for, the wait is over.
  void delivered(const wire::RankMessage& message);
  // The rank sends nothing any more. Those that wait for it, to be told.
  std::vector<int> leave(int rank);
  // `receive("token") from rank 1`, or empty.
  std::string waiting_in(int rank) const;

 private:
  static bool waits_for(const wire::ReceiveWait& wait, int from) { return wait.from < 0 || wait.from == from; }

  std::map<int, wire::ReceiveWait> waiting_;
  std::set<int> gone_;
};

}  // namespace distrun::runner
