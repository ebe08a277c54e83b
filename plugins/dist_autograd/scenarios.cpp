#include "scenarios.hpp"

namespace distrun::suites {

void verify_pass(ExecMode mode, ContextId context, const TensorList& roots, const TensorList& arguments,
                 dist_autograd::BackwardOptions options) {
  if (mode == ExecMode::Local) return backward(roots);
  dist_autograd::backward(context, roots, options);
  std::size_t expected = 0;
  for (const Tensor& each : arguments) {
    if (grad(each).defined()) {
      ++expected;
      expect_gradient(context, each, grad(each));
    } else {
      DISTRUN_EXPECT(!dist_autograd::get_gradients(context).contains(each));
    }
  }
  DISTRUN_EXPECT(expected > 0u);
  DISTRUN_EXPECT(dist_autograd::get_gradients(context).size() == expected);
}

void expect_gradient(ContextId context, const Tensor& leaf, const Tensor& expected) {
  const Tensor found = dist_autograd::get_gradients(context).find(leaf);
  DISTRUN_REQUIRE(found.defined());
  DISTRUN_EXPECT(what_differs(found, expected) == "");
}

Pair ones_and_zeros(bool requires_grad) {
  return {set_requires_grad(ones({3, 3}), requires_grad), set_requires_grad(zeros({3, 3}), requires_grad)};
}
Pair random_pair() { return {set_requires_grad(rand({3, 3})), set_requires_grad(rand({3, 3}))}; }
Pair sparse_pair(bool requires_grad) { return {sparse_leaf(requires_grad), sparse_leaf(requires_grad)}; }

}  // namespace distrun::suites
