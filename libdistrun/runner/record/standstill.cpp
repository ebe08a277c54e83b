#include <distrun/runner/record/standstill.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/record/doctor/build_graph.hpp>
#include <distrun/runner/record/doctor/causes.hpp>
#include <distrun/runner/record/doctor/stuck.hpp>
#include <distrun/runner/record/doctor/wait_words.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

using doctor::Doing;
using doctor::End;
using doctor::Graph;
using doctor::Thread;

bool has(const std::vector<int>& ranks, int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); }

void add(std::vector<Standing>& all, int rank, const std::string& what, const std::vector<int>& awaited = {}) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Standing& each) { return each.what == what && each.awaited == awaited; });
  if (same == all.end()) {
    all.push_back({{rank}, what, awaited});
  } else if (!has(same->ranks, rank)) {
    same->ranks.push_back(rank);
  }
}

std::vector<int> ranks_of(const Graph& graph, const doctor::Indices& threads) {
  std::set<int> ranks;
  for (const std::size_t index : threads) {
    if (graph.threads[index].of_rank >= 0) ranks.insert(graph.threads[index].of_rank);
  }
  return {ranks.begin(), ranks.end()};
}

// Returns the ranks that the thread waits for, according to the board or to the kernel.
std::vector<int> awaited_by(const Graph& graph, const Thread& thread) {
  return thread.wait->on_board ? thread.wait->ranks : ranks_of(graph, thread.wait->next);
}

constexpr const char* kStopped = "stopped (SIGSTOP)";

// Describes a rank that waits for no other rank; empty if nothing is known.
std::string describe_end(const Graph& graph, const End& end) {
  if (end.size() > 1) return "its threads waiting for each other";
  const Thread& thread = graph.threads[end.front()];
  if (thread.doing == Doing::Stopped) return kStopped;
  const bool is_shown = thread.wait && thread.wait->on_board;
  const std::string waits_in = is_shown ? doctor::waits_in(graph, thread) : "";
  if (!thread.handler.empty()) {
    return "running " + thread.handler + (waits_in.empty() ? "" : ", which waits in " + waits_in);
  }
  if (!is_shown) return doctor::condition_of(graph, thread);
  return "waiting in " + waits_in + (has(thread.wait->ranks, thread.rank) ? " for itself" : "");
}

// Returns the thread of a rank that waits for these threads of other processes; nullptr if none is known.
const Thread* nearest_of_rank(const Graph& graph, const End& end) {
  for (const doctor::Waiter& each : doctor::waiters_of(graph, end)) {
    if (graph.threads[each.thread].of_rank >= 0) return &graph.threads[each.thread];
  }
  return nullptr;
}

// Blames a rank that waits for a process that is no rank.
void add_outside_end(Standstill& still, std::set<int>& causes, const Graph& graph, const End& end) {
  const Thread* const thread = nearest_of_rank(graph, end);
  if (thread == nullptr) return;
  causes.insert(thread->of_rank);
  const std::string what = doctor::condition_of(graph, *thread);
  if (!what.empty()) add(still.doing, thread->of_rank, what);
}

Circle circle_of(const Graph& graph, End end) {
  Circle circle{ranks_of(graph, end), {}};
  std::stable_sort(end.begin(), end.end(),
                   [&](std::size_t a, std::size_t b) { return graph.threads[a].of_rank < graph.threads[b].of_rank; });
  for (const std::size_t index : end) {
    const Thread& thread = graph.threads[index];
    if (thread.of_rank < 0 || !thread.wait) continue;
    const std::vector<int> awaited = awaited_by(graph, thread);
    const bool is_for_others = !awaited.empty() && awaited != std::vector<int>{thread.of_rank};
    if (is_for_others) add(circle.waits, thread.of_rank, doctor::waits_in(graph, thread), awaited);
  }
  return circle;
}

// If some ranks do not wait, cycles of other ranks are reported as waits.
void dissolve_circles(Standstill& still) {
  for (const Circle& circle : still.circles) {
    for (const Standing& wait : circle.waits) {
      for (const int rank : wait.ranks) {
        add(still.doing, rank, "waiting in " + wait.what + " for " + still.hosts.label(wait.awaited));
      }
    }
  }
  still.circles.clear();
}

void add_ends(Standstill& still, const Graph& graph, const std::vector<End>& ends) {
  std::set<int> causes;
  bool all_circles = true;
  for (const End& end : ends) {
    const std::vector<int> ranks = ranks_of(graph, end);
    causes.insert(ranks.begin(), ranks.end());
    if (ranks.size() > 1) {
      still.circles.push_back(circle_of(graph, end));
      continue;
    }
    all_circles = false;
    if (ranks.empty()) {
      add_outside_end(still, causes, graph, end);
      continue;
    }
    const std::string what = describe_end(graph, end);
    if (!what.empty()) add(still.doing, ranks.front(), what);
  }
  if (!all_circles) dissolve_circles(still);
  still.causes.assign(causes.begin(), causes.end());
}

// Adds what the other ranks wait in: the board's main wait, else what was observed of the body.
void add_waiting(Standstill& still, const Graph& graph, const Snapshot& snapshot) {
  for (const RankView& view : snapshot.ranks) {
    if (has(still.causes, view.rank)) continue;
    const board::ShownWait* const wait = view.shown ? board::main_wait(*view.shown) : nullptr;
    const Thread* const body = graph.body_of(view.rank);
    if (wait != nullptr) {
      add(still.waiting, view.rank, name_of_wait(*wait), awaited(snapshot.ranks, view.rank, *wait, snapshot.hosts));
    } else if (body != nullptr && body->wait && !body->wait->next.empty() && !body->wait->guessed) {
      add(still.waiting, view.rank, doctor::waits_in(graph, *body), awaited_by(graph, *body));
    }
  }
}

doctor::Indices bodies_of(const Graph& graph, const std::vector<int>& ranks) {
  doctor::Indices bodies;
  for (const int rank : ranks) {
    for (const std::size_t body : graph.bodies) {
      if (graph.threads[body].rank == rank) bodies.push_back(body);
    }
  }
  return bodies;
}

bool shows_boards(const Snapshot& snapshot) {
  return std::any_of(snapshot.ranks.begin(), snapshot.ranks.end(),
                     [](const RankView& view) { return view.shown.has_value(); });
}

// Programs show no waits: their ends count only if other threads are seen to wait for them, if they are cycles, or if
// they are stopped.
bool is_telling(const Graph& graph, const End& end) {
  const Doing doing = graph.threads[end.front()].doing;
  if (end.size() > 1 || doing == Doing::Stopped || doing == Doing::Traced || doing == Doing::InKernel) return true;
  if (graph.threads[end.front()].wait && !graph.threads[end.front()].wait->next.empty()) return true;
  return !doctor::waiters_of(graph, end).empty();
}

// Returns no causes if the snapshot does not tell any.
Standstill by_snapshot(const Snapshot& snapshot, const std::vector<int>& late) {
  const Graph graph = doctor::graph_of(snapshot);
  std::vector<End> ends = doctor::ends_from(graph, bodies_of(graph, late));
  if (!shows_boards(snapshot)) std::erase_if(ends, [&](const End& end) { return !is_telling(graph, end); });
  Standstill still;
  still.hosts = snapshot.hosts;
  if (ends.empty()) return still;
  add_ends(still, graph, ends);
  add_waiting(still, graph, snapshot);
  return still;
}

// The records tell which ranks wait, and in what, but not for which rank: assume for those that do not wait.
Standstill by_records(const AttemptRecord& attempt) {
  std::vector<int> late_at_work;
  std::vector<int> others_at_work;
  std::vector<int> late;
  Standstill still;
  still.hosts = hosts_of(attempt);
  for (const RankRecord& rank : attempt.ranks) {
    const bool is_late = rank.outcome.kind == OutcomeKind::TimedOut;
    if (is_late) late.push_back(rank.rank);
    if (!rank.waiting_in.empty()) continue;
    if (is_late) late_at_work.push_back(rank.rank);
    if (rank.outcome.kind == OutcomeKind::KilledByUs) others_at_work.push_back(rank.rank);
  }
  still.causes = !late_at_work.empty() ? late_at_work : !others_at_work.empty() ? others_at_work : late;
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.waiting_in.empty()) continue;
    const bool is_cause = has(still.causes, rank.rank);
    add(is_cause ? still.doing : still.waiting, rank.rank, (is_cause ? "waiting in " : "") + rank.waiting_in);
  }
  return still;
}

std::vector<int> late_ranks(const AttemptRecord& attempt) {
  std::vector<int> late;
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.outcome.kind == OutcomeKind::TimedOut) late.push_back(rank.rank);
  }
  return late;
}

// A snapshot that was taken before shows which ranks have made progress since. It proves nothing of threads that it
// stopped.
const Snapshot* snapshot_before(const AttemptRecord& attempt, const Snapshot& timeout) {
  const Snapshot* before = nullptr;
  for (const Snapshot& snapshot : attempt.snapshots) {
    if (&snapshot == &timeout) break;
    if (snapshot.kind == SnapshotKind::Slow || snapshot.kind == SnapshotKind::Asked) before = &snapshot;
  }
  return before;
}

}  // namespace

Standstill standstill_of(const AttemptRecord& attempt) {
  for (const Snapshot& snapshot : attempt.snapshots) {
    if (snapshot.kind != SnapshotKind::Timeout) continue;
    Standstill still = by_snapshot(snapshot, late_ranks(attempt));
    if (!still.causes.empty() || shows_boards(snapshot)) return still;
  }
  return by_records(attempt);
}

std::vector<HangCause> hang_causes_of(const AttemptRecord& attempt) {
  const std::vector<int> late = late_ranks(attempt);
  if (late.empty()) return {};
  for (const Snapshot& snapshot : attempt.snapshots) {
    if (snapshot.kind != SnapshotKind::Timeout) continue;
    return doctor::causes_of(doctor::graph_of(snapshot, snapshot_before(attempt, snapshot)), late);
  }
  return {};
}

}  // namespace distrun::runner
