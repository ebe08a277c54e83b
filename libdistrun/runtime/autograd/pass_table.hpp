#pragma once
// The state of each node in a pass over a graph: the number of gradients to come, those that arrived, and who captures
// them. Built once before the pass, then of fixed size, so that entries keep their addresses.
#include <cstdint>
#include <memory>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// A gradient that a node will return, and that waits for those to be added before it.
struct Awaited {
  const Node* maker = nullptr;
  std::uint32_t result = 0;  // number of the maker's result
  std::uint32_t input = 0;   // input that it is added to
  bool is_there = false;
  Tensor gradient;
};

struct PassEntry {
  explicit PassEntry(Node* of) noexcept : node(of) {}

  Node* node;
  std::uint32_t dependencies = 0;  // gradients to come, feeds included
  std::uint32_t holds = 0;         // feeds from outside to come
  bool is_captured = false;        // its gradients are results of the pass
  bool is_needed = true;           // it must run: something that it leads to is wanted
  Gradients gradients;             // one for each input; empty until the first arrives
  std::vector<Awaited> awaited;    // in the order in which they are added; empty: in order of arrival
  std::uint32_t added = 0;         // number of awaited gradients added

  // Stores an awaited gradient.
  void bring(const Node& maker, std::size_t result, Tensor gradient);
  // Returns the next gradient to add and counts it as added; null if it has not arrived, or all are added.
  Awaited* next_to_add() noexcept {
    return added < awaited.size() && awaited[added].is_there ? &awaited[added++] : nullptr;
  }
};

using EntryIndex = std::uint32_t;

// Entries by the node's address: open addressing, half empty. One thread builds it; then it may be read by any.
class PassTable {
 public:
  static constexpr EntryIndex kNone = 0xffffffff;

  EntryIndex find(const Node* node) const noexcept;
  // Finds or creates the entry. Throws Error{Overloaded} for more nodes than an EntryIndex counts.
  EntryIndex at(Node* node);
  PassEntry& operator[](EntryIndex index) noexcept { return entries_[index]; }
  const PassEntry& operator[](EntryIndex index) const noexcept { return entries_[index]; }
  EntryIndex size() const noexcept { return static_cast<EntryIndex>(entries_.size()); }

  // Counts the edges to every node that is reachable from `start`, which gets an entry, too. Iterative. Nodes that have
  // an entry already were counted before.
  void count_from(Node* start);
  // Restricts `is_needed` to nodes that lead to captured nodes.
  void need_captured_only();
  // Returns whether the entries' nodes are on several devices, the CPU included.
  bool is_spread() const noexcept;
  // Makes each entry await the gradients of needed nodes in the order in which one thread would run these nodes.
  void await_in_order();

 private:
  std::size_t slot_of(const Node* node) const noexcept;
  void grow();

  std::vector<PassEntry> entries_;
  std::vector<EntryIndex> slots_;
};

}  // namespace distrun::autograd
