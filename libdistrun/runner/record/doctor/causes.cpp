#include <distrun/runner/record/doctor/causes.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/doctor/chain.hpp>
#include <distrun/runner/record/doctor/kinds.hpp>
#include <distrun/runner/record/doctor/things.hpp>

namespace distrun::runner::doctor {
namespace {

std::string label_of(const Thread& thread) {
  if (thread.tid == 0) return "";
  return std::to_string(thread.tid) + (thread.name.empty() ? "" : " (" + base::one_line(thread.name) + ")");
}

// A rank that had ended in the earlier snapshot already proves the hang of a thread that waits only for it.
bool is_proven(const Graph& graph, const std::vector<bool>& stuck, const End& end, const std::vector<Waiter>& waiters) {
  if (!graph.has_earlier) return false;
  const auto is_stuck = [&](std::size_t each) { return stuck[each] && graph.threads[each].unchanged; };
  if (graph.threads[end.front()].doing != Doing::Ended) return std::all_of(end.begin(), end.end(), is_stuck);
  return graph.threads[end.front()].unchanged &&
         std::any_of(waiters.begin(), waiters.end(), [&](const Waiter& each) { return is_stuck(each.thread); });
}

// Returns whether one of the threads runs a body and can never continue. Threads in the background that block each
// other keep no rank from its end; that a body waits for them may be no more than a guess.
bool holds_body(const Graph& graph, const std::vector<bool>& stuck, const End& end,
                const std::vector<Waiter>& waiters) {
  const auto is_held = [&](std::size_t each) {
    const Thread& thread = graph.threads[each];
    return thread.is_body && stuck[each] && thread.unchanged && thread.doing != Doing::Ended;
  };
  return std::any_of(end.begin(), end.end(), is_held) ||
         std::any_of(waiters.begin(), waiters.end(), [&](const Waiter& each) { return is_held(each.thread); });
}

std::vector<int> ranks_of(const Graph& graph, const Indices& threads) {
  std::set<int> ranks;
  for (const std::size_t each : threads) {
    const int rank = graph.threads[each].of_rank;
    if (rank >= 0) ranks.insert(rank);
  }
  return {ranks.begin(), ranks.end()};
}

std::vector<int> victims_of(const Graph& graph, const End& end, const std::vector<Waiter>& waiters,
                            const std::vector<int>& culprits) {
  Indices threads = end;
  for (const Waiter& each : waiters) threads.push_back(each.thread);
  std::vector<int> ranks = ranks_of(graph, threads);
  std::erase_if(ranks, [&](int rank) { return std::binary_search(culprits.begin(), culprits.end(), rank); });
  return ranks;
}

base::Nanoseconds waited(const Graph& graph, std::size_t thread) {
  const std::optional<Wait>& wait = graph.threads[thread].wait;
  return base::Nanoseconds(wait && wait->since_ns > 0 ? std::max<std::int64_t>(graph.at_ns - wait->since_ns, 0) : 0);
}

// A cycle has lasted since the last of its waits began.
base::Nanoseconds lasted(const Graph& graph, const End& end, const std::vector<Waiter>& waiters) {
  base::Nanoseconds shortest = base::Nanoseconds::max();
  for (const std::size_t each : end) shortest = std::min(shortest, waited(graph, each));
  if (shortest.count() > 0) return shortest;
  base::Nanoseconds longest{};
  for (const Waiter& each : waiters) longest = std::max(longest, waited(graph, each.thread));
  return longest;
}

void add_messages(HangCause& cause, const Graph& graph, const End& end) {
  for (const std::size_t each : end) {
    const Thread& thread = graph.threads[each];
    if (thread.sent.empty() || thread.rank < 0) continue;
    std::string text = graph.hosts.label(thread.rank) + " sent last: ";
    for (std::size_t i = 0; i < thread.sent.size(); ++i) text += (i == 0 ? "" : ", ") + thread.sent[i];
    cause.evidence.push_back(text);
  }
}

void add_evidence(HangCause& cause, const Graph& graph, const End& end) {
  if (!cause.victims.empty()) {
    const bool is_one = cause.victims.size() == 1;
    cause.evidence.push_back(graph.hosts.label(cause.victims) + (is_one ? " waits" : " wait") + " for it");
  }
  for (const std::size_t each : end) {
    const std::optional<Wait>& wait = graph.threads[each].wait;
    if (wait && !wait->note.empty()) cause.evidence.push_back(graph.things[wait->thing].name + ": " + wait->note);
  }
  if (cause.certainty == Certainty::Proven) {
    cause.evidence.emplace_back("the same waits were seen in two snapshots, and nothing else can end them");
  }
  const bool is_about_messages = cause.kind == HangKind::UnsentMessage || cause.kind == HangKind::Deadlock;
  if (is_about_messages) add_messages(cause, graph, end);
}

const char* refutation_of(HangKind kind) {
  switch (kind) {
    case HangKind::Spinning: return "its rank makes progress, or a later sample finds it in another function";
    case HangKind::Livelock: return "the loop ends after a bounded number of messages";
    case HangKind::Stopped:
    case HangKind::Traced: return "it is continued";
    case HangKind::StuckInKernel: return "a later snapshot finds it in another state";
    case HangKind::Slow: return "a later snapshot finds it in the same place without progress";
    case HangKind::LostNotification: return "a signal handler, a thread that was not seen or another process wakes it";
    case HangKind::Unknown: return "";
    default: return "a later snapshot finds that one of the threads has moved";
  }
}

void add_doubts(HangCause& cause, const Graph& graph, const End& end) {
  if (cause.certainty == Certainty::Proven) return;
  for (const std::size_t each : end) {
    const std::optional<Wait>& wait = graph.threads[each].wait;
    if (!wait || !wait->open) continue;
    const std::string text = graph.things[wait->thing].name + " ends: " + wait->why_open;
    const auto& known = cause.contradicted_by;
    if (std::find(known.begin(), known.end(), text) == known.end()) cause.contradicted_by.push_back(text);
  }
  const std::string text = refutation_of(cause.kind);
  if (!text.empty()) cause.contradicted_by.push_back(text);
}

// A cause that concerns bodies is proven only if one of them can never continue.
enum class About : std::uint8_t { Bodies, Threads };

HangCause cause_of(const Graph& graph, const std::vector<bool>& stuck, const End& end, About about) {
  const std::vector<Waiter> waiters = waiters_of(graph, end);
  const std::size_t focus = focus_of(graph, end);
  const Thread& thread = graph.threads[focus];
  HangCause cause;
  cause.kind = kind_of(graph, end, waiters);
  cause.ranks = ranks_of(graph, culprits_in(graph, end, waiters, cause.kind));
  cause.victims = victims_of(graph, end, waiters, cause.ranks);
  const bool concerns = about == About::Threads || holds_body(graph, stuck, end, waiters);
  if (concerns && is_proven(graph, stuck, end, waiters)) {
    cause.certainty = Certainty::Proven;
  } else if (cause.kind != HangKind::Unknown) {
    cause.certainty = Certainty::Likely;
  }
  cause.hosts = graph.hosts;
  cause.rank = thread.rank;
  cause.pid = thread.pid;
  cause.tid = thread.tid;
  cause.thread = label_of(thread);
  cause.place = thread.place;
  cause.lasted = lasted(graph, end, waiters);
  cause.chain = chain_of(graph, end, focus, waiters);
  add_evidence(cause, graph, end);
  add_doubts(cause, graph, end);
  return cause;
}

// Returns the smallest first. A cause that others wait for comes before one that only hangs itself.
auto order_of(const HangCause& cause) {
  const bool is_known = cause.kind != HangKind::Unknown;
  const int first = cause.ranks.empty() ? 1 << 30 : cause.ranks.front();
  return std::make_tuple(!cause.is_deadlock(), cause.victims.empty(), !is_known,
                         -static_cast<int>(cause.victims.size()), first, cause.tid);
}

// Joins causes that differ only in their ranks: several ranks that do the same.
bool try_join(HangCause& to, const HangCause& from) {
  const auto is_single = [](const HangCause& cause) { return cause.chain.size() == 1 && cause.victims.empty(); };
  if (to.kind != from.kind || to.certainty != from.certainty || !is_single(to) || !is_single(from)) return false;
  ChainLink& link = to.chain.front();
  const ChainLink& other = from.chain.front();
  const bool is_alike = link.does == other.does && link.place == other.place && link.thread == other.thread;
  if (!is_alike || link.ranks.empty() || other.ranks.empty()) return false;
  to.ranks.insert(to.ranks.end(), from.ranks.begin(), from.ranks.end());
  link.ranks.insert(link.ranks.end(), other.ranks.begin(), other.ranks.end());
  link.pid = link.tid = 0;
  link.host.clear();
  return true;
}

std::vector<HangCause> ranked(std::vector<HangCause> causes) {
  std::stable_sort(causes.begin(), causes.end(),
                   [](const HangCause& a, const HangCause& b) { return order_of(a) < order_of(b); });
  std::vector<HangCause> joined;
  for (HangCause& cause : causes) {
    const auto is_joined = [&](HangCause& earlier) { return try_join(earlier, cause); };
    if (!std::any_of(joined.begin(), joined.end(), is_joined)) joined.push_back(std::move(cause));
  }
  // That a rank shows no wait says nothing more if one of its threads is a cause.
  const auto is_told = [&](const HangCause& cause) {
    return cause.kind == HangKind::Unknown && cause.victims.empty() && &cause != &joined.front() &&
           std::any_of(joined.begin(), joined.end(), [&](const HangCause& other) {
             return other.kind != HangKind::Unknown && other.ranks == cause.ranks;
           });
  };
  std::vector<HangCause> told;
  std::copy_if(joined.begin(), joined.end(), std::back_inserter(told),
               [&](const HangCause& cause) { return !is_told(cause); });
  if (told.size() > kCausesMax) told.resize(kCausesMax);
  return told;
}

Indices roots_of(const Graph& graph, const std::vector<int>& late) {
  Indices roots;
  for (const std::size_t body : graph.bodies) {
    const Thread& thread = graph.threads[body];
    const bool is_wanted = std::find(late.begin(), late.end(), thread.rank) != late.end();
    if (is_wanted || (late.empty() && thread.of_rank == thread.rank)) roots.push_back(body);
  }
  return roots;
}

// Returns the threads that are proven to hang, and that no root waits for.
Indices lost_threads(const Graph& graph, const std::vector<bool>& stuck, const std::vector<End>& reached) {
  std::vector<bool> known(graph.threads.size());
  for (const End& end : reached) {
    for (const std::size_t each : end) known[each] = true;
  }
  Indices lost;
  for (std::size_t i = 0; i < graph.threads.size(); ++i) {
    const Thread& thread = graph.threads[i];
    if (!known[i] && stuck[i] && thread.unchanged && !thread.is_own) lost.push_back(i);
  }
  return lost;
}

}  // namespace

Diagnosis diagnose(const Graph& graph, const std::vector<int>& late) {
  const std::vector<bool> stuck = stuck_threads(graph);
  const std::vector<End> ends = ends_from(graph, roots_of(graph, late));
  Diagnosis diagnosis;
  for (const End& end : ends) diagnosis.causes.push_back(cause_of(graph, stuck, end, About::Bodies));
  diagnosis.causes = ranked(std::move(diagnosis.causes));
  const std::set<End> told(ends.begin(), ends.end());
  for (const End& end : ends_from(graph, lost_threads(graph, stuck, ends))) {
    if (told.contains(end)) continue;
    HangCause note = cause_of(graph, stuck, end, About::Threads);
    if (note.certainty == Certainty::Proven) diagnosis.notes.push_back(std::move(note));
  }
  diagnosis.notes = ranked(std::move(diagnosis.notes));
  return diagnosis;
}

std::vector<HangCause> causes_of(const Graph& graph, const std::vector<int>& late) {
  return diagnose(graph, late).causes;
}

}  // namespace distrun::runner::doctor
