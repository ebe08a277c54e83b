#pragma once
// A tensor's position in the graph: the node that created it, and the edge that takes its gradient.
//
// A view and its base are one value. A tensor that an operator created as a view knows its base. When a recorded
// operator changes the view in place, the base gets a new grad_fn, a CopySlices node, which passes the view's part of
// the gradient to the operator's node. A view detects by the version that its grad_fn is out of date, and derives a new
// one from the base's when it is asked for.
#include <cstdint>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// Returns whether the tensor is part of a graph: a leaf that requires a gradient, or a result that depends on one.
bool requires_grad(const Tensor& tensor);
// Returns whether an operator on these inputs would be recorded now.
bool any_needs_gradient(const TensorList& inputs);
// Returns whether no recorded operator created the tensor. Gradients are stored in leaves only.
bool is_leaf(const Tensor& tensor);
// Returns null for a leaf.
Ref<Node> grad_fn(const Tensor& tensor);
// Returns which result of its node the tensor is; 0 for a leaf.
std::uint32_t output_number(const Tensor& tensor);
// Returns the edge that takes the tensor's gradient; an empty one if it needs none.
Edge gradient_edge(const Tensor& tensor);

// Copies the tensor's present value, with its position in the graph: for a formula that keeps a tensor that is about to
// be changed in place.
Tensor former_of(const Tensor& tensor);

// Makes `result` the next output of `node`, the node of the operator that created it. Returns it.
Tensor with_history(Tensor result, Ref<Node> node);

// Records that `view` shares the bytes of `of`, by an operator that may not have been recorded. Call once per view.
void mark_view(const Tensor& view, const Tensor& of);
// Marks a view that a custom function returned: its gradient goes through that function, however the base changes. If a
// recorded operator changes the base later, using the view where its gradient matters throws Error{InvalidArgument}.
void mark_view_of_function(const Tensor& view);

// Called before a user's in-place operator. Throws Error{InvalidArgument} if recording is on and the tensor is a leaf
// that requires a gradient, a view of one (or of another tensor's bytes that has become one), or a view of a base with
// a gradient that a custom function returned, or that was created while recording was off.
void check_in_place(const Tensor& tensor);

// Called after an in-place operator that is recorded. `node` is its node; edge number `edge` leads to where the
// tensor's gradient went before, and its input `output` stands for the tensor; for a view it has no other inputs.
void rebase_history(const Tensor& changed, Ref<Node> node, std::uint32_t output = 0, std::size_t edge = 0);

}  // namespace distrun::autograd
