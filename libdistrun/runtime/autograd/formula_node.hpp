#pragma once
// A node that is created from a formula.
//
// A Formula is a struct with the values that it keeps, and
//   static constexpr const char* kName = "MulBackward0";     // or: const char* name() const
//   Gradients apply(const Node& node, Gradients gradients);  // one result per edge; undefined for those not needed
//   void release() noexcept;                                 // if it keeps tensors
// apply() is called with at least one defined gradient. Results may be broadcast, and of another dtype: see
// gradient_fit.hpp. In a pass with create_graph, recording is on, and its operations must be recorded
// (operators/formula_operators.hpp) or refused.
#include <algorithm>
#include <string>
#include <utility>

#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/node.hpp>

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
  bool is_quick() const noexcept override { return true; }
  void release_saved() noexcept override {
    if constexpr (requires { formula.release(); }) {
      const KeptLock lock(*this);
      formula.release();
    }
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

}  // namespace distrun::autograd
