#pragma once
// Where a pass puts the gradients of leaves, if not into the leaves: for passes that must leave grad() alone, as those
// of distributed autograd do.
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

// Keeps them by the leaf's identity, and adds up what several passes bring. A gradient that comes to one leaf alone is
// moved in; one that a node gave to several leaves is copied for each of them, so that the entries share no bytes with
// each other or with what the node has kept. Any thread.
class GradientMap final : public LeafSink {
 public:
  struct Entry {
    Tensor leaf;
    Tensor gradient;
  };

  void take(const Tensor& leaf, Tensor gradient) override;
  // After a pass: lets go of what was only kept to see who else has it.
  void end_pass();

  // In the order in which the leaves first came. The caller's current streams wait for the gradients.
  std::vector<Entry> entries() const;
  Tensor find(const Tensor& leaf) const;  // undefined: it is not here
  std::size_t size() const;

 private:
  void wait_for_gradients() const;

  mutable std::mutex mutex_;  // guards all below
  std::vector<Entry> entries_;
  std::unordered_map<const tensor::TensorImpl*, std::size_t> places_;
  std::vector<Tensor> shared_;  // gradients that others had, too, when they came
  std::map<device::Stream, device::Event> written_;
};

// The gradient of a leaf, which may be undefined, goes into the sink; without one into grad(), with its graph if that
// is recorded.
void bring_to_leaf(AccumulateGrad& leaf, Gradients gradients, LeafSink* sink);

}  // namespace distrun::autograd
