#pragma once
// What users ask of a tensor: whether it needs a gradient, the gradient, who made it, and hooks on its gradient.
#include <type_traits>
#include <utility>

#include <distrun/runtime/autograd/history.hpp>
#include <distrun/runtime/autograd/hooks.hpp>

namespace distrun::autograd {

// For leaves. Returns the tensor. Throws Error{InvalidArgument} for dtypes that are not floating, and for false on a
// tensor that an operator made. Graphs that have the leaf obey, too: while it needs no gradient their passes bring it
// none, and its hooks see none.
Tensor set_requires_grad(const Tensor& tensor, bool wanted = true);

// Undefined before the first backward pass.
Tensor grad(const Tensor& tensor);
// Throws Error{InvalidArgument} unless size, dtype and device are the tensor's, and for the tensor itself. Undefined
// clears it.
void set_grad(const Tensor& tensor, Tensor gradient);

// The hook sees each gradient of the tensor as it is now before it is used further, and may return another, of the same
// size, dtype, layout and device: else the pass fails with Error{InvalidArgument}. Of what is made of the tensor in
// place later it sees nothing. Throws Error{InvalidArgument} if the tensor needs no gradient, and for an empty hook.
HookId register_hook(const Tensor& tensor, TensorHook hook);
// One that looks, and returns nothing.
template <class Hook>
requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>> HookId register_hook(const Tensor& tensor,
                                                                                         Hook hook) {
  return register_hook(tensor, TensorHook([hook = std::move(hook)](const Tensor& gradient) mutable {
                         hook(gradient);
                         return gradient;
                       }));
}
// Also of a leaf that needs no gradient for now, and of a tensor that was changed in place since (a view that was
// changed keeps its hook). What is no hook of the tensor is left alone.
void remove_hook(const Tensor& tensor, HookId hook);

// The same bytes, and no part of any graph.
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
