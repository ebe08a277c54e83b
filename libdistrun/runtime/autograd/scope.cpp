#include <distrun/runtime/autograd/scope.hpp>

#include <vector>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

namespace detail {
constinit std::atomic<ScopeHook*> scope_hook{nullptr};
}

ScopeHook* set_scope_hook(ScopeHook* hook) noexcept {
  return detail::scope_hook.exchange(hook, std::memory_order_acq_rel);
}

TensorList Scope::inputs() const {
  TensorList list;
  for (const Tensor* const input : input_places) {
    if (input->defined()) list.push_back(*input);
  }
  return list;
}

OperatorScope::OperatorScope(const char* name, const TensorList& inputs) noexcept
    : called_(name), hook_(detail::scope_hook.load(std::memory_order_acquire)) {
  if (hook_ == nullptr) return;
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : inputs) pointers.push_back(&input);
  enter(name, pointers.data(), pointers.size());
}

void OperatorScope::enter(const char* name, const Tensor* const* inputs, std::size_t count) noexcept {
  entered_ = hook_->enter({ScopeKind::Operator, name, Node::next_sequence(), 0, {inputs, count}});
}

}  // namespace distrun::autograd
