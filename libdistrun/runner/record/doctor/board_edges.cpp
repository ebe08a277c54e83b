#include <distrun/runner/record/doctor/board_edges.hpp>

#include <algorithm>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/evidence/stacks/condition.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner::doctor {
namespace {

using board::PeerRule;
using board::WaitKind;

// Returns whether another rank does it, in a separate thread.
bool is_call(WaitKind kind) {
  return kind == WaitKind::RpcReply || kind == WaitKind::Future || kind == WaitKind::Backward ||
         kind == WaitKind::RrefConfirmation;
}

std::string key_of(const board::ShownWait& shown) {
  return std::string(board::name_of(shown.kind)) + '\0' + shown.name + '\0' + std::to_string(shown.id);
}

// Returns whether the peers that it names are exactly those that it waits for, and no timer of the runtime ends it: so
// are the SDK's barriers and messages. All others have timeouts that the board may not show.
bool is_exact(const board::ShownWait& shown) {
  const bool is_barrier = shown.kind == WaitKind::Barrier && shown.rule == PeerRule::All && shown.id == 0;
  const bool is_message = shown.kind == WaitKind::Receive && shown.rule == PeerRule::Any && shown.id == 0;
  return is_barrier || is_message;
}

}  // namespace

std::optional<Wait> BoardEdges::wait_of(std::size_t thread) {
  const Seen& seen = roster_.seen(thread);
  if (seen.wait == nullptr) return std::nullopt;
  const board::ShownWait& shown = *seen.wait;
  Wait wait;
  wait.thing = things_.add(kind_of(shown.kind), name_of_wait(shown), key_of(shown));
  wait.on_board = true;
  wait.need = shown.rule == PeerRule::Any ? Need::Any : Need::All;
  wait.ranks = seen.awaited;
  if (shown.kind == WaitKind::Barrier || shown.kind == WaitKind::Collective) wait.members = shown.peers;
  wait.since_ns = shown.since_ns;
  wait.deadline_ns = shown.deadline_ns;
  if (seen.stack != nullptr) wait.call = evidence::name_of_call(seen.stack->task.syscall);
  for (const int rank : seen.awaited)
    is_call(shown.kind) ? add_callee(wait, thread, rank) : add_peer(wait, thread, rank);
  if (wait.next.empty()) wait.next = stopped_peers(shown);
  set_open(wait, shown);
  return wait;
}

void BoardEdges::add_peer(Wait& wait, std::size_t, int rank) {
  wait.next.push_back(roster_.body(rank));
  wait.parties.push_back(roster_.party_of(rank));
}

// Follows what the rank runs for the call. If nothing, what it runs for the caller, else for any rank: the requested
// value may come from an earlier call.
void BoardEdges::add_callee(Wait& wait, std::size_t thread, int rank) {
  const board::ShownWait& shown = *roster_.seen(thread).wait;
  Indices same, of_caller, all;
  for (const std::size_t each : roster_.threads_of(rank)) {
    const board::ShownWait* const handler = roster_.seen(each).handler;
    if (handler == nullptr) continue;
    all.push_back(each);
    if (handler->peers != std::vector<int>{graph_.threads[thread].rank}) continue;
    of_caller.push_back(each);
    if (shown.kind == WaitKind::RpcReply && handler->id == shown.id) same.push_back(each);
  }
  wait.queued = wait.queued || (shown.kind == WaitKind::RpcReply && same.empty() && !all.empty());
  const bool is_of_none = shown.kind == WaitKind::RrefConfirmation || all.empty();
  const Indices found = is_of_none           ? Indices{roster_.idle(rank)}
                        : !same.empty()      ? same
                        : !of_caller.empty() ? of_caller
                                             : all;
  wait.next.insert(wait.next.end(), found.begin(), found.end());
  wait.parties.push_back(roster_.add_party({found, false}));
}

void BoardEdges::set_open(Wait& wait, const board::ShownWait& shown) const {
  if (shown.deadline_ns != 0) {
    wait.why_open = "it has a deadline";
  } else if (!is_exact(shown)) {
    wait.why_open = "a timeout that the board does not show may end it";
  } else if (wait.parties.empty()) {
    wait.why_open = "all of its ranks have arrived";
  } else if (graph_.bodies.size() > static_cast<std::size_t>(board::kPeersMax)) {
    wait.why_open = "the board cannot name all ranks";
  }
  wait.open = !wait.why_open.empty();
}

// All peers appear to be in the same barrier or collective, but a stopped one may still show an earlier round of it.
Indices BoardEdges::stopped_peers(const board::ShownWait& shown) {
  Indices stopped;
  if (shown.rule != PeerRule::All) return stopped;
  for (const int peer : shown.peers) {
    if (roster_.is_stopped(peer)) stopped.push_back(roster_.body(peer));
  }
  return stopped;
}

Indices BoardEdges::threads_for_others(int rank) const {
  Indices threads;
  for (const std::size_t each : roster_.threads_of(rank)) {
    const Seen& seen = roster_.seen(each);
    const bool is_for_others = seen.handler == nullptr && !seen.awaited.empty();
    if (is_for_others && !graph_.threads[each].is_body) threads.push_back(each);
  }
  return threads;
}

}  // namespace distrun::runner::doctor
