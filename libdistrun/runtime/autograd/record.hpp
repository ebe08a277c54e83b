#pragma once
// How an operator records itself: a formula and the values that it keeps become a node. For the operators of this
// folder, and for those that need more than a custom function (function.hpp) offers.
#include <distrun/runtime/autograd/formula_node.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/history.hpp>
#include <distrun/runtime/autograd/saved_tensor.hpp>
#include <distrun/runtime/autograd/variable.hpp>

namespace distrun::autograd {

template <class... Inputs>
bool needs_gradient(const Inputs&... inputs) {
  return ((variable_of(inputs) != nullptr) || ...) && is_grad_enabled() && (requires_grad(inputs) || ...);
}

// Returns a node with an edge for each input, in their order.
template <class Formula, class... Inputs>
Ref<FormulaNode<Formula>> record(Formula formula, const Inputs&... inputs) {
  auto node = make_node_for(std::move(formula));
  (node->add_next_edge(gradient_edge(inputs)), ...);
  return node;
}

// Records that `result` shares its bytes with `of`, and returns it.
inline Tensor as_view(Tensor result, const Tensor& of) {
  mark_view(result, of);
  return result;
}

}  // namespace distrun::autograd
