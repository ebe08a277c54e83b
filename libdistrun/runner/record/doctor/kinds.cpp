#include <distrun/runner/record/doctor/kinds.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include <distrun/runner/record/doctor/things.hpp>

namespace distrun::runner::doctor {
namespace {

using enum HangKind;

const Thing& thing_of(const Graph& graph, std::size_t thread) {
  return graph.things[graph.threads[thread].wait->thing];
}

template <class Predicate>
bool any_wait(const Graph& graph, const End& end, Predicate predicate) {
  return std::any_of(end.begin(), end.end(), [&](std::size_t each) {
    const std::optional<Wait>& wait = graph.threads[each].wait;
    return wait && predicate(*wait, graph.things[wait->thing].kind);
  });
}

template <class Predicate>
bool all_waits(const Graph& graph, const End& end, Predicate predicate) {
  return !any_wait(graph, end, [&](const Wait& wait, ThingKind kind) { return !predicate(wait, kind); });
}

// Returns "world" for the collective "all_reduce of world" #1; empty if the name has no group.
std::string_view group_in(const Thing& thing) {
  constexpr std::string_view kOf = " of ";
  std::string_view name = thing.name;
  if (const std::size_t end = name.rfind('"'); end != std::string_view::npos) name = name.substr(0, end);
  const std::size_t at = name.rfind(kOf);
  return at == std::string_view::npos ? std::string_view{} : name.substr(at + kOf.size());
}

// Returns whether ranks wait in collectives of different groups, each for ranks that are in another group's.
bool is_of_several_groups(const Graph& graph, const End& end) {
  std::string_view first;
  bool differs = false;
  for (const std::size_t each : end) {
    const Thing& thing = thing_of(graph, each);
    if (thing.kind != ThingKind::Collective || group_in(thing).empty()) return false;
    if (first.empty()) first = group_in(thing);
    differs = differs || group_in(thing) != first;
  }
  return differs;
}

HangKind kind_of_cycle(const Graph& graph, const End& end) {
  if (end.size() == 1) return SelfDeadlock;
  if (any_wait(graph, end, [](const Wait& wait, ThingKind) { return wait.queued; })) return StarvedPool;
  if (any_wait(graph, end, [](const Wait&, ThingKind kind) { return is_device(kind); })) return DeviceWait;
  if (all_waits(graph, end, [](const Wait& wait, ThingKind kind) { return wait.guessed && is_signal(kind); }))
    return LostNotification;
  if (!all_waits(graph, end, [](const Wait&, ThingKind kind) { return is_meeting(kind); })) return Deadlock;
  return is_of_several_groups(graph, end) ? CollectiveOrder : MismatchedCollective;
}

// The thread waits for something that no thread in the graph is known to provide.
HangKind kind_of_open_end(ThingKind kind) {
  if (is_lock(kind)) return HeldLock;
  if (is_signal(kind)) return LostNotification;
  if (is_channel(kind)) return FullOrEmptyChannel;
  if (is_device(kind)) return DeviceWait;
  switch (kind) {
    case ThingKind::Child:
    case ThingKind::Process: return Child;
    case ThingKind::PoolSlot: return StarvedPool;
    case ThingKind::Receive:
    case ThingKind::Send:
    case ThingKind::RpcReply:
    case ThingKind::RrefConfirmation:
    case ThingKind::StoreKey:
    case ThingKind::Gradient: return UnsentMessage;
    default: return Unknown;
  }
}

// An event loop of a rank has nothing else to do; other processes serve whoever comes.
HangKind kind_of_open_wait(const Graph& graph, std::size_t end) {
  const ThingKind kind = thing_of(graph, end).kind;
  if (kind == ThingKind::Events && graph.threads[end].of_rank >= 0) return FullOrEmptyChannel;
  return kind_of_open_end(kind);
}

// Others wait for a thread that waits for nothing known: names what it owes them.
HangKind kind_of_debt(ThingKind kind) {
  if (is_meeting(kind)) return MissingRank;
  if (is_signal(kind) || kind == ThingKind::ThreadEnd) return Slow;
  return kind_of_open_end(kind);
}

bool has_begun(const Graph& graph, const Thread& thread) {
  if (thread.rank < 0 || !thread.is_body || thread.doing == Doing::Ended) return true;
  if (thread.has_shown) return thread.phase > wire::Phase::Rendezvous;
  return std::none_of(graph.threads.begin(), graph.threads.end(), [](const Thread& each) { return each.has_shown; });
}

// Returns whether the last messages of its rank, of which several are known, are all the same.
bool repeats_messages(const Thread& thread) {
  const auto is_other = [&](const std::string& each) { return each != thread.sent.front(); };
  return thread.sent.size() == kSentMax && std::none_of(thread.sent.begin(), thread.sent.end(), is_other);
}

// Returns what the state of the thread alone says; Unknown if it says nothing.
HangKind kind_of_state(const Graph& graph, const Thread& thread) {
  switch (thread.doing) {
    case Doing::Stopped: return Stopped;
    case Doing::Traced: return Traced;
    case Doing::InKernel: return StuckInKernel;
    default: break;
  }
  if (!has_begun(graph, thread)) return NotStarted;
  if (thread.phase == wire::Phase::Exit && thread.doing != Doing::Ended) return StuckAtExit;
  const bool is_busy = thread.doing == Doing::Spins || thread.doing == Doing::Runs;
  if (is_busy && thread.progressed) return Slow;
  return thread.doing == Doing::Spins ? Spinning : Unknown;
}

// Returns whether its rank goes on sending the same.
bool is_in_livelock(const Thread& thread) { return thread.progressed && repeats_messages(thread); }

// Returns whether the thread has left its wait between the snapshots. A wait on the board may be a loop of short waits.
bool has_left_wait(const Thread& thread) { return thread.wait && !thread.wait->on_board && thread.moved; }

// Returns whether the waits for the end come and go: none of the direct waiters has stayed in its wait.
bool is_passing(const Graph& graph, std::size_t end, const std::vector<Waiter>& waiters) {
  if (graph.threads[end].wait) return has_left_wait(graph.threads[end]);
  const auto has_stayed = [&](const Waiter& each) {
    return each.next == end && !has_left_wait(graph.threads[each.thread]);
  };
  return !waiters.empty() && std::none_of(waiters.begin(), waiters.end(), has_stayed);
}

// Returns whether a thread outside of ranks uses the CPU: nothing tells a loop that computes from one that waits for
// something.
bool may_compute(const Thread& thread) {
  return thread.of_rank < 0 && (thread.doing == Doing::Spins || thread.doing == Doing::Runs);
}

// A lock is not held for long without a reason; but a process may have to compute what others read or wait for.
bool is_work(const Thread& thread, HangKind debt) {
  return may_compute(thread) && (debt == Child || debt == FullOrEmptyChannel);
}

// Returns what the nearest waiter is owed; Unknown if none waits.
HangKind debt_of(const Graph& graph, const std::vector<Waiter>& waiters) {
  return waiters.empty() ? Unknown : kind_of_debt(thing_of(graph, waiters.front().thread).kind);
}

// What the holder of a lock does meanwhile matters less than that it holds it.
bool is_busy_holder(const Thread& thread, HangKind debt) {
  return debt == HeldLock && (thread.doing == Doing::Spins || thread.doing == Doing::Runs);
}

// Returns whether a rank that makes progress was just seen in one of many short waits.
bool is_between_steps(const Graph& graph, std::size_t end) {
  const Thread& thread = graph.threads[end];
  const bool is_short = thread.wait && !thread.wait->on_board && is_signal(thing_of(graph, end).kind);
  return thread.is_body && thread.progressed && is_short;
}

HangKind kind_of_single(const Graph& graph, std::size_t end, const std::vector<Waiter>& waiters) {
  const Thread& thread = graph.threads[end];
  if (is_passing(graph, end, waiters)) return Slow;
  const HangKind debt = debt_of(graph, waiters);
  if (is_busy_holder(thread, debt)) return HeldLock;
  const HangKind by_state = may_compute(thread) ? Unknown : kind_of_state(graph, thread);
  if (by_state != Unknown) return by_state;
  if (is_between_steps(graph, end)) return Slow;
  const HangKind by_wait = thread.wait ? kind_of_open_wait(graph, end) : Unknown;
  if (by_wait != Unknown) return by_wait;
  if (!waiters.empty()) return is_work(thread, debt) ? Slow : debt;
  return thread.doing == Doing::Sleeps || thread.doing == Doing::Runs || may_compute(thread) ? Slow : Unknown;
}

// Returns how many members wait for each thing.
std::map<std::size_t, std::size_t> counts_of(const Graph& graph, const End& end) {
  std::map<std::size_t, std::size_t> counts;
  for (const std::size_t each : end) ++counts[graph.threads[each].wait->thing];
  return counts;
}

}  // namespace

bool is_cycle(const Graph& graph, const End& end) {
  if (end.size() > 1) return true;
  const std::optional<Wait>& wait = graph.threads[end.front()].wait;
  return wait && std::find(wait->next.begin(), wait->next.end(), end.front()) != wait->next.end();
}

Indices odd_ones(const Graph& graph, const End& end) {
  if (end.size() == 1 || !all_waits(graph, end, [](const Wait&, ThingKind kind) { return is_meeting(kind); })) {
    return end;
  }
  const auto counts = counts_of(graph, end);
  const auto count = [&](std::size_t each) { return counts.at(graph.threads[each].wait->thing); };
  const std::size_t rarest =
      count(*std::min_element(end.begin(), end.end(), [&](auto a, auto b) { return count(a) < count(b); }));
  Indices odd;
  std::copy_if(end.begin(), end.end(), std::back_inserter(odd), [&](auto each) { return count(each) == rarest; });
  return odd;
}

std::size_t focus_of(const Graph& graph, const End& end) { return odd_ones(graph, end).front(); }

Indices culprits_in(const Graph& graph, const End& end, const std::vector<Waiter>& waiters, HangKind kind) {
  if (kind == MismatchedCollective) return odd_ones(graph, end);
  if (kind != Livelock) return end;
  Indices culprits = end;
  for (const Waiter& each : waiters) {
    if (is_in_livelock(graph.threads[each.thread])) culprits.push_back(each.thread);
  }
  return culprits;
}

HangKind kind_of(const Graph& graph, const End& end, const std::vector<Waiter>& waiters) {
  if (std::all_of(end.begin(), end.end(), [&](auto each) { return is_in_livelock(graph.threads[each]); }))
    return Livelock;
  if (!is_cycle(graph, end)) return kind_of_single(graph, end.front(), waiters);
  const auto has_left = [&](std::size_t each) { return has_left_wait(graph.threads[each]); };
  return std::any_of(end.begin(), end.end(), has_left) ? Slow : kind_of_cycle(graph, end);
}

}  // namespace distrun::runner::doctor
