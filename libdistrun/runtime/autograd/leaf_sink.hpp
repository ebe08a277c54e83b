#pragma once
// Receives the gradients of leaves in place of the leaves: for passes that must not change grad(), such as those of
// distributed autograd.
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <distrun/runtime/autograd/hooks.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::autograd {

class AccumulateGrad;

class LeafSink {
 public:
  virtual ~LeafSink() = default;
  // Called on any thread, with the leaf's stream current. The leaf's hooks have run. May throw: the pass fails then.
  virtual void take(const Tensor& leaf, Tensor gradient) = 0;
};

// Stores gradients by the leaf's identity, and adds up those of several passes. A gradient that reaches only one leaf
// is moved in; one that a node gave to several leaves is copied for each, so that entries share no bytes with each
// other or with tensors that the node kept. Thread-safe.
class GradientMap final : public LeafSink {
 public:
  struct Entry {
    Tensor leaf;
    Tensor gradient;
  };

  void take(const Tensor& leaf, Tensor gradient) override;
  // Called after a pass: releases the handles that were only kept to detect shared gradients.
  void end_pass();

  // Returns the entries in the order in which the leaves first arrived. The caller's current streams wait for the
  // gradients.
  std::vector<Entry> entries() const;
  Tensor find(const Tensor& leaf) const;  // undefined: no entry
  std::size_t size() const;

 private:
  void wait_for_gradients() const;

  mutable std::mutex mutex_;  // guards the members below
  std::vector<Entry> entries_;
  std::unordered_map<const tensor::TensorImpl*, std::size_t> places_;
  std::vector<Tensor> shared_;  // gradients that had other handles when they arrived
  std::map<device::Stream, device::Event> written_;
};

// Passes the leaf's gradient, which may be undefined, to the sink; without a sink adds it to grad(), with its graph if
// that is recorded.
void bring_to_leaf(AccumulateGrad& leaf, Gradients gradients, LeafSink* sink);

}  // namespace distrun::autograd
