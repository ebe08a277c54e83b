#include <distrun/runner/evidence/waits/wait_edges.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace distrun::evidence {
namespace {

// Returns whether the wait for one descriptor may end by an event that no other process here causes. An event loop that
// holds the other end itself keeps it for its own signal handlers and threads.
bool is_open(const Connections& all, const Blocked& blocked, const Watch& watch) {
  const pid_t pid = blocked.pid;
  const Descriptor* descriptor = all.descriptor(pid, watch.fd);
  if (descriptor == nullptr) return true;
  if (descriptor->kind == DescriptorKind::Pidfd) return false;
  const Connection* connection = all.find(pid, watch.fd);
  if (connection == nullptr || connection->remote) return true;
  for (const bool reads : {true, false}) {
    if (!(reads ? watch.reads : watch.writes)) continue;
    const std::vector<pid_t> pids = other_side(all, pid, watch.fd, reads);
    const bool has_itself = std::find(pids.begin(), pids.end(), pid) != pids.end();
    if (pids.empty() || (blocked.polls && has_itself)) return true;
  }
  return false;
}

std::string reason(const Connections& all, const Blocked& blocked) {
  std::string text = blocked.call;
  if (blocked.kind == BlockKind::FileLock || blocked.kind == BlockKind::Futex) return text + " for " + blocked.lock;
  if (blocked.kind != BlockKind::Descriptors || blocked.fds.size() != 1) return text;
  const Connection* connection = all.find(blocked.pid, blocked.fds[0].fd);
  if (connection == nullptr) return text;
  return text + (blocked.fds[0].reads ? " from " : " to ") + describe(*connection);
}

bool waits_for_processes(BlockKind kind) {
  return kind == BlockKind::Descriptors || kind == BlockKind::Child || kind == BlockKind::FileLock ||
         kind == BlockKind::Futex;
}

// Depth-first search over edges with a single target. Reaching a process of the current path again is a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const std::vector<WaitEdge>& edges) : edges_(edges) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].any_of.size() == 1 && !edges[i].open) from_[edges[i].pid].push_back(i);
    }
  }

  std::vector<std::vector<std::size_t>> run() {
    for (const auto& [pid, unused] : from_) visit(pid);
    return std::move(cycles_);
  }

 private:
  // Recurses at most as deep as there are requested processes, a thousand.
  void visit(pid_t pid) {
    if (!seen_.insert(pid).second) return;
    on_way_.insert(pid);
    const auto edges = from_.find(pid);
    std::set<pid_t> targets;  // many threads may wait for the same process
    for (const std::size_t edge : edges == from_.end() ? std::vector<std::size_t>{} : edges->second) {
      const pid_t next = edges_[edge].any_of[0];
      if (!targets.insert(next).second) continue;
      way_.push_back(edge);
      if (on_way_.contains(next))
        keep_from(next);
      else
        visit(next);
      way_.pop_back();
    }
    on_way_.erase(pid);
  }

  void keep_from(pid_t pid) {
    const auto start =
        std::find_if(way_.begin(), way_.end(), [&](std::size_t edge) { return edges_[edge].pid == pid; });
    std::vector<std::size_t> cycle(start, way_.end());
    const auto lowest = std::min_element(cycle.begin(), cycle.end(), [&](std::size_t one, std::size_t other) {
      return edges_[one].pid < edges_[other].pid;
    });
    std::rotate(cycle.begin(), lowest, cycle.end());
    cycles_.push_back(std::move(cycle));
  }

  const std::vector<WaitEdge>& edges_;
  std::map<pid_t, std::vector<std::size_t>> from_;
  std::set<pid_t> seen_;
  std::set<pid_t> on_way_;
  std::vector<std::size_t> way_;
  std::vector<std::vector<std::size_t>> cycles_;
};

}  // namespace

bool may_end_otherwise(const Connections& all, const Blocked& blocked) {
  if (blocked.bounded || blocked.may_be_bounded || blocked.state == 'R') return true;
  return std::any_of(blocked.fds.begin(), blocked.fds.end(),
                     [&](const Watch& watch) { return is_open(all, blocked, watch); });
}

std::vector<WaitEdge> wait_edges(const Connections& all, const std::vector<Blocked>& blocked) {
  std::map<pid_t, int> threads;
  for (const Blocked& thread : blocked) ++threads[thread.pid];
  std::vector<WaitEdge> edges;
  for (const Blocked& thread : blocked) {
    if (thread.peers.empty() || !waits_for_processes(thread.kind)) continue;
    WaitEdge edge;
    edge.pid = thread.pid;
    edge.tid = thread.tid;
    edge.any_of = thread.peers;
    edge.holds_other_end = std::erase(edge.any_of, thread.pid) != 0;
    edge.open = may_end_otherwise(all, thread);
    edge.alone = threads[thread.pid] == 1;
    edge.because = reason(all, thread);
    edges.push_back(std::move(edge));
  }
  return edges;
}

bool waits_for_itself(const WaitEdge& edge) { return edge.holds_other_end && edge.any_of.empty() && !edge.open; }

std::vector<std::vector<std::size_t>> wait_cycles(const std::vector<WaitEdge>& edges) {
  return CycleSearch(edges).run();
}

std::vector<pid_t> wait_knot(const std::vector<WaitEdge>& edges) {
  std::map<pid_t, const WaitEdge*> stuck;
  for (const WaitEdge& edge : edges) {
    if (edge.alone && !edge.open && !edge.any_of.empty()) stuck[edge.pid] = &edge;
  }
  const auto has_way_out = [&](const auto& entry) {
    const std::vector<pid_t>& others = entry.second->any_of;
    return !std::all_of(others.begin(), others.end(), [&](pid_t pid) { return stuck.contains(pid); });
  };
  while (std::erase_if(stuck, has_way_out) != 0) {
  }
  std::vector<pid_t> pids;
  for (const auto& [pid, unused] : stuck) pids.push_back(pid);
  return pids;
}

std::vector<WaitRoot> wait_roots(const std::vector<WaitEdge>& edges) {
  std::map<pid_t, std::set<pid_t>> waits_for_it;
  std::set<pid_t> waiting;
  for (const WaitEdge& edge : edges) {
    if (edge.open) continue;
    waiting.insert(edge.pid);
    if (edge.any_of.size() == 1) waits_for_it[edge.any_of[0]].insert(edge.pid);
  }
  std::vector<WaitRoot> roots;
  for (const auto& [pid, unused] : waits_for_it) {
    if (waiting.contains(pid)) continue;
    std::set<pid_t> found;
    std::vector<pid_t> next{pid};
    while (!next.empty()) {
      const auto at = waits_for_it.find(next.back());
      next.pop_back();
      if (at == waits_for_it.end()) continue;
      for (const pid_t waiter : at->second) {
        if (found.insert(waiter).second) next.push_back(waiter);
      }
    }
    roots.push_back({pid, {found.begin(), found.end()}});
  }
  return roots;
}

}  // namespace distrun::evidence
