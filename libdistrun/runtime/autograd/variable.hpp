#pragma once
// What autograd knows of a tensor: whether it needs a gradient, the gradient, and the node whose result it is. A tensor
// without that (most are) costs nothing. What users ask of it: gradient.hpp; where a result comes from: history.hpp.
//
// A leaf is a tensor that no recorded operator made. Gradients of leaves are accumulated in grad(); those of others go
// on to the node that made them, grad_fn().
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// How a view, or one that it is a view of, was made.
enum class ViewKind : std::uint8_t {
  Recorded,
  Unrecorded,  // while recording was off
  OfFunction,  // returned by a custom function, whose backward() is the way back to the base
};

// Where a view comes from.
struct ViewInfo {
  Tensor base;                // never a view itself
  std::mutex mutex;           // guards grad_fn and version: threads that only read a view may renew them
  std::uint32_t version = 0;  // of the bytes when grad_fn was made
  ViewKind kind = ViewKind::Recorded;
  Ref<Node> maker_of_base;  // of a custom function's: what the base was when the view was made
};

class Variable final : public tensor::GradientInfo {
 public:
  ~Variable() override { delete accumulator.load(std::memory_order_acquire); }
  std::string shown_of(const Tensor& tensor) const override;

  bool requires_grad = false;  // as a leaf
  bool is_replaced = false;    // a module has another leaf in its place, on another device
  Tensor grad;
  Ref<Node> grad_fn;         // none: a leaf; of a view it may be out of date
  std::uint32_t output = 0;  // which result of grad_fn it is
  std::unique_ptr<ViewInfo> view;
  std::atomic<Node*> accumulator{nullptr};  // its own, made by accumulator_of() (accumulate_grad.hpp)
  std::vector<Ref<Node>> hooked;            // makers, former ones as well, that have hooks of this tensor
};

// The tensor's, or null. Undefined tensors have none.
inline Variable* variable_of(const Tensor& tensor) noexcept {
  return tensor.defined() ? static_cast<Variable*>(tensor.impl()->gradient.get()) : nullptr;
}
inline Variable& make_variable(const Tensor& tensor) {
  auto& info = tensor.impl()->gradient;
  if (!info) info = std::make_unique<Variable>();
  return static_cast<Variable&>(*info);
}

}  // namespace distrun::autograd
