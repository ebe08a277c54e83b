#pragma once
// The end of a graph: the node that adds a gradient to its leaf, and the rule by which a gradient is kept as it is or
// copied.
#include <functional>
#include <mutex>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// Adds `gradient` to what `place` holds for `variable`. Into an empty place it is moved if that can't be noticed:
// nobody else has the tensor or, if it is strided, its bytes, and it lies in memory as gradients of `variable` do; for
// a sparse one, its indices and values are contiguous (views of them that others hold are no obstacle). Else it is
// copied. So who keeps a handle of a gradient in a hook or custom function keeps its values.
void accumulate_into(Tensor& place, Tensor gradient, const Tensor& variable);

// One for each leaf, made by accumulator_of() and owned by its Variable. Any thread: passes of several threads may end
// in one leaf.
//
// Handles of the node hold the tensor, and the tensor owns the node: the first handle takes a handle of the tensor, the
// last one gives it back. Whoever makes a first handle has the tensor meanwhile, so that the two counts may cross.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& variable);

  std::string name() const override { return "torch::autograd::AccumulateGrad"; }
  Gradients apply(Gradients gradients) override;
  bool is_quick() const noexcept override { return true; }

  Tensor variable() const { return Tensor(Ref<tensor::TensorImpl>(variable_)); }
  // Of what the leaf has, which may be undefined, makes what it has then. One thread at a time.
  void replace(const std::function<Tensor(const Tensor&)>& change);
  // The leaf's gradient is read on its device's current stream: its memory is not reused before that is done.
  void record_reader();
  // False: since the forward call it was told that it needs no gradient.
  bool is_wanted() const noexcept;
  // The caller has the tensor.
  Ref<Node> handle();

 protected:
  void let_go() noexcept override;

 private:
  tensor::TensorImpl* const variable_;
  std::mutex mutex_;  // guards the variable's gradient against other passes
};

// The node that accumulates into a leaf that needs a gradient. One for the tensor's life; holding it holds the tensor.
// Any thread.
Ref<Node> accumulator_of(const Tensor& leaf);

}  // namespace distrun::autograd
