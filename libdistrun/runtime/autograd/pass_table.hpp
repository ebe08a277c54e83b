#pragma once
// What a pass over a graph knows of each node: how many gradients are still to come, those that came, who wants to see
// them. Built once before the pass, then of fixed size, so that entries stay where they are.
#include <cstdint>
#include <memory>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// A gradient that some node will make, and that waits for those which are to be added before it.
struct Awaited {
  const Node* maker = nullptr;
  std::uint32_t result = 0;  // of the maker
  std::uint32_t input = 0;   // that it is added to
  bool is_there = false;
  Tensor gradient;
};

struct PassEntry {
  explicit PassEntry(Node* of) noexcept : node(of) {}

  Node* node;
  std::uint32_t dependencies = 0;  // gradients that are still to come, feedings among them
  std::uint32_t holds = 0;         // feedings from outside that are still to come
  bool is_captured = false;        // its gradients themselves are wanted
  bool is_needed = true;           // it must run: what it leads to is wanted
  Gradients gradients;             // one for each input; empty until the first comes
  std::vector<Awaited> awaited;    // in the order in which they are added; empty: as they come
  std::uint32_t added = 0;         // of them

  // One of the awaited ones is there.
  void bring(const Node& maker, std::size_t result, Tensor gradient);
  // Null: the next one is still to come, or there is none. It counts as added.
  Awaited* next_to_add() noexcept {
    return added < awaited.size() && awaited[added].is_there ? &awaited[added++] : nullptr;
  }
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
  // Whether nodes of several devices are among the entries, a CPU being one.
  bool is_spread() const noexcept;
  // Of what needed nodes will bring each entry awaits it in the order in which one thread would run these nodes.
  void await_in_order();

 private:
  std::size_t slot_of(const Node* node) const noexcept;
  void grow();

  std::vector<PassEntry> entries_;
  std::vector<EntryIndex> slots_;
};

}  // namespace distrun::autograd
