// Limits how much may wait for one worker's answers, and be in flight to it, before the next call to it waits. Without
// a limit, a slow or stopped worker would fill the memory of its callers, and its own. What waits for the answers of
// all workers has a limit, too: many stopped workers would fill the memory together.
//
// The caller waits, so the wait ends at the call's deadline. The call was not sent then, and may be made again.
#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/calls/call_sender.hpp>

namespace distrun::rpc {
namespace {

// Bytes of unanswered calls. Functions that run for others get a higher limit: other calls often wait for theirs.
constexpr std::uint64_t kUnansweredMax = std::uint64_t{256} << 20;
constexpr std::uint64_t kUnansweredOfHandlersMax = std::uint64_t{1} << 30;
constexpr std::uint64_t kBudgetsOfHandlers = 2;
// Agents have room while less than this is in flight.
constexpr std::uint64_t kAskAgentFrom = std::uint64_t{16} << 20;

constexpr base::Nanoseconds kLastRest = std::chrono::milliseconds(1);
constexpr std::size_t kNamedMax = 8;  // workers

// `owing`: answers of these workers make room.
board::WaitInfo info_of(const std::vector<WorkerId>& owing, base::Location site) {
  board::WaitInfo info;
  info.name = "room for a call";
  info.rule = owing.size() == 1 ? board::PeerRule::All : board::PeerRule::Any;
  for (const WorkerId each : owing) info.peers.add(each);
  info.site = site;
  return info;
}

std::string names_of(const std::vector<WorkerId>& workers, const Agent& agent) {
  std::string text;
  std::size_t named = 0;
  for (const WorkerInfo& each : agent.worker_infos()) {
    if (!std::ranges::binary_search(workers, each.id())) continue;
    if (++named == kNamedMax) return text + " and " + std::to_string(workers.size() - named + 1) + " more";
    text += (text.empty() ? "" : ", ") + each.name();
  }
  return text;
}

Error no_room(const PendingCall& call, const std::string& worker, const std::string& waiting, base::Location site) {
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(call.timeout).count();
  return Error(ErrorKind::Overloaded,
               "call \"" + std::string(call.name) + "\" of " + worker + " was not sent: calls of " + waiting +
                   ", and there was no room for " + std::to_string(call.bytes) + " more within its timeout (" +
                   std::to_string(limit) + " ms); wait for some answers first, or send less at a time",
               site);
}

}  // namespace

bool CallSender::wait_for_room(PendingCall& call, const std::string& worker, base::Location site) {
  const bool is_handler = core::thread_state().call != nullptr;
  PendingCalls::Load load{call.peer, call.bytes, is_handler ? kUnansweredOfHandlersMax : kUnansweredMax,
                          pending_.budget() * (is_handler ? kBudgetsOfHandlers : 1)};
  call.id = pending_.next_id(load);
  if (call.id != 0 && (load.waiting < kAskAgentFrom || shared_.agent->has_room(call.peer))) return false;
  while (call.id == 0) {
    const std::vector<WorkerId> owing =
        PendingCalls::is_full_of_peer(load) ? std::vector<WorkerId>{call.peer.id} : pending_.owing();
    if (!pending_.wait_for_room(load, info_of(owing, site), call.deadline)) {
      throw no_room(call, worker, waiting_text(load, worker, owing), site);
    }
    call.id = pending_.next_id(load);
  }
  const auto has_room = [&] { return shared_.agent->has_room(call.peer); };
  if (!core::poll_until(info_of({call.peer.id}, site), call.deadline, kLastRest, has_room)) {
    throw no_room(call, worker, waiting_text(load, worker, {}), site);
  }
  return true;
}

// Says which workers owe the answers.
std::string CallSender::waiting_text(const PendingCalls::Load& load, const std::string& worker,
                                     const std::vector<WorkerId>& owing) const {
  const auto text = [](std::uint64_t bytes, const std::string& workers) {
    return std::to_string(bytes) + " bytes wait for answers of " + workers;
  };
  if (owing.empty() || PendingCalls::is_full_of_peer(load)) return text(load.waiting, worker);
  return text(load.waiting_of_all, names_of(owing, *shared_.agent)) + ", at most " + std::to_string(load.most_of_all) +
         " may";
}

}  // namespace distrun::rpc
