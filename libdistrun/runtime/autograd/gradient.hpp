#pragma once
// The gradient interface of tensors for users: requires_grad, the gradient, the node that created it, and gradient
// hooks.
#include <type_traits>
#include <utility>

#include <distrun/runtime/autograd/history.hpp>
#include <distrun/runtime/autograd/hooks.hpp>

namespace distrun::autograd {

// Changes a leaf; returns it. Throws Error{InvalidArgument} for dtypes that are not floating, and for false on a tensor
// that an operator created. Existing graphs with the leaf follow, too: while it requires no gradient, their passes
// deliver none to it, and its hooks are not called.
Tensor set_requires_grad(const Tensor& tensor, bool wanted = true);

// Returns an undefined tensor before the first backward pass.
Tensor grad(const Tensor& tensor);
// Sets the gradient, or clears it if `gradient` is undefined. Throws Error{InvalidArgument} unless size, dtype and
// device are the tensor's, and for the tensor itself.
void set_grad(const Tensor& tensor, Tensor gradient);

// Calls the hook with each gradient of the tensor in its present version before the gradient is used further. The hook
// may return another one of the same size, dtype, layout and device; anything else fails the pass with
// Error{InvalidArgument}. Later in-place changes of the tensor are not seen by it. Throws Error{InvalidArgument} if the
// tensor needs no gradient, and for an empty hook.
HookId register_hook(const Tensor& tensor, TensorHook hook);
// Registers a hook that only reads the gradient and returns nothing.
template <class Hook>
requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>> HookId register_hook(const Tensor& tensor,
                                                                                         Hook hook) {
  return register_hook(tensor, TensorHook([hook = std::move(hook)](const Tensor& gradient) mutable {
                         hook(gradient);
                         return gradient;
                       }));
}
// Removes a hook, also from a leaf that requires no gradient at present, and from a tensor that was changed in place
// since (a view that was changed keeps its hook). Ignores a hook that does not belong to the tensor.
void remove_hook(const Tensor& tensor, HookId hook);

// Returns a tensor with the same bytes that is in no graph.
Tensor detach(const Tensor& tensor);

}  // namespace distrun::autograd

namespace distrun {
using autograd::detach;
using autograd::grad;
using autograd::grad_fn;
using autograd::is_leaf;
using autograd::register_hook;
using autograd::requires_grad;
using autograd::set_grad;
using autograd::set_requires_grad;
}  // namespace distrun
