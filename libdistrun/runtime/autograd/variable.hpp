#pragma once
// What autograd knows of a tensor: whether it needs a gradient, the gradient, and the node whose result it is. A tensor
// without that (most are) costs nothing.
//
// A leaf is a tensor that no recorded operator made. Gradients of leaves are accumulated in grad(); those of others go
// on to the node that made them, grad_fn().
//
// Views. A tensor that an operator made as a view knows its base, which is never a view itself. When one of the two is
// changed in place by a recorded operator, the base gets a new grad_fn; a view notices by the version that its own is
// out of date, and makes a new one from the base's (view.hpp).
#include <atomic>
#include <memory>
#include <mutex>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

class AccumulateGrad;

// Where a view comes from.
struct ViewInfo {
  Tensor base;
  std::mutex mutex;            // guards grad_fn and version: threads that only read a view may renew them
  std::uint32_t version = 0;   // of the bytes when grad_fn was made
  bool is_unrecorded = false;  // made while recording was off
};

class Variable final : public tensor::GradientInfo {
 public:
  ~Variable() override;

  // The node that accumulates into `owner`, the tensor that this belongs to. One for the tensor's life; holding it
  // holds the tensor. Any thread.
  Ref<Node> accumulator(const Tensor& owner);

  bool requires_grad = false;  // as a leaf
  Tensor grad;
  Ref<Node> grad_fn;         // none: a leaf
  std::uint32_t output = 0;  // which result of grad_fn it is
  std::unique_ptr<ViewInfo> view;

 private:
  std::atomic<AccumulateGrad*> accumulator_{nullptr};
};

// The tensor's, or null. Undefined tensors have none.
inline Variable* variable_of(const Tensor& tensor) noexcept {
  return tensor.defined() ? static_cast<Variable*>(tensor.impl()->gradient.get()) : nullptr;
}
Variable& make_variable(const Tensor& tensor);

bool requires_grad(const Tensor& tensor);
// For leaves. Returns the tensor. Throws Error{InvalidArgument} for dtypes that are not floating, and for false on a
// tensor that an operator made.
Tensor set_requires_grad(const Tensor& tensor, bool wanted = true);
bool is_leaf(const Tensor& tensor);

// Undefined before the first backward pass.
Tensor grad(const Tensor& tensor);
// Throws Error{InvalidArgument} unless size, dtype and device are the tensor's. Undefined clears it.
void set_grad(const Tensor& tensor, Tensor gradient);

// Of a leaf: null.
Ref<Node> grad_fn(const Tensor& tensor);
std::uint32_t output_number(const Tensor& tensor);
// Where its gradient goes to; none if it needs none.
Edge gradient_edge(const Tensor& tensor);

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
