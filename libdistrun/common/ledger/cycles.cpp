// A value holds other values by the forks in it. A value that can reach itself this way is part of a cycle.
#include <algorithm>
#include <map>
#include <set>

#include <distrun/common/ledger/ledger.hpp>

namespace distrun::ledger {
namespace {

constexpr std::size_t kCyclesMax = 16;

using Graph = std::map<Id, std::vector<Id>>;  // the references that a value holds

Graph graph_of(const std::vector<Page>& pages) {
  Graph graph;
  for (const Page& page : pages) {
    std::map<Id, Id> rref_of;  // by fork; a value owned here is held as itself
    for (const HeldRow& held : page.held_rows) rref_of.emplace(held.fork, held.rref);
    for (const OwnedRow& owned : page.owned_rows) {
      for (const Id& fork : owned.holds) {
        const auto known = rref_of.find(fork);
        graph[owned.rref].push_back(known == rref_of.end() ? fork : known->second);
      }
    }
  }
  return graph;
}

// Returns the shortest path back to `start`; empty if there is no cycle.
std::vector<Id> cycle_from(const Graph& graph, const Id& start) {
  std::map<Id, Id> came_from;
  std::vector<Id> next{start};
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto held = graph.find(next[i]);
    if (held == graph.end()) continue;
    for (const Id& each : held->second) {
      if (each == start) {
        std::vector<Id> cycle{next[i]};
        while (cycle.back() != start) cycle.push_back(came_from.at(cycle.back()));
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      const Id from = next[i];
      if (came_from.emplace(each, from).second) next.push_back(each);
    }
  }
  return {};
}

}  // namespace

std::vector<std::vector<Id>> cycles_of(const std::vector<Page>& pages) {
  const Graph graph = graph_of(pages);
  std::vector<std::vector<Id>> cycles;
  std::set<Id> told;
  for (const auto& [start, held] : graph) {
    if (told.count(start) != 0 || cycles.size() == kCyclesMax) continue;
    std::vector<Id> cycle = cycle_from(graph, start);
    if (cycle.empty()) continue;
    told.insert(cycle.begin(), cycle.end());
    cycles.push_back(std::move(cycle));
  }
  return cycles;
}

}  // namespace distrun::ledger
