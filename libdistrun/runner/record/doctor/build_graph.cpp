#include <distrun/runner/record/doctor/build_graph.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/evidence/stacks/condition.hpp>
#include <distrun/runner/record/doctor/board_edges.hpp>
#include <distrun/runner/record/doctor/observed_edges.hpp>
#include <distrun/runner/record/doctor/roster.hpp>

namespace distrun::runner::doctor {
namespace {

// Returns whether its own process is one of those that may end the wait.
bool may_end_it(const Graph& graph, std::size_t thread) {
  const Indices& parties = graph.threads[thread].wait->parties;
  return std::any_of(parties.begin(), parties.end(), [&](std::size_t each) {
    const Indices& threads = graph.parties[each].threads;
    return std::find(threads.begin(), threads.end(), thread) != threads.end();
  });
}

// Returns whether another thread of the process may end a wait for this thing, though none is known to.
bool may_be_for_own_threads(const Graph& graph, std::size_t index) {
  const Thread& thread = graph.threads[index];
  if (!thread.wait) return thread.doing == Doing::Unknown;
  const ThingKind kind = graph.things[thread.wait->thing].kind;
  if (thread.wait->on_board) return kind != ThingKind::StoreKey && kind != ThingKind::Custom;
  if (may_end_it(graph, index)) return true;
  const bool is_futex = kind == ThingKind::Other && thread.wait->call == "futex";
  return thread.wait->parties.empty() && thread.wait->open && (is_signal(kind) || is_futex);
}

// Returns those of the threads that do not wait; all of them if each waits.
Indices likeliest(const Graph& graph, const Indices& threads) {
  Indices active;
  std::copy_if(threads.begin(), threads.end(), std::back_inserter(active),
               [&](std::size_t each) { return graph.threads[each].doing != Doing::Waits; });
  return active.empty() ? threads : active;
}

class Builder {
 public:
  Builder(const Snapshot& snapshot, Graph& graph)
      : snapshot_(snapshot),
        graph_(graph),
        roster_(snapshot, graph),
        things_(graph),
        board_(graph, roster_, things_),
        observed_(graph, roster_, things_) {}

  void run() {
    graph_.at_ns = snapshot_.at_ns;
    const std::size_t count = roster_.size();  // threads added from here on do not wait
    for (std::size_t i = 0; i < count; ++i) add_wait(i);
    for (std::size_t i = 0; i < count; ++i) describe(i);
    for (std::size_t i = 0; i < count; ++i) guess_own_threads(i);
    guess_key_writers();
  }

 private:
  void add_wait(std::size_t index) {
    const Seen& seen = roster_.seen(index);
    if (seen.stack != nullptr) graph_.threads[index].doing = doing_of(*seen.stack);
    if (roster_.is_stopped(graph_.threads[index].rank)) {
      graph_.threads[index].doing = graph_.threads[roster_.body(graph_.threads[index].rank)].doing;
      return;
    }
    std::optional<Wait> wait = board_.wait_of(index);
    if (!wait) wait = observed_.wait_of(index);
    if (!wait) return;
    Thread& thread = graph_.threads[index];
    thread.doing = Doing::Waits;
    thread.since_ns = wait->since_ns;
    thread.wait = std::move(wait);
  }

  void describe(std::size_t index) {
    Thread& thread = graph_.threads[index];
    const Seen& seen = roster_.seen(index);
    if (seen.handler != nullptr) thread.handler = board::describe(*seen.handler, graph_.hosts);
    if (seen.handler != nullptr && !thread.wait) thread.since_ns = seen.handler->since_ns;
    if (seen.stack != nullptr) thread.call = evidence::name_of_call(evidence::call_of(*seen.stack));
    if (seen.wait != nullptr && !seen.wait->file.empty() && thread.wait) {
      thread.place.file = seen.wait->file;
      thread.place.line = seen.wait->line;
    }
  }

  void guess_own_threads(std::size_t index) {
    const Thread& thread = graph_.threads[index];
    if (thread.wait && !thread.wait->next.empty()) return;
    if (roster_.is_stopped(thread.rank) || !may_be_for_own_threads(graph_, index)) return;
    Indices next;
    if (thread.is_body && thread.rank >= 0) next = board_.threads_for_others(thread.rank);
    if (next.empty() && thread.wait && !thread.wait->on_board) next = likeliest(graph_, other_user_threads(index));
    if (!next.empty()) return set_guess(index, std::move(next));
    if (is_for_itself(index)) graph_.threads[index].wait->next = {index};
  }

  // Its process, in which it is alone, holds the lock or the other end. A notification is not expected of its waiter.
  bool is_for_itself(std::size_t index) const {
    const std::optional<Wait>& wait = graph_.threads[index].wait;
    if (!wait || wait->on_board) return false;
    const ThingKind kind = graph_.things[wait->thing].kind;
    return (is_channel(kind) || is_lock(kind)) && may_end_it(graph_, index) && !shares_process(index);
  }

  bool shares_process(std::size_t index) const {
    const Indices threads = roster_.threads_in(graph_.threads[index].host, graph_.threads[index].pid);
    return std::any_of(threads.begin(), threads.end(),
                       [&](std::size_t each) { return graph_.threads[each].of_rank != graph_.threads[index].of_rank; });
  }

  // A body without a known stack may wait for its other threads.
  void set_guess(std::size_t index, Indices next) {
    std::optional<Wait>& wait = graph_.threads[index].wait;
    if (!wait) {
      wait.emplace();
      wait->thing = things_.add(ThingKind::Other, "its other threads", "");
      wait->why_open = "what it waits for is not known";
    }
    wait->next = std::move(next);
    wait->guessed = true;
  }

  // Where ranks are threads, it is not known which rank a further thread belongs to.
  Indices other_user_threads(std::size_t index) const {
    Indices others;
    for (const std::size_t each : roster_.threads_in(graph_.threads[index].host, graph_.threads[index].pid)) {
      const Thread& other = graph_.threads[each];
      const bool is_of_same = each != index && other.of_rank == graph_.threads[index].of_rank;
      if (is_of_same && !other.is_own && !other.place.function.empty()) others.push_back(each);
    }
    return others;
  }

  // A rank that does not wait may be the one that has yet to set the key.
  void guess_key_writers() {
    Indices idle;
    for (const std::size_t body : graph_.bodies) {
      const Thread& thread = graph_.threads[body];
      const bool is_idle = !thread.wait || (!thread.wait->on_board && thread.wait->next.empty());
      if (thread.rank >= 0 && is_idle) idle.push_back(body);
    }
    for (Thread& thread : graph_.threads) {
      const bool waits_for_key = thread.wait && graph_.things[thread.wait->thing].kind == ThingKind::StoreKey;
      if (!waits_for_key || !thread.wait->next.empty()) continue;
      thread.wait->next = idle;
      thread.wait->guessed = true;
    }
  }

  const Snapshot& snapshot_;
  Graph& graph_;
  Roster roster_;
  Things things_;
  BoardEdges board_;
  ObservedEdges observed_;
};

// A CPU time of 0 is unknown: every thread has used some. A thread that has been woken may not have run yet.
bool did_nothing(const Thread& now, const Thread& before) {
  return now.cpu_ns != 0 && now.cpu_ns == before.cpu_ns && !now.wants_cpu && !before.wants_cpu;
}

// The times of another machine are converted to this machine's clock, each time with another error.
bool began_together(const Thread& thread, std::int64_t one_ns, std::int64_t other_ns) {
  constexpr std::int64_t kErrorMax = 20'000'000;
  return one_ns == other_ns || (thread.host != 0 && one_ns - other_ns < kErrorMax && other_ns - one_ns < kErrorMax);
}

bool is_same_wait(const Graph& graph, const Thread& thread, const Graph& earlier, const Thread& before) {
  if (!thread.wait || !before.wait) return false;
  const Wait& one = *thread.wait;
  const Wait& other = *before.wait;
  const Thing& thing = graph.things[one.thing];
  const Thing& old = earlier.things[other.thing];
  const bool is_same_thing = thing.kind == old.kind && thing.name == old.name && thing.key == old.key;
  if (!is_same_thing || one.on_board != other.on_board || one.ranks != other.ranks) return false;
  if (!did_nothing(thread, before)) return false;
  if (one.on_board) return began_together(thread, one.since_ns, other.since_ns) && thread.epoch == before.epoch;
  return one.call == other.call && !thing.key.empty();
}

using ById = std::map<ThreadId, const Thread*>;
using Process = std::pair<int, int>;  // its machine, and its id there

// A message that has arrived is passed on by one of distrun's threads, which may not have had a CPU yet. Returns the
// processes in which one may be about to do so, or has done so.
std::set<Process> processes_with_messages(const Graph& graph, const ById& before) {
  std::set<Process> processes;
  for (const Thread& thread : graph.threads) {
    if (!thread.is_own) continue;
    const auto found = before.find(thread.id());
    if (found == before.end() || !did_nothing(thread, *found->second)) processes.insert({thread.host, thread.pid});
  }
  return processes;
}

// The last message of a rank that has ended since may be on its way: in the coordinator, or between two threads that
// have not seen it yet.
bool had_ended(const Graph& earlier, int rank) {
  return std::none_of(earlier.threads.begin(), earlier.threads.end(), [rank](const Thread& thread) {
    return thread.rank == rank && thread.is_body && thread.doing != Doing::Ended;
  });
}

// The conditions of the two snapshots that are compared.
struct Looks {
  bool times_are_later = false;     // those of the earlier one
  bool has_news_in_flight = false;  // the later one
};

void compare(Graph& graph, const Graph& earlier, const Looks& looks) {
  ById before;
  for (const Thread& thread : earlier.threads) {
    if (thread.tid != 0) before[thread.id()] = &thread;
  }
  graph.has_earlier = true;
  const std::set<Process> with_messages = processes_with_messages(graph, before);
  for (Thread& thread : graph.threads) {
    if (thread.doing == Doing::Ended) {
      thread.unchanged = thread.tid != 0 || had_ended(earlier, thread.rank);
      continue;
    }
    const auto found = before.find(thread.id());
    if (found == before.end()) continue;
    const bool has_news = looks.has_news_in_flight || with_messages.contains({thread.host, thread.pid});
    const bool may_get_message = thread.wait && thread.wait->on_board && has_news;
    thread.unchanged = is_same_wait(graph, thread, earlier, *found->second) && !may_get_message;
    thread.progressed = thread.progressed || thread.epoch != found->second->epoch;
    thread.moved = looks.times_are_later && found->second->cpu_ns != 0 && thread.cpu_ns != found->second->cpu_ns;
  }
}

}  // namespace

Graph graph_of(const Snapshot& now, const Snapshot* earlier) {
  Graph graph;
  Builder(now, graph).run();
  // Looks at different hosts may overlap if one of them is older than the request.
  if (earlier == nullptr || now.stacks.may_be_older) return graph;
  compare(graph, graph_of(*earlier), {earlier->stacks.times_are_later, now.has_news_in_flight});
  return graph;
}

}  // namespace distrun::runner::doctor
