#include <distrun/runner/record/standstill.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runner/record/snapshot.hpp>
#include <distrun/runner/record/wait_graph.hpp>

namespace distrun::runner {
namespace {

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

std::vector<int> ranks_of(const WaitGraph& graph, const WaitEnd& end) {
  std::set<int> ranks;
  for (const std::size_t index : end) ranks.insert(graph.node(index).rank);
  return {ranks.begin(), ranks.end()};
}

constexpr const char* kStopped = "stopped (SIGSTOP)";

std::string describe_condition(const WaitNode& thread) {
  if (thread.stack == nullptr) return "";
  if (thread.stack->motion == wire::Motion::Spinning) return "spinning";
  const bool locks_itself = thread.stack->waits_for.find("held by this thread itself") != std::string::npos;
  return locks_itself ? "waiting for a mutex that it already holds" : "";
}

// Describes a rank that waits for no other rank; empty if nothing is known.
std::string describe_end(const WaitGraph& graph, const WaitEnd& end) {
  if (end.size() > 1) return "its threads waiting for each other";
  const WaitNode& thread = graph.node(end.front());
  if (graph.is_stopped(thread.rank)) return kStopped;
  const std::string waits_in = thread.wait == nullptr ? "" : name_of_wait(*thread.wait);
  if (thread.handler != nullptr) {
    return "running " + board::describe(*thread.handler) + (waits_in.empty() ? "" : ", which waits in " + waits_in);
  }
  if (thread.wait == nullptr) return describe_condition(thread);
  return "waiting in " + waits_in + (has(thread.awaited, thread.rank) ? " for itself" : "");
}

Circle circle_of(const WaitGraph& graph, WaitEnd end) {
  Circle circle{ranks_of(graph, end), {}};
  std::stable_sort(end.begin(), end.end(),
                   [&](std::size_t a, std::size_t b) { return graph.node(a).rank < graph.node(b).rank; });
  for (const std::size_t index : end) {
    const WaitNode& node = graph.node(index);
    const bool is_for_others = !node.awaited.empty() && node.awaited != std::vector<int>{node.rank};
    if (is_for_others) add(circle.waits, node.rank, name_of_wait(*node.wait), node.awaited);
  }
  return circle;
}

// If some ranks do not wait, cycles of other ranks are reported as waits.
void dissolve_circles(Standstill& still) {
  for (const Circle& circle : still.circles) {
    for (const Standing& wait : circle.waits) {
      for (const int rank : wait.ranks) {
        add(still.doing, rank, "waiting in " + wait.what + " for " + base::ranks_label(wait.awaited));
      }
    }
  }
  still.circles.clear();
}

Standstill by_snapshot(const Snapshot& snapshot, const std::vector<int>& late) {
  const WaitGraph graph(snapshot);
  Standstill still;
  std::set<int> causes;
  bool all_circles = true;
  for (const WaitEnd& end : graph.ends_from(late)) {
    const std::vector<int> ranks = ranks_of(graph, end);
    causes.insert(ranks.begin(), ranks.end());
    if (ranks.size() > 1) {
      still.circles.push_back(circle_of(graph, end));
      continue;
    }
    all_circles = false;
    const std::string what = describe_end(graph, end);
    if (!what.empty()) add(still.doing, ranks.front(), what);
  }
  if (!all_circles) dissolve_circles(still);
  still.causes.assign(causes.begin(), causes.end());
  for (const RankView& view : snapshot.ranks) {
    const board::ShownWait* const wait =
        view.shown && !causes.contains(view.rank) ? board::main_wait(*view.shown) : nullptr;
    if (wait != nullptr) add(still.waiting, view.rank, name_of_wait(*wait), awaited(snapshot.ranks, view.rank, *wait));
  }
  return still;
}

// Returns the ranks that were stopped at the time of the snapshot; all that is known of programs.
std::vector<int> stopped_ranks(const Snapshot& snapshot) {
  std::set<int> ranks;
  for (const evidence::Process& process : snapshot.stacks.processes) {
    const bool is_stopped = !process.threads.empty() && is_stopped_by_signal(process.threads.front());
    if (is_stopped && process.rank >= 0) ranks.insert(process.rank);
  }
  return {ranks.begin(), ranks.end()};
}

// The records tell which ranks wait, and in what, but not for which rank: assume for those that do not wait.
Standstill by_records(const AttemptRecord& attempt, const std::vector<int>& stopped) {
  std::vector<int> late_at_work;
  std::vector<int> others_at_work;
  std::vector<int> late;
  Standstill still;
  for (const RankRecord& rank : attempt.ranks) {
    const bool is_late = rank.outcome.kind == OutcomeKind::TimedOut;
    if (is_late) late.push_back(rank.rank);
    if (!rank.waiting_in.empty()) continue;
    if (is_late) late_at_work.push_back(rank.rank);
    if (rank.outcome.kind == OutcomeKind::KilledByUs) others_at_work.push_back(rank.rank);
  }
  still.causes = !stopped.empty()          ? stopped
                 : !late_at_work.empty()   ? late_at_work
                 : !others_at_work.empty() ? others_at_work
                                           : late;
  for (const int rank : stopped) add(still.doing, rank, kStopped);
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.waiting_in.empty() || has(stopped, rank.rank)) continue;
    const bool is_cause = has(still.causes, rank.rank);
    add(is_cause ? still.doing : still.waiting, rank.rank, (is_cause ? "waiting in " : "") + rank.waiting_in);
  }
  return still;
}

}  // namespace

Standstill standstill_of(const AttemptRecord& attempt) {
  std::vector<int> late;
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.outcome.kind == OutcomeKind::TimedOut) late.push_back(rank.rank);
  }
  std::vector<int> stopped;
  for (const Snapshot& snapshot : attempt.snapshots) {
    const auto has_shown = [](const RankView& view) { return view.shown.has_value(); };
    const bool tells = std::any_of(snapshot.ranks.begin(), snapshot.ranks.end(), has_shown);
    if (snapshot.kind == SnapshotKind::Timeout && tells) return by_snapshot(snapshot, late);
    if (snapshot.kind == SnapshotKind::Timeout) stopped = stopped_ranks(snapshot);
  }
  return by_records(attempt, stopped);
}

}  // namespace distrun::runner
