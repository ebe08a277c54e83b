#pragma once
// Backward passes as users start them.
#include <functional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::autograd {

struct BackwardOptions {
  bool retain_graph = false;  // what nodes kept stays, for another pass
  // The gradients have a graph of their own, for gradients of gradients (penalties, products with the Hessian); it
  // keeps the first one (retain_graph). Such a grad() of a leaf leads back to the leaf: neither is freed before the
  // gradient is taken away (set_grad(), an optimiser's zero_grad()); gradients() has no such circle. Formulas of sparse
  // tensors, and of batch_norm over several ranks, refuse it with Error{Unimplemented}.
  bool create_graph = false;
};

// Adds the gradients of `roots` to grad() of the leaves that they depend on. `gradients` has one for each root, or is
// empty; an undefined one is 1 for a root of one element. Returns when the work is done on the CPU and in order on the
// caller's current streams. Any thread, also within a node, and while other threads do the same.
// Throws Error{InvalidArgument} for roots that can't be, before anything is done, and what nodes throw.
void backward(const TensorList& roots, const TensorList& gradients = {}, BackwardOptions options = {});
void backward(const Tensor& root, const Tensor& gradient = {}, BackwardOptions options = {});

// The gradients of `outputs` with respect to `inputs`, leaves or not; grad() of no tensor changes. Throws
// Error{InvalidArgument} if an output doesn't depend on an input, unless that may be (it is undefined then).
TensorList gradients(const TensorList& outputs, const TensorList& inputs, const TensorList& output_gradients = {},
                     BackwardOptions options = {}, bool allow_unused = false);

// For hooks: `callback` is called once all gradients of this pass are there, on the thread that called backward() and
// before that returns, with recording off unless the pass has create_graph; what it throws is thrown there. After an
// error of the pass it is not called. Throws Error{Failed} outside a pass, and Error{Unimplemented} in one of
// distributed autograd, which has no such thread. Throws Error{InvalidArgument} for an empty function.
void at_end_of_pass(std::function<void()> callback);

}  // namespace distrun::autograd

namespace distrun {
using autograd::backward;
using autograd::BackwardOptions;
using autograd::gradients;
}  // namespace distrun
