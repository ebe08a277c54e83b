#pragma once
// How an operator records itself: a formula and what it keeps become a node. For the operators of this folder, and for
// those that need more than a custom function (function.hpp) offers.
//
// A Formula is a struct with what it keeps, and
//   static constexpr const char* kName = "MulBackward0";     // or: const char* name() const
//   Gradients apply(const Node& node, Gradients gradients);  // one result per edge; undefined for those not needed
//   void release() noexcept;                                 // if it keeps tensors
// apply() is called with at least one defined gradient. Results may be broadcast, and of another dtype:
// gradient_fit.hpp.
#include <algorithm>

#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/saved_tensor.hpp>
#include <distrun/runtime/autograd/variable.hpp>
#include <distrun/runtime/autograd/view.hpp>

namespace distrun::autograd {

template <class Formula>
class FormulaNode final : public Node {
 public:
  explicit FormulaNode(Formula kept) : formula(std::move(kept)) {}

  std::string name() const override {
    if constexpr (requires { formula.name(); })
      return formula.name();
    else
      return Formula::kName;
  }
  Gradients apply(Gradients gradients) override {
    const bool has_any = std::any_of(gradients.begin(), gradients.end(), [](const Tensor& g) { return g.defined(); });
    return has_any ? formula.apply(*this, std::move(gradients)) : Gradients(next_edges().size());
  }
  void release_saved() noexcept override {
    if constexpr (requires { formula.release(); }) formula.release();
  }

  Formula formula;
};

template <class Formula>
Ref<FormulaNode<Formula>> make_node_for(Formula formula) {
  auto node = tensor::make_ref<FormulaNode<Formula>>(std::move(formula));
  if (is_anomaly_mode()) [[unlikely]]
    node->set_forward_site(forward_site());
  return node;
}

template <class... Inputs>
bool needs_gradient(const Inputs&... inputs) {
  return ((variable_of(inputs) != nullptr) || ...) && is_grad_enabled() && (requires_grad(inputs) || ...);
}
bool any_needs_gradient(const TensorList& inputs);

// `node` with an edge for each input, in their order.
template <class Formula, class... Inputs>
Ref<FormulaNode<Formula>> record(Formula formula, const Inputs&... inputs) {
  auto node = make_node_for(std::move(formula));
  (node->add_next_edge(gradient_edge(inputs)), ...);
  return node;
}

// `result` was made by the operator that `node` stands for; it becomes the node's next output. Returned again.
Tensor with_history(Tensor result, Ref<Node> node);

// The same for what shares its bytes with `of`.
inline Tensor as_view(Tensor result, const Tensor& of) {
  mark_view(result, of);
  return result;
}

}  // namespace distrun::autograd
