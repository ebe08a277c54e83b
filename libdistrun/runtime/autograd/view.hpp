#pragma once
// Views and in-place operators in the graph. A view and its base are one value: when a recorded operator changes the
// view in place, the base's gradient passes through a CopySlices node, which gives the operator's own node the part of
// the gradient that belongs to the view. The view's grad_fn is then made anew from the base's, when somebody asks.
#include <distrun/runtime/autograd/variable.hpp>

namespace distrun::autograd {

// `view` shares the bytes of `of`, by a recorded operator or one that was not recorded. Once per view.
void mark_view(const Tensor& view, const Tensor& of);

// Of a tensor that is a view.
Ref<Node> grad_fn_of_view(const Tensor& view, Variable& variable);

// Before an in-place operator of users. Throws Error{InvalidArgument} if recording is on and the tensor is a leaf that
// requires a gradient, a view of one (or of another tensor's bytes that has become one), or a view that was made while
// recording was off of a base with a gradient.
void check_in_place(const Tensor& tensor);

// After one that is recorded. `node` is its node; its first edge leads to where the tensor's gradient went before, and
// its input `output` stands for the tensor; for a view it has no other inputs.
void rebase_history(const Tensor& changed, Ref<Node> node, std::uint32_t output = 0);

}  // namespace distrun::autograd
