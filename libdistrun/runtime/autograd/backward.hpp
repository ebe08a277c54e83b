#pragma once
// The backward passes that users start.
#include <functional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

// Options of backward() and gradients().
struct BackwardOptions {
  bool retain_graph = false;  // keep saved tensors in the nodes, for another pass
  // Records a graph of the gradients, for gradients of gradients (penalties, products with the Hessian); implies
  // retain_graph. Such a grad() of a leaf leads back to the leaf: neither is freed before the gradient is removed
  // (set_grad(), an optimiser's zero_grad()); gradients() has no such cycle. Formulas of sparse tensors, and of
  // batch_norm over several ranks, refuse it with Error{Unimplemented}.
  bool create_graph = false;
};

// Adds the gradients of `roots` to grad() of their leaves. `gradients` has one for each root, or is empty; an undefined
// one is 1 for a root of one element. Returns when the work is done on the CPU and is ordered before later work on the
// caller's current streams. Thread-safe; may also be called within a node. Throws Error{InvalidArgument} for unsuitable
// roots, before anything is done, and what nodes throw.
void backward(const TensorList& roots, const TensorList& gradients = {}, BackwardOptions options = {});
void backward(const Tensor& root, const Tensor& gradient = {}, BackwardOptions options = {});

// Returns the gradients of `outputs` with respect to `inputs`, leaves or not; no tensor's grad() changes. If no output
// depends on an input, throws Error{InvalidArgument}, or returns an undefined gradient for it with `allow_unused`.
TensorList gradients(const TensorList& outputs, const TensorList& inputs, const TensorList& output_gradients = {},
                     BackwardOptions options = {}, bool allow_unused = false);

// Calls `callback`, registered by a hook, once all gradients of this pass are available, on the thread that called
// backward() and before backward() returns, with recording off unless the pass has create_graph. An exception of the
// callback leaves backward(). It is not called after an error of the pass. Throws Error{Failed} outside a pass,
// Error{Unimplemented} in a pass of distributed autograd, which has no such thread, and Error{InvalidArgument} for an
// empty function.
void at_end_of_pass(std::function<void()> callback);

}  // namespace distrun::autograd

namespace distrun {
using autograd::backward;
using autograd::BackwardOptions;
using autograd::gradients;
}  // namespace distrun
