// Limits how much may wait for one worker's answers, and be in flight to it, before the next call to it waits. Without
// a limit, a slow or stopped worker would fill the memory of its callers, and its own.
//
// The caller waits, so the wait ends at the call's deadline. The call was not sent then, and may be made again.
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
// Agents have room while less than this is in flight.
constexpr std::uint64_t kAskAgentFrom = std::uint64_t{16} << 20;

constexpr base::Nanoseconds kLastRest = std::chrono::milliseconds(1);

board::WaitInfo info_of(const PendingCall& call, base::Location site) {
  board::WaitInfo info;
  info.name = "room for a call";
  info.rule = board::PeerRule::All;
  info.peers.add(call.peer.id);
  info.site = site;
  return info;
}

Error no_room(const PendingCall& call, const std::string& worker, std::uint64_t waiting, base::Location site) {
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(call.timeout).count();
  return Error(ErrorKind::Overloaded,
               "call \"" + std::string(call.name) + "\" of " + worker + " was not sent: calls of " +
                   std::to_string(waiting) + " bytes wait for answers of " + worker + ", and there was no room for " +
                   std::to_string(call.bytes) + " more within its timeout (" + std::to_string(limit) +
                   " ms); wait for some answers first, or send less at a time",
               site);
}

}  // namespace

bool CallSender::wait_for_room(PendingCall& call, const std::string& worker, base::Location site) {
  const bool is_handler = core::thread_state().call != nullptr;
  PendingCalls::Load load{call.peer, call.bytes, is_handler ? kUnansweredOfHandlersMax : kUnansweredMax};
  call.id = pending_.next_id(load);
  if (call.id != 0 && (load.waiting < kAskAgentFrom || shared_.agent->has_room(call.peer))) return false;
  const board::WaitInfo info = info_of(call, site);
  while (call.id == 0) {
    if (!pending_.wait_for_room(load, info, call.deadline)) throw no_room(call, worker, load.waiting, site);
    call.id = pending_.next_id(load);
  }
  const auto has_room = [&] { return shared_.agent->has_room(call.peer); };
  if (!core::poll_until(info, call.deadline, kLastRest, has_room)) throw no_room(call, worker, load.waiting, site);
  return true;
}

}  // namespace distrun::rpc
