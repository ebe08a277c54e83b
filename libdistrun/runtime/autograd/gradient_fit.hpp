#pragma once
// Makes a gradient that a node returned into one that the next node can take: broadcast dimensions are summed, the
// dtype and device become those of the forward result. So formulas need not know what their inputs were broadcast to.
// In a pass with create_graph all of this is recorded.
#include <string>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

class AccumulateGrad;

// `gradient` is defined. Throws Error{InvalidArgument} with `maker`, the result's number and both sizes if it does not
// fit and can't be summed to it.
void fit(Tensor& gradient, const InputMetadata& wanted, const Node& maker, std::size_t result);

// What was stretched, summed up again; the gradient itself if the sizes are the same.
Tensor summed_to_size(const Tensor& gradient, const Dims& sizes);
// The gradient itself if nothing changes.
Tensor converted(const Tensor& gradient, const TensorOptions& wanted);

// The sum of two gradients of one tensor; in place where nobody else can see it.
Tensor sum_of(Tensor first, Tensor second);

// For a pass with create_graph: what the node of a leaf does, with the graphs of both gradients.
void accumulate_recorded(AccumulateGrad& leaf, const Tensor& gradient);

// Why gradients that somebody else has sent cannot be the node's: "needs 1 gradients, and was fed 2". Empty: they can.
std::string why_unfit(const Node& node, const Gradients& gradients);

}  // namespace distrun::autograd
