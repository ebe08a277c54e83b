#pragma once
// What users ask of a tensor: whether it needs a gradient, the gradient, who made it, and hooks on its gradient.
#include <distrun/runtime/autograd/history.hpp>
#include <distrun/runtime/autograd/hooks.hpp>

namespace distrun::autograd {

// For leaves. Returns the tensor. Throws Error{InvalidArgument} for dtypes that are not floating, and for false on a
// tensor that an operator made.
Tensor set_requires_grad(const Tensor& tensor, bool wanted = true);

// Undefined before the first backward pass.
Tensor grad(const Tensor& tensor);
// Throws Error{InvalidArgument} unless size, dtype and device are the tensor's. Undefined clears it.
void set_grad(const Tensor& tensor, Tensor gradient);

// The hook sees each gradient of the tensor as it is now before it is used further, and may return another; of what is
// made of the tensor in place later it sees nothing. Throws Error{InvalidArgument} if the tensor needs no gradient.
HookId register_hook(const Tensor& tensor, TensorHook hook);
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
