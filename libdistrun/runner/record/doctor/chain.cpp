#include <distrun/runner/record/doctor/chain.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/doctor/things.hpp>
#include <distrun/runner/record/doctor/wait_words.hpp>

namespace distrun::runner::doctor {
namespace {

std::string in_call(const Thread& thread) { return thread.call.empty() ? "" : " in " + thread.call; }

std::string does_without_wait(const Thread& thread) {
  switch (thread.doing) {
    case Doing::Unknown: return thread.has_shown ? "shows no wait" : "is in an unknown state";
    case Doing::Runs: return "runs";
    case Doing::Spins: return thread.of_rank < 0 ? "uses the CPU in one place" : "spins";
    case Doing::Waits: return "waits" + in_call(thread);
    case Doing::Sleeps: return "sleeps" + in_call(thread);
    case Doing::Stopped: return "is stopped (SIGSTOP)";
    case Doing::Traced: return "is stopped by a debugger";
    case Doing::InKernel: return "is in an uninterruptible sleep" + in_call(thread);
    case Doing::Ended: return "has ended";
    case Doing::Idle: return "has not begun the call";
  }
  return "";
}

// The call says nothing about a wait in a futex that is known to be a mutex, a condition variable and the like.
std::string does_in_wait(const Graph& graph, const Thread& thread) {
  const Wait& wait = *thread.wait;
  const Thing& thing = graph.things[wait.thing];
  const bool is_known_futex = thing.kind != ThingKind::Other && wait.call.starts_with("futex");
  if (!wait.on_board && is_known_futex) return "waits for " + base::one_line(thing.name);
  const bool is_named_alone = !wait.on_board && wait.call.empty();
  return (is_named_alone ? "waits for " : "waits in ") + waits_in(graph, thread);
}

const char* leads_by(const Graph& graph, const Wait& wait) {
  const ThingKind kind = graph.things[wait.thing].kind;
  if (wait.guessed) return ", possibly for ";
  if (wait.on_board) return " for ";
  if (is_lock(kind)) return ", held by ";
  if (is_channel(kind)) return ", with its other end in ";
  if (kind == ThingKind::Child || kind == ThingKind::Process || kind == ThingKind::ThreadEnd) return ": ";
  return ", which depends on ";
}

ChainLink link_of(const Graph& graph, std::size_t index) {
  const Thread& thread = graph.threads[index];
  ChainLink link;
  if (thread.rank >= 0) link.ranks = {thread.rank};
  link.pid = thread.pid;
  link.tid = thread.tid;
  if (const auto found = graph.machines.find(thread.host); found != graph.machines.end()) link.host = found->second;
  if (thread.rank < 0) {
    link.command = thread.command;
    link.of_rank = thread.of_rank;
  }
  if (!thread.is_body && thread.doing != Doing::Idle) {
    link.thread = thread.name.empty() ? "thread" : thread.name;
  }
  link.does = does(graph, thread);
  link.place = thread.place;
  if (thread.wait && !thread.wait->next.empty()) link.leads = leads_by(graph, *thread.wait);
  return link;
}

// Returns whether both bodies wait for the same thing, in the same place, and for the same next thread.
bool is_alike(const Graph& graph, std::size_t one, std::size_t other, std::size_t next) {
  const Thread& a = graph.threads[one];
  const Thread& b = graph.threads[other];
  if (!a.is_body || !b.is_body || a.rank < 0 || b.rank < 0 || !a.wait || !b.wait) return false;
  const Thing& first = graph.things[a.wait->thing];
  const Thing& second = graph.things[b.wait->thing];
  const Indices& to = b.wait->next;
  const bool is_same = first.kind == second.kind && first.name == second.name && a.place == b.place;
  return is_same && std::find(to.begin(), to.end(), next) != to.end();
}

// Adds the ranks among `others` that wait like `index` for `next`.
void fold(const Graph& graph, ChainLink& link, std::size_t index, std::size_t next, const Indices& others) {
  std::set<int> ranks(link.ranks.begin(), link.ranks.end());
  for (const std::size_t other : others) {
    if (other != index && is_alike(graph, index, other, next)) ranks.insert(graph.threads[other].rank);
  }
  if (ranks.size() > 1) {
    link.pid = link.tid = 0;
    link.host.clear();
  }
  link.ranks.assign(ranks.begin(), ranks.end());
}

// Returns the members of the cycle in the order in which they wait for each other: the shortest way from `focus` back
// to it.
Indices way_round(const Graph& graph, const End& end, std::size_t focus) {
  const std::set<std::size_t> members(end.begin(), end.end());
  std::map<std::size_t, std::size_t> from;
  Indices reached{focus};
  for (std::size_t at = 0; at < reached.size() && !from.contains(focus); ++at) {
    for (const std::size_t next : graph.threads[reached[at]].wait->next) {
      if (members.contains(next) && from.try_emplace(next, reached[at]).second) reached.push_back(next);
    }
  }
  Indices way{focus};
  for (std::size_t at = from.at(focus); at != focus; at = from.at(at)) way.push_back(at);
  std::reverse(way.begin() + 1, way.end());
  return way;
}

std::vector<ChainLink> round_of(const Graph& graph, const End& end, std::size_t focus) {
  const Indices way = way_round(graph, end, focus);
  std::vector<ChainLink> links;
  for (std::size_t i = 0; i < way.size() && i < kLinksMax; ++i) {
    links.push_back(link_of(graph, way[i]));
    if (way.size() > 1) fold(graph, links.back(), way[i], way[(i + 1) % way.size()], end);
  }
  links.push_back(links.front());
  links.back().does.clear();
  links.back().leads.clear();
  return links;
}

Indices threads_of(const std::vector<Waiter>& waiters) {
  Indices threads;
  for (const Waiter& each : waiters) threads.push_back(each.thread);
  return threads;
}

// Returns the way from the farthest waiter to the end, both included.
Indices way_to(const End& end, const std::vector<Waiter>& waiters) {
  std::map<std::size_t, std::size_t> next;
  for (const Waiter& each : waiters) next[each.thread] = each.next;
  Indices way;
  std::size_t at = waiters.empty() ? end.front() : waiters.back().thread;
  for (auto found = next.find(at); found != next.end(); found = next.find(at)) {
    way.push_back(at);
    at = found->second;
  }
  way.push_back(at);
  if (way.size() > kLinksMax) way.erase(way.begin(), way.end() - kLinksMax);
  return way;
}

std::string with_handler(const Thread& thread, std::string text) {
  return thread.handler.empty() ? text : "runs " + thread.handler + " and " + text;
}

}  // namespace

std::string does(const Graph& graph, const Thread& thread) {
  std::string text = thread.wait ? does_in_wait(graph, thread) : does_without_wait(thread);
  text = with_handler(thread, std::move(text));
  const bool is_elsewhere = thread.is_body && thread.rank >= 0 && thread.phase != wire::Phase::Body;
  return is_elsewhere && thread.doing != Doing::Ended ? text + " in " + wire::name_of(thread.phase) : text;
}

std::vector<ChainLink> chain_of(const Graph& graph, const End& end, std::size_t focus,
                                const std::vector<Waiter>& waiters) {
  const bool is_round = graph.threads[focus].wait && !graph.threads[focus].wait->next.empty();
  if (is_round) return round_of(graph, end, focus);
  const Indices way = way_to(end, waiters);
  const Indices others = threads_of(waiters);
  std::vector<ChainLink> links;
  for (std::size_t i = 0; i < way.size(); ++i) {
    links.push_back(link_of(graph, way[i]));
    if (i + 1 < way.size()) fold(graph, links.back(), way[i], way[i + 1], others);
  }
  return links;
}

}  // namespace distrun::runner::doctor
