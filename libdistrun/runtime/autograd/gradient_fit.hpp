#pragma once
// Converts a gradient that a node returned into one that the next node accepts: broadcast dimensions are summed, and
// the dtype and device become those of the forward result. So formulas need not know what their inputs were broadcast
// to. In a pass with create_graph all of this is recorded.
#include <string>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

class AccumulateGrad;

// `gradient` is defined. Throws Error{InvalidArgument} with `maker`, the result's number and both sizes if it does not
// fit and can't be summed to fit.
void fit(Tensor& gradient, const InputMetadata& wanted, const Node& maker, std::size_t result);

// Sums over the dimensions that were broadcast; returns the gradient itself if the sizes are the same.
Tensor summed_to_size(const Tensor& gradient, const Dims& sizes);
// Returns the gradient itself if nothing changes.
Tensor converted(const Tensor& gradient, const TensorOptions& wanted);

// Returns the sum of two gradients of one tensor; adds in place if no other handle can see it.
Tensor sum_of(Tensor first, Tensor second);

// Does the work of a leaf's node in a pass with create_graph: also adds the graphs of both gradients.
void accumulate_recorded(AccumulateGrad& leaf, const Tensor& gradient);

// Returns why gradients that were fed from outside don't fit the node: "needs 1 gradients, and was fed 2". Empty if
// they fit.
std::string why_unfit(const Node& node, const Gradients& gradients);

}  // namespace distrun::autograd
