// The graphs that a thread may run although it has other messages to read.
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/dist_autograd/quick_graph.hpp>

#include "autograd_ranks.hpp"

namespace distrun::dist_autograd {
namespace {

bool is_quick(const Tensor& root) { return is_quick_graph({autograd::gradient_edge(root).node}); }

struct Same {
  static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * 1; }
  static TensorList backward(autograd::FunctionContext&, TensorList gradients) { return gradients; }
};

TEST_CASE("a few operators on small tensors are quick") {
  const Tensor a = leaf(2), b = leaf(3);
  CHECK(is_quick(sum(a * b + a)));
  CHECK(is_quick(a));
}

TEST_CASE("many operators, many elements and user code are not quick") {
  const Tensor a = leaf(2);
  Tensor chain = a;
  for (int i = 0; i < 600; ++i) chain = chain + 1;
  CHECK_FALSE(is_quick(chain));
  CHECK_FALSE(is_quick(sum(set_requires_grad(ones({1000, 1000})))));
  CHECK_FALSE(is_quick(sum(autograd::apply<Same>(a))));
}

TEST_CASE("a hook makes everything that leads to it not quick") {
  const Tensor a = leaf(2), b = leaf(3);
  register_hook(a, [](const Tensor& gradient) { return gradient; });
  CHECK_FALSE(is_quick(sum(a * b)));
  CHECK(is_quick(sum(b * b)));
}

}  // namespace
}  // namespace distrun::dist_autograd
