#include <distrun/runner/record/wait_graph.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/evidence/stacks/condition.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

using board::WaitKind;
using Indices = std::vector<std::size_t>;

// Returns whether another rank does it, in a separate thread.
bool is_call(WaitKind kind) {
  return kind == WaitKind::RpcReply || kind == WaitKind::Future || kind == WaitKind::Backward ||
         kind == WaitKind::RrefConfirmation;
}

// Returns whether a wait that names no rank may be ended by another thread of the rank.
bool is_for_own_threads(WaitKind kind) { return kind != WaitKind::StoreGet && kind != WaitKind::Custom; }

bool may_wait_for_own_threads(const WaitNode& body) {
  if (body.wait != nullptr) return is_for_own_threads(body.wait->kind);
  return body.stack == nullptr || evidence::name_of_call(body.stack->task.syscall) == "futex";
}

// Tarjan's search for strongly connected components; keeps those that no edge leaves.
class EndSearch {
 public:
  explicit EndSearch(const std::vector<WaitNode>& nodes)
      : nodes_(nodes), found_(nodes.size()), lowest_(nodes.size()), component_(nodes.size()) {}

  // The depth of recursion is the number of threads in a chain of waits.
  void visit(std::size_t node) {
    if (found_[node] != 0) return;
    found_[node] = lowest_[node] = ++count_;
    way_.push_back(node);
    for (const std::size_t next : nodes_[node].next) {
      visit(next);
      if (component_[next] == 0) lowest_[node] = std::min(lowest_[node], lowest_[next]);
    }
    if (lowest_[node] == found_[node]) close(node);
  }
  std::vector<WaitEnd> take() { return std::move(ends_); }

 private:
  void close(std::size_t first) {
    ++components_;
    WaitEnd members(std::find(way_.begin(), way_.end(), first), way_.end());
    way_.resize(way_.size() - members.size());
    for (const std::size_t member : members) component_[member] = components_;
    const auto stays = [&](std::size_t member) {
      const Indices& next = nodes_[member].next;
      return std::all_of(next.begin(), next.end(), [&](std::size_t each) { return component_[each] == components_; });
    };
    if (std::all_of(members.begin(), members.end(), stays)) ends_.push_back(std::move(members));
  }

  const std::vector<WaitNode>& nodes_;
  std::vector<int> found_;  // order of discovery; 0: not yet
  std::vector<int> lowest_;
  std::vector<int> component_;  // 0: none yet
  int count_ = 0;
  int components_ = 0;
  Indices way_;
  std::vector<WaitEnd> ends_;
};

}  // namespace

WaitGraph::WaitGraph(const Snapshot& snapshot) : snapshot_(snapshot) {
  for (const RankView& view : snapshot.ranks) add_threads(view);
  for (const evidence::Process& process : snapshot.stacks.processes) add_stacks(process);
  const std::size_t count = nodes_.size();  // nodes added from here on do not wait
  for (std::size_t i = 0; i < count; ++i) {
    Indices next = next_of(i);
    nodes_[i].next = std::move(next);
  }
  // A rank that does not wait may be the one that has yet to set the key.
  const Indices idle = idle_bodies();
  for (WaitNode& node : nodes_) {
    const bool waits_for_key = node.wait != nullptr && node.wait->kind == WaitKind::StoreGet;
    if (waits_for_key && node.next.empty() && !is_stopped(node.rank)) node.next = idle;
  }
}

const WaitNode* WaitGraph::body_of(int rank) const {
  const auto found = places_.find({rank, kBody});
  return found == places_.end() ? nullptr : &nodes_[found->second];
}

std::vector<WaitEnd> WaitGraph::ends_from(const std::vector<int>& ranks) const {
  EndSearch search(nodes_);
  for (const int rank : ranks) {
    if (const auto body = places_.find({rank, kBody}); body != places_.end()) search.visit(body->second);
  }
  return search.take();
}

std::size_t WaitGraph::at(int rank, int thread) {
  const auto [place, is_new] = places_.try_emplace({rank, thread}, nodes_.size());
  if (is_new) nodes_.emplace_back().rank = rank;
  return place->second;
}

std::size_t WaitGraph::body_or_nobody(int rank) { return at(rank, places_.contains({rank, kBody}) ? kBody : kNobody); }

void WaitGraph::add_threads(const RankView& view) {
  WaitNode& body = nodes_[at(view.rank, kBody)];
  if (!view.shown) return;
  body_tids_[view.rank] = view.shown->body_tid;
  const auto set_wait = [&](WaitNode& node, const board::ShownWait* wait) {
    node.wait = wait;
    if (wait != nullptr) node.awaited = awaited(snapshot_.ranks, view.rank, *wait);
  };
  set_wait(body, board::wait_of_body(*view.shown));
  for (const board::ShownWait& wait : view.shown->waits) {
    if (wait.in_body) continue;
    WaitNode& thread = nodes_[at(view.rank, wait.tid)];
    if (wait.kind == WaitKind::Handler) thread.handler = &wait;
    set_wait(thread, board::wait_of_thread(*view.shown, wait));
  }
}

void WaitGraph::add_stacks(const evidence::Process& process) {
  if (!places_.contains({process.rank, kBody}) || process.threads.empty()) return;
  // A rank that shows nothing yet has not begun its body, which its main thread will run.
  const auto body = body_tids_.try_emplace(process.rank, process.threads.front().task.tid).first;
  for (const wire::ThreadStack& thread : process.threads) {
    const int key = thread.task.tid == body->second ? kBody : thread.task.tid;
    if (key == kBody && is_stopped_by_signal(thread)) stopped_.insert(process.rank);
    if (places_.contains({process.rank, key}) || !thread.waits_for.empty()) {
      nodes_[at(process.rank, key)].stack = &thread;
    }
  }
}

Indices WaitGraph::next_of(std::size_t index) {
  const WaitNode node = nodes_[index];  // a copy: nodes_ may grow meanwhile
  if (is_stopped(node.rank)) return {};
  Indices next;
  for (const int rank : node.awaited) {
    const Indices there =
        is_call(node.wait->kind) ? callees(node.rank, *node.wait, rank) : Indices{body_or_nobody(rank)};
    next.insert(next.end(), there.begin(), there.end());
  }
  if (next.empty()) next = stopped_peers(node);
  if (next.empty()) next = holder_of_mutex(node);
  const bool is_body = body_of(node.rank) == &nodes_[index];
  if (next.empty() && is_body && may_wait_for_own_threads(node)) next = threads_for_others(node.rank);
  return next;
}

// Parses the description of the mutex: "mutex 0x55... held by thread 4711 (worker)".
Indices WaitGraph::holder_of_mutex(const WaitNode& node) const {
  constexpr std::string_view kHeldBy = "held by thread ";
  if (node.wait != nullptr || node.stack == nullptr) return {};
  const std::string& text = node.stack->waits_for;
  const std::size_t at = text.find(kHeldBy);
  if (at == std::string::npos) return {};
  const int tid = std::atoi(text.c_str() + at + kHeldBy.size());
  const auto found = places_.find({node.rank, tid == body_tids_.at(node.rank) ? kBody : tid});
  return found == places_.end() ? Indices{} : Indices{found->second};
}

// All peers appear to be in the same barrier or collective, but a stopped one may still show an earlier round of it.
Indices WaitGraph::stopped_peers(const WaitNode& node) const {
  Indices stopped;
  if (node.wait == nullptr || node.wait->rule != board::PeerRule::All || !node.awaited.empty()) return stopped;
  for (const int peer : node.wait->peers) {
    if (is_stopped(peer)) stopped.push_back(places_.at({peer, kBody}));
  }
  return stopped;
}

// Returns threads of the rank that wait for other ranks on its behalf, not for a caller.
Indices WaitGraph::threads_for_others(int rank) const {
  Indices threads;
  for (auto place = places_.upper_bound({rank, kBody}); place != places_.end() && place->first.first == rank; ++place) {
    const WaitNode& node = nodes_[place->second];
    if (node.handler == nullptr && !node.awaited.empty()) threads.push_back(place->second);
  }
  return threads;
}

// Returns what the rank runs for the call. If nothing, what it runs for the caller, else for any rank: the requested
// value may come from an earlier call.
Indices WaitGraph::callees(int caller, const board::ShownWait& wait, int rank) {
  Indices same;
  Indices of_caller;
  Indices all;
  for (auto place = places_.lower_bound({rank, kBody}); place != places_.end() && place->first.first == rank; ++place) {
    const board::ShownWait* const handler = nodes_[place->second].handler;
    if (handler == nullptr) continue;
    all.push_back(place->second);
    if (handler->peers != std::vector<int>{caller}) continue;
    of_caller.push_back(place->second);
    if (wait.kind == WaitKind::RpcReply && handler->id == wait.id) same.push_back(place->second);
  }
  if (wait.kind == WaitKind::RrefConfirmation || all.empty()) return {at(rank, kNobody)};
  return !same.empty() ? same : !of_caller.empty() ? of_caller : all;
}

Indices WaitGraph::idle_bodies() const {
  Indices idle;
  for (const auto& [place, index] : places_) {
    const WaitNode& node = nodes_[index];
    const bool waits = node.wait != nullptr && !is_stopped(node.rank);
    if (place.second == kBody && !waits && node.next.empty()) idle.push_back(index);
  }
  return idle;
}

}  // namespace distrun::runner
