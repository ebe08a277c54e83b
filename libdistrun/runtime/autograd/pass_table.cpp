#include <distrun/runtime/autograd/pass_table.hpp>

#include <algorithm>
#include <bit>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::autograd {
namespace {

constexpr std::size_t kSlotsFirst = 16;

}  // namespace

void PassEntry::bring(const Node& maker, std::size_t result, Tensor gradient) {
  const auto is_it = [&](const Awaited& each) { return each.maker == &maker && each.result == result; };
  const auto it = std::find_if(awaited.begin() + added, awaited.end(), is_it);
  DISTRUN_ASSERT(it != awaited.end());
  it->gradient = std::move(gradient);
  it->is_there = true;
}

// Returns the node's slot, or the free slot for it.
std::size_t PassTable::slot_of(const Node* node) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(node) >> 4;
  const int shift = 64 - std::countr_zero(slots_.size());
  std::size_t slot = (address * 0x9e3779b97f4a7c15ULL) >> shift;
  while (slots_[slot] != kNone && entries_[slots_[slot]].node != node) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

EntryIndex PassTable::find(const Node* node) const noexcept { return slots_.empty() ? kNone : slots_[slot_of(node)]; }

EntryIndex PassTable::at(Node* node) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  const std::size_t slot = slot_of(node);
  if (slots_[slot] != kNone) return slots_[slot];
  if (entries_.size() >= kNone - 1) {
    throw Error(ErrorKind::Overloaded, "a backward pass takes " + std::to_string(kNone - 1) + " nodes at most");
  }
  entries_.emplace_back(node);
  return slots_[slot] = static_cast<EntryIndex>(entries_.size() - 1);
}

void PassTable::grow() {
  slots_.assign(slots_.empty() ? kSlotsFirst : 2 * slots_.size(), kNone);
  for (EntryIndex i = 0; i < size(); ++i) slots_[slot_of(entries_[i].node)] = i;
}

void PassTable::count_from(Node* start) {
  const EntryIndex first = size();
  if (at(start) < first) return;
  // New entries are at the end: they serve as the list of nodes still to visit.
  for (EntryIndex next = first; next < size(); ++next) {
    for (const Edge& edge : entries_[next].node->next_edges()) {
      if (edge) ++entries_[at(edge.node.get())].dependencies;
    }
  }
}

bool PassTable::is_spread() const noexcept {
  const auto device_of = [](const PassEntry& entry) {
    return entry.node->is_on_gpu() ? entry.node->inputs()[0].device : device::kCpu;
  };
  for (const PassEntry& each : entries_) {
    if (device_of(each) != device_of(entries_.front())) return true;
  }
  return false;
}

// Nodes of one thread run in the reverse order of their creation, since the gradients that a node needs come from nodes
// created after it.
void PassTable::await_in_order() {
  for (const PassEntry& maker : entries_) {
    if (!maker.is_needed) continue;
    const Edges& edges = maker.node->next_edges();
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      if (!edges[i]) continue;
      PassEntry& entry = entries_[find(edges[i].node.get())];
      if (entry.is_needed || entry.is_captured) entry.awaited.push_back({maker.node, i, edges[i].input, false, {}});
    }
  }
  const auto runs_before = [](const Awaited& a, const Awaited& b) {
    const Node &first = *a.maker, &second = *b.maker;
    return first.sequence() != second.sequence() ? first.sequence() > second.sequence()
                                                 : first.thread() < second.thread();
  };
  for (PassEntry& entry : entries_) std::stable_sort(entry.awaited.begin(), entry.awaited.end(), runs_before);
}

// Visits successors first, with an explicit stack.
void PassTable::need_captured_only() {
  struct Visit {
    EntryIndex entry;
    std::size_t next_edge;
  };
  for (PassEntry& entry : entries_) entry.is_needed = false;
  std::vector<bool> is_visited(entries_.size());
  std::vector<Visit> stack;
  const auto learn = [this](EntryIndex from, EntryIndex to) {
    if (entries_[to].is_needed || entries_[to].is_captured) entries_[from].is_needed = true;
  };
  for (EntryIndex start = 0; start < size(); ++start) {
    if (is_visited[start]) continue;
    is_visited[start] = true;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      Visit& visit = stack.back();
      const Edges& edges = entries_[visit.entry].node->next_edges();
      if (visit.next_edge == edges.size()) {
        const EntryIndex done = visit.entry;
        stack.pop_back();
        if (!stack.empty()) learn(stack.back().entry, done);
        continue;
      }
      const Edge& edge = edges[visit.next_edge++];
      if (!edge) continue;
      const EntryIndex next = find(edge.node.get());
      if (is_visited[next]) {
        learn(visit.entry, next);
      } else {
        is_visited[next] = true;
        stack.push_back({next, 0});
      }
    }
  }
}

}  // namespace distrun::autograd
