#pragma once
// Autograd's data of a tensor: whether it requires a gradient, the gradient, and the node that returned it. Tensors
// without it (most) cost nothing. Users' questions about it: gradient.hpp; where a result comes from: history.hpp.
//
// A leaf is a tensor that no recorded operator created. Gradients of leaves are accumulated in grad(); those of others
// go on to the node that created them, grad_fn().
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// How a view, or a view that it is derived from, was created.
enum class ViewKind : std::uint8_t {
  Recorded,
  Unrecorded,  // created while recording was off
  OfFunction,  // returned by a custom function: its backward() leads to the base
};

// Where a view comes from.
struct ViewInfo {
  Tensor base;                // never a view itself
  std::mutex mutex;           // guards grad_fn and version: threads that only read a view may renew them
  std::uint32_t version = 0;  // of the bytes when grad_fn was made
  ViewKind kind = ViewKind::Recorded;
  Ref<Node> maker_of_base;  // of a custom function's view: the base's grad_fn when the view was created
};

class Variable final : public tensor::GradientInfo {
 public:
  ~Variable() override { delete accumulator.load(std::memory_order_acquire); }
  std::string shown_of(const Tensor& tensor) const override;

  bool requires_grad = false;  // of a leaf
  bool is_replaced = false;    // a module has replaced it by another leaf, on another device
  Tensor grad;
  Ref<Node> grad_fn;         // none: a leaf; of a view it may be out of date
  std::uint32_t output = 0;  // which result of grad_fn it is
  std::unique_ptr<ViewInfo> view;
  std::atomic<Node*> accumulator{nullptr};  // created by accumulator_of() (accumulate_grad.hpp)
  std::vector<Ref<Node>> hooked;            // present and former makers that have hooks of this tensor
};

// Returns the tensor's, or null. Undefined tensors have none.
inline Variable* variable_of(const Tensor& tensor) noexcept {
  return tensor.defined() ? static_cast<Variable*>(tensor.impl()->gradient.get()) : nullptr;
}
inline Variable& make_variable(const Tensor& tensor) {
  auto& info = tensor.impl()->gradient;
  if (!info) info = std::make_unique<Variable>();
  return static_cast<Variable&>(*info);
}

}  // namespace distrun::autograd
