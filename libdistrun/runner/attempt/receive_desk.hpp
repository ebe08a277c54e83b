#pragma once
// Who waits for a message from whom. Pure bookkeeping, like the barrier desk: a rank that waits for one that
// has finished must be told, and a report of a time-out should say who waited.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/wire/control.hpp>

namespace distrun::runner {

class ReceiveDesk {
 public:
  // The rank waits. The ranks among those it waits for that have finished: it must be told each of them.
  std::vector<int> wait(int rank, const wire::ReceiveWait& wait, int world_size);
  // One such wait of the rank is over.
  void end(int rank, const wire::ReceiveWait& wait);
  // The rank sends nothing any more. Those that wait for it, to be told.
  std::vector<int> leave(int rank);
  // Its oldest wait: `receive("token") from rank 1`; or empty.
  std::string waiting_in(int rank) const;

 private:
  static bool waits_for(const wire::ReceiveWait& wait, int from) { return wait.from < 0 || wait.from == from; }
  static bool wait_for(const std::vector<wire::ReceiveWait>& waits, int from);

  std::map<int, std::vector<wire::ReceiveWait>> waiting_;  // of each rank's threads; none has an empty list
  std::set<int> gone_;
};

}  // namespace distrun::runner
