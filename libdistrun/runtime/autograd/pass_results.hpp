#pragma once
// What a pass over a graph leaves: the captured gradients, and the streams of GPUs on which gradients have reached
// leaves or were captured. Guarded by the lock of the pass, which is over when it calls wait().
#include <set>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/pass_table.hpp>

namespace distrun::autograd {

class PassResults {
 public:
  // Captures the gradient of an edge. Returns the capture's number.
  std::size_t capture(const Edge& edge);
  bool has_captures() const noexcept { return !captures_.empty(); }
  // Marks the nodes whose gradients are captured.
  void mark_captured(PassTable& table) const;
  // The gradients of a captured node have arrived.
  void take(const PassEntry& entry, const Gradients& gradients);
  // A leaf gets its gradient.
  void note_leaf(const Node& leaf);

  // Returns a captured gradient by its number; undefined if none arrived.
  Tensor captured(std::size_t number) const { return captures_[number].gradient; }
  // Makes the caller's current streams wait for all gradients. `has_grads`: leaves have theirs in grad().
  void wait(PassTable& table, bool has_grads) const;

 private:
  struct Capture {
    Edge edge;
    Tensor gradient;
  };

  std::vector<Capture> captures_;
  std::set<device::Stream> streams_;
};

}  // namespace distrun::autograd
