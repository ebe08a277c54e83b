#pragma once
// Makes a gradient that a node returned into one that the next node can take: broadcast dimensions are summed, the
// dtype and device become those of the forward result. So formulas need not know what their inputs were broadcast to.
#include <string>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// `gradient` is defined. Throws Error{InvalidArgument} with `maker`, the result's number and both sizes if it does not
// fit and can't be summed to it.
void fit(Tensor& gradient, const InputMetadata& wanted, const Node& maker, std::size_t result);

// The sum of two gradients of one tensor; in place where nobody else can see it.
Tensor sum_of(Tensor first, Tensor second);

// Why gradients that somebody else has sent cannot be the node's: "needs 1 gradients, and was fed 2". Empty: they can.
std::string why_unfit(const Node& node, const Gradients& gradients);

// What is on the current stream of the gradient's device now comes before what is put on `reader` later.
void order_streams(const Tensor& gradient, Stream reader);

}  // namespace distrun::autograd
