#include <distrun/runner/attempt/receive_desk.hpp>

#include <algorithm>

namespace distrun::runner {
namespace {

constexpr std::size_t kWaitsMax = 256;  // per rank; waits of further threads are not kept

}  // namespace

bool ReceiveDesk::wait_for(const std::vector<wire::ReceiveWait>& waits, int from) {
  return std::any_of(waits.begin(), waits.end(), [from](const auto& wait) { return waits_for(wait, from); });
}

std::vector<int> ReceiveDesk::wait(int rank, const wire::ReceiveWait& wait, int world_size) {
  std::vector<wire::ReceiveWait>& waits = waiting_[rank];
  if (waits.size() < kWaitsMax) waits.push_back(wait);
  std::vector<int> finished;
  for (const int gone : gone_) {
    if (gone != rank && gone < world_size && waits_for(wait, gone)) finished.push_back(gone);
  }
  return finished;
}

void ReceiveDesk::end(int rank, const wire::ReceiveWait& wait) {
  const auto waits = waiting_.find(rank);
  if (waits == waiting_.end()) return;
  const auto found = std::find(waits->second.begin(), waits->second.end(), wait);
  if (found != waits->second.end()) waits->second.erase(found);
  if (waits->second.empty()) waiting_.erase(waits);
}

std::vector<int> ReceiveDesk::leave(int rank) {
  gone_.insert(rank);
  waiting_.erase(rank);
  std::vector<int> waiters;
  for (const auto& [waiter, waits] : waiting_) {
    if (wait_for(waits, rank)) waiters.push_back(waiter);
  }
  return waiters;
}

std::string ReceiveDesk::waiting_in(int rank) const {
  const auto found = waiting_.find(rank);
  if (found == waiting_.end()) return "";
  const wire::ReceiveWait& wait = found->second.front();
  return "receive(\"" + wait.tag + "\") from " + (wait.from < 0 ? "any rank" : hosts_.label(wait.from));
}

}  // namespace distrun::runner
