#pragma once
// Where a tensor comes from, as the graph knows it: the node that made it, and where its gradient goes.
//
// A view and its base are one value. A tensor that an operator made as a view knows its base. When a recorded operator
// changes the view in place, the base gets a new grad_fn: its gradient passes through a CopySlices node, which gives
// the operator's own node the part of the gradient that belongs to the view. A view notices by the version that its own
// grad_fn is out of date, and makes a new one from the base's when somebody asks.
#include <cstdint>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

bool requires_grad(const Tensor& tensor);
// Whether what is computed of them now is recorded.
bool any_needs_gradient(const TensorList& inputs);
bool is_leaf(const Tensor& tensor);
// Of a leaf: null.
Ref<Node> grad_fn(const Tensor& tensor);
std::uint32_t output_number(const Tensor& tensor);
// Where its gradient goes to; none if it needs none.
Edge gradient_edge(const Tensor& tensor);

// A copy of what the tensor is now, with its place in the graph: for a formula that keeps what is about to be changed
// in place.
Tensor former_of(const Tensor& tensor);

// `result` was made by the operator that `node` stands for; it becomes the node's next output. Returned again.
Tensor with_history(Tensor result, Ref<Node> node);

// `view` shares the bytes of `of`, by a recorded operator or one that was not recorded. Once per view.
void mark_view(const Tensor& view, const Tensor& of);
// The view is a result of a custom function: its gradient goes through that, whatever becomes of the base. If the base
// is changed by a recorded operator later, the view can't be used where its gradient matters: Error{InvalidArgument}.
void mark_view_of_function(const Tensor& view);

// Before an in-place operator of users. Throws Error{InvalidArgument} if recording is on and the tensor is a leaf that
// requires a gradient, a view of one (or of another tensor's bytes that has become one), or a view that a custom
// function has returned, or that was made while recording was off, of a base with a gradient.
void check_in_place(const Tensor& tensor);

// After one that is recorded. `node` is its node; edge number `edge` leads to where the tensor's gradient went before,
// and its input `output` stands for the tensor; for a view it has no other inputs.
void rebase_history(const Tensor& changed, Ref<Node> node, std::uint32_t output = 0, std::size_t edge = 0);

}  // namespace distrun::autograd
