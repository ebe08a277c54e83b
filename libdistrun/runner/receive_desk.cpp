#include <distrun/runner/receive_desk.hpp>

namespace distrun::runner {

std::vector<int> ReceiveDesk::wait(int rank, const wire::ReceiveWait& wait, int world_size) {
  waiting_[rank] = wait;
  std::vector<int> finished;
  for (const int gone : gone_) {
    if (gone != rank && gone < world_size && waits_for(wait, gone)) finished.push_back(gone);
  }
  return finished;
}

void ReceiveDesk::delivered(const wire::RankMessage& message) {
  const auto found = waiting_.find(message.to);
  if (found == waiting_.end() || found->second.tag != message.tag) return;
  if (waits_for(found->second, message.from)) waiting_.erase(found);
}

std::vector<int> ReceiveDesk::leave(int rank) {
  gone_.insert(rank);
  waiting_.erase(rank);
  std::vector<int> waiters;
  for (const auto& [waiter, wait] : waiting_) {
    if (waits_for(wait, rank)) waiters.push_back(waiter);
  }
  return waiters;
}

std::string ReceiveDesk::waiting_in(int rank) const {
  const auto found = waiting_.find(rank);
  if (found == waiting_.end()) return "";
  const wire::ReceiveWait& wait = found->second;
  return "receive(\"" + wait.tag + "\") from " + (wait.from < 0 ? "any rank" : "rank " + std::to_string(wait.from));
}

}  // namespace distrun::runner
