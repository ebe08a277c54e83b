#pragma once
// What a pass over a graph knows of each node: how many gradients are still to come, those that came, who wants to see
// them. Built once before the pass, then of fixed size, so that entries stay where they are.
#include <cstdint>
#include <memory>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

struct PassEntry {
  explicit PassEntry(Node* of) noexcept : node(of) {}

  Node* node;
  std::uint32_t dependencies = 0;  // gradients that are still to come, feedings among them
  std::uint32_t holds = 0;         // feedings from outside that are still to come
  bool is_captured = false;        // its gradients themselves are wanted
  bool is_needed = true;           // it must run: what it leads to is wanted
  Gradients gradients;             // one for each input; empty until the first comes
};

using EntryIndex = std::uint32_t;

// By the node's address: open addressing, half empty. One thread builds it; then any may read it.
class PassTable {
 public:
  static constexpr EntryIndex kNone = 0xffffffff;

  EntryIndex find(const Node* node) const noexcept;
  // Finds or makes it. Throws Error{Overloaded} for more nodes than an EntryIndex counts.
  EntryIndex at(Node* node);
  PassEntry& operator[](EntryIndex index) noexcept { return entries_[index]; }
  const PassEntry& operator[](EntryIndex index) const noexcept { return entries_[index]; }
  EntryIndex size() const noexcept { return static_cast<EntryIndex>(entries_.size()); }

  // Counts the edges to every node that can be reached from `start`, which gets an entry, too. Iterative. Nodes that
  // have an entry already were counted.
  void count_from(Node* start);
  // Needed is then what leads to captured nodes, and nothing else.
  void need_captured_only();

 private:
  std::size_t slot_of(const Node* node) const noexcept;
  void grow();

  std::vector<PassEntry> entries_;
  std::vector<EntryIndex> slots_;
};

}  // namespace distrun::autograd
