// Errors of messages that were not sent or received, naming the rank.
#include <algorithm>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/shm/exchange_failure.hpp>
#include <distrun/runtime/collectives/shm/mail.hpp>

namespace distrun::collectives::shm {

void Mail::end_wait(core::WaitEnd end, const PointToPoint& message, bool sends) const {
  const std::string peer = message.peer < 0 ? "any rank" : ranks_text(group_, {message.peer});
  const std::string what = std::string(sends ? "a send to " : "a receive from ") + peer + " in group " + group_.name +
                           " (tag " + std::to_string(message.tag) + ")";
  if (end == core::WaitEnd::Timeout) {
    throw Error(ErrorKind::Timeout, "DistBackendError",
                what + " has timed out after " + base::human(message.timeout) +
                    (message.peer < 0 ? "" : ": " + what_they_do(group_, {message.peer})) +
                    (sends ? "" : kept_text(message.peer)),
                message.site);
  }
  if (is_over())
    throw Error(ErrorKind::Cancelled, "DistBackendError", what + " was cancelled: this rank has left the group",
                message.site);
  throw_if_broken(message);
  throw_gone(*area_, group_, what, message.site, awaited(message.peer));
}

std::vector<int> Mail::awaited(int peer) const {
  if (peer >= 0) return {peer};
  std::vector<int> others;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank != group_.rank) others.push_back(rank);
  }
  return others;
}

void Mail::throw_if_broken(const PointToPoint& message) const {
  const std::lock_guard lock(mutex_);
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (message.peer >= 0 && rank != message.peer) continue;
    if (const std::string& how = boxes_.why_refused(rank); !how.empty()) throw_broken(group_, rank, how, message.site);
  }
}

// Explains that the message may be behind others that this rank does not receive.
std::string Mail::kept_text(int peer) const {
  const std::lock_guard lock(mutex_);
  for (int rank = 0; rank < group_.size(); ++rank) {
    if ((peer >= 0 && rank != peer) || !kept_[static_cast<std::size_t>(rank)].is_full) continue;
    const auto oldest =
        std::find_if(unwanted_.begin(), unwanted_.end(), [&](const Arrived& each) { return each.from == rank; });
    if (oldest == unwanted_.end()) continue;
    return "; no more messages of " + ranks_text(group_, {rank}) + " are accepted, since " +
           std::to_string(kKeptMost >> 20) + " MiB of other messages wait to be received, the oldest with tag " +
           std::to_string(oldest->head.tag) + "; receive those first";
  }
  return "";
}

}  // namespace distrun::collectives::shm
