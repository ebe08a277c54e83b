#pragma once
// The end of a graph: the node that adds a gradient to its leaf, and the rule that decides whether a gradient is kept
// as it is or copied.
#include <functional>
#include <mutex>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// Adds `gradient` to the gradient of `variable` in `place`. An empty place takes it by move if that can't be noticed:
// no other handle shares the tensor or, if it is strided, its bytes, and it lies in memory as gradients of `variable`
// do; a sparse one needs contiguous indices and values (other views of them are no obstacle). Otherwise it is copied.
// So a hook or custom function that keeps a handle of a gradient keeps its values.
void accumulate_into(Tensor& place, Tensor gradient, const Tensor& variable);

// There is one per leaf, created by accumulator_of() and owned by its Variable. Thread-safe: passes of several threads
// may end in one leaf.
//
// Handles of the node keep the tensor alive, and the tensor owns the node: the first handle takes a handle of the
// tensor, the last one returns it. A thread that creates the first handle holds the tensor meanwhile, so the two counts
// may cross.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& variable);

  std::string name() const override { return "torch::autograd::AccumulateGrad"; }
  Gradients apply(Gradients gradients) override;
  bool is_quick() const noexcept override { return true; }

  Tensor variable() const { return Tensor(Ref<tensor::TensorImpl>(variable_)); }
  // Replaces the leaf's gradient, which may be undefined, by `change` of it. One thread at a time.
  void replace(const std::function<Tensor(const Tensor&)>& change);
  // Records that the leaf's gradient is read on its device's current stream: its memory is not reused before that is
  // done.
  void record_reader();
  // Returns false if set_requires_grad(leaf, false) was called after the forward call.
  bool is_wanted() const noexcept;
  // The caller must hold the tensor.
  Ref<Node> handle();

 protected:
  void let_go() noexcept override;

 private:
  tensor::TensorImpl* const variable_;
  std::mutex mutex_;  // guards the variable's gradient against other passes
};

// Returns the node that accumulates into a leaf that requires a gradient. It stays the same for the tensor's life; its
// handles keep the tensor alive. Thread-safe.
Ref<Node> accumulator_of(const Tensor& leaf);

}  // namespace distrun::autograd
