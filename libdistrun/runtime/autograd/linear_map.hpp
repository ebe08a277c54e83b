#pragma once
// Formulas that are linear in the gradient, and how a pass with create_graph records them: the gradient of such a
// formula is its adjoint, and the adjoint's gradient is the formula again. Sums over broadcast dimensions, scatters,
// masks and casts are all linear, so none needs a separate second derivative.
#include <utility>

#include <distrun/runtime/autograd/record.hpp>

namespace distrun::autograd {

template <class Run, class Adjoint>
Tensor linear_map(const char* kind, const Tensor& x, Run run, Adjoint adjoint, const Tensor& kept = Tensor());

template <class Run, class Adjoint>
struct LinearMapBackward {
  const char* kind;
  Run run;
  Adjoint adjoint;
  SavedTensor kept;

  const char* name() const { return kind; }
  Gradients apply(const Node& node, Gradients gradients) {
    gradients[0] = linear_map(kind, gradients[0], adjoint, run, kept.unpack(node));
    return gradients;
  }
  void release() noexcept { kept.release(); }
};

// Returns run(x, kept), recorded if recording is on and x needs a gradient. `run` and `adjoint` use plain operators;
// each is the other's adjoint for all x. Both get `kept` (a mask, indices), which has no gradient; changing it before
// the backward pass is an error. Other captured values are not checked.
template <class Run, class Adjoint>
Tensor linear_map(const char* kind, const Tensor& x, Run run, Adjoint adjoint, const Tensor& kept) {
  Tensor result = run(x, kept);
  if (!needs_gradient(x)) return result;
  if (result.is_same(x)) return result;
  LinearMapBackward<Run, Adjoint> formula{kind, std::move(run), std::move(adjoint), SavedTensor(kept)};
  return with_history(std::move(result), record(std::move(formula), x));
}

}  // namespace distrun::autograd
